"""Descriptions: from what has changed in the catalogue to the graph."""

from __future__ import annotations

from datetime import timedelta
from time import perf_counter

from rehi.graph import describe
from rehi.pipeline.rooms import Progress, Rooms

GRAPH_BATCH = 200  # descriptions per graph transaction
DESCRIBE_SECONDS = 0.5  # a small graph transaction costs as much as a large one: 20 ms for the log's fsync and more
PUBLISH_SECONDS = 2.0  # queries see what was written within this time


class Descriptions:
    """The graph's share of the outbox."""

    def __init__(self, rooms: Rooms, progress: Progress) -> None:
        self._rooms, self._progress = rooms, progress
        self._look_at = self._published_at = rooms.clock()
        self._outbox_dry = self._unpublished = False

    @property
    def is_settled(self) -> bool:
        """Whether the graph says all that it has to, and queries see it."""
        return self._outbox_dry and not self._unpublished

    def stir(self) -> None:
        """There may be something to describe; it can wait for its turn."""
        self._outbox_dry = False

    def describe(self) -> bool:
        """Write what has changed, and publish it now and then."""
        now = self._rooms.clock()
        if now < self._look_at:
            return False
        work = self._rooms.catalogue.graph_work(limit=GRAPH_BATCH)
        if len(work.ids) < GRAPH_BATCH:
            self._look_at = now + timedelta(seconds=DESCRIBE_SECONDS)
        self._outbox_dry = not work
        if work:
            began = perf_counter()
            changes, statements = describe(work, self._rooms.settings.base)
            self._rooms.graph.write(changes)
            self._rooms.catalogue.graph_done(work, statements=statements, seconds=perf_counter() - began)
            self._progress.counts["statements"] += sum(statements.values())
            self._unpublished = True
        if self._unpublished and (not work or (now - self._published_at).total_seconds() > PUBLISH_SECONDS):
            self._rooms.graph.publish()
            self._unpublished, self._published_at = bool(work), now
        return False

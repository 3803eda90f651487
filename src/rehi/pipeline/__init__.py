"""The pipeline: the rooms connected, on one screen. Here alone it is decided on retry, skip and quarantine.

    discover ─▶ lease ─▶ visit ─▶ keep ─▶ read ─▶ describe
    sources     frontier  fetch   archive  extract, enrich, link   graph

Nothing is acknowledged before it is on disk: first the archive's records, then one catalogue transaction per batch,
then the graph from the outbox. Each step may be repeated, so a kill at any point costs only work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter

from rehi.graph import describe_vocabulary
from rehi.model.update import UpdateKind
from rehi.pipeline.descriptions import Descriptions
from rehi.pipeline.discovery import Discoveries, Discovery
from rehi.pipeline.links import Links
from rehi.pipeline.readings import Readings
from rehi.pipeline.reports import Presence, Rounds
from rehi.pipeline.rooms import Progress, Rooms, Step
from rehi.pipeline.sealing import Sealing
from rehi.pipeline.visits import Visits

_log = logging.getLogger(__name__)

__all__ = ["Discovery", "Harvest", "Progress", "Rooms"]


class Harvest:
    """One worker's wheel through all rooms."""

    def __init__(self, rooms: Rooms) -> None:
        self.progress = Progress()
        self._rooms = rooms
        self._writes_graph = rooms.settings.work.graph and not rooms.graph_owner
        self._rounds = Rounds(rooms, self.progress)
        self._discoveries = Discoveries(rooms, self.progress)
        self._visits = Visits(rooms, self.progress, find_update=self._rounds.find_update)
        self._readings = Readings(rooms, self.progress, wake=self._visits.wake)
        self._links = Links(rooms, self.progress)
        self._descriptions = Descriptions(rooms, self.progress)
        self._sealing = Sealing(rooms)
        self._presence = Presence(rooms)
        room_steps = (self._discoveries, self._visits, self._readings, self._links, self._descriptions)
        # Each with those that it may have brought work for, when it has changed the catalogue.
        self._steps: tuple[tuple[Callable[[], bool], tuple[Step, ...]], ...] = (
            (self._discoveries.discover, room_steps),
            (self._visits.lease, ()),
            (self._visits.visit, ()),
            (self._visits.keep, (self._discoveries, self._visits, self._readings, self._descriptions)),
            (self._readings.read, (self._readings, self._links, self._descriptions)),
            (self._links.follow, (self._visits, self._links, self._descriptions)),
            (self._sealing.seal, ()),
            *([(self._descriptions.describe, ())] if self._writes_graph else []),
            (self._presence.sign, ()),
        )

    def run(
        self,
        *,
        until_idle: bool,
        stopped: Callable[[], bool],
        on_turn: Callable[[Progress], None] = lambda _: None,
        kind: UpdateKind | None = None,
    ) -> None:
        """Turn the wheel until told to stop, or until nothing is left that is due now; ``kind`` names its update."""
        self._recover()
        self._rounds.begin(kind or (UpdateKind.HARVEST if until_idle else UpdateKind.DAY))
        finished = False
        try:
            while not stopped():
                for step, others in self._steps:
                    began = perf_counter()
                    if step():
                        for other in others:
                            other.stir()
                    self.progress.seconds[step.__name__] += perf_counter() - began
                on_turn(self.progress)
                idle = self.settled and self._visits.is_dry
                self._rounds.turn(idle=idle)
                if until_idle and idle:
                    finished = True
                    break
        finally:
            self._leave(finished=finished)

    def close(self) -> None:
        """Give back what was opened, whether the wheel was turned or not."""
        self._discoveries.leave()
        self._sealing.close()
        self._visits.close()

    @property
    def settled(self) -> bool:
        """Whether all that has come so far is discovered, kept, read, described and published."""
        described = self._descriptions.is_settled or not self._writes_graph
        rooms = (self._discoveries, self._visits, self._readings, self._links)
        return described and all(room.is_settled for room in rooms)

    def _recover(self) -> None:
        """Enter what the archive holds beyond the catalogue, and take back what this worker held when it was killed."""
        rooms = self._rooms
        self._forget_leases()
        ends = {file.name: file.known_end for file in rooms.catalogue.known_files()}
        self._visits.recover(ends)
        rooms.derived.forget_tail(lambda file: ends.get(file, 0))
        if not rooms.graph_owner:
            rooms.graph.write([describe_vocabulary(rooms.settings.base)])
            rooms.graph.publish()
        elif rooms.settings.work.graph:
            _log.warning(
                "the graph is embedded in the worker %s: what it must be told is left to it", rooms.graph_owner
            )

    def _leave(self, *, finished: bool) -> None:
        self._discoveries.leave()
        self._visits.leave()
        self._rounds.end(finished=finished)
        self._forget_leases()
        self._sealing.leave()
        self._rooms.graph.publish()
        self._presence.leave()

    def _forget_leases(self) -> None:
        rooms = self._rooms
        rooms.catalogue.forget_leases(worker=rooms.worker, rest=rooms.settings.fetch.delay, now=rooms.clock())

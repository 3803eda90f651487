"""Descriptions: from what has changed in the catalogue to the graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from time import perf_counter

from rehi.builtin import load, table
from rehi.model.work import Claim
from rehi.pipeline.rooms import LEASE_SECONDS, Progress, Rooms
from rehi.ports import GraphChange

RESOURCE = "resource"  # the topic whose statements are counted for sources
GRAPH_BATCH = 200  # descriptions per graph transaction
DESCRIBE_SECONDS = 0.5  # a small graph transaction costs as much as a large one: 20 ms for the log's fsync and more
PUBLISH_SECONDS = 2.0  # queries see what was written within this time


class Descriptions:
    """The graph's share of the outbox."""

    def __init__(self, rooms: Rooms, progress: Progress) -> None:
        self._rooms, self._progress = rooms, progress
        self._look_at = self._published_at = rooms.clock()
        self._outbox_dry = self._unpublished = False
        self._topics = tuple(table("topic"))

    @property
    def is_settled(self) -> bool:
        """Whether the graph says all that it has to, and queries see it."""
        return self._outbox_dry and not self._unpublished

    def stir(self) -> None:
        """There may be something to describe; it can wait for its turn."""
        self._outbox_dry = False

    def describe(self) -> bool:
        """Write what has changed, and publish it now and then."""
        now, catalogue = self._rooms.clock(), self._rooms.catalogue
        if now < self._look_at:
            return False
        claims = catalogue.claim(self._topics, worker=self._rooms.worker, limit=GRAPH_BATCH, ttl=LEASE_SECONDS, now=now)
        if len(claims) < GRAPH_BATCH:
            self._look_at = now + timedelta(seconds=DESCRIBE_SECONDS)
        self._outbox_dry = not claims
        if claims:
            self._write(claims)
            self._unpublished = True
        if self._unpublished and (not claims or (now - self._published_at).total_seconds() > PUBLISH_SECONDS):
            self._rooms.graph.publish()
            self._unpublished, self._published_at = bool(claims), now
        return False

    def _write(self, claims: Sequence[Claim]) -> None:
        """Tell the graph of all that was claimed, as it is now.

        Where several workers write, a claim that took longer than it lasts may be somebody else's by now, who knows more:
        it is left to them, so that the newest description is the last one written.
        """
        catalogue, worker = self._rooms.catalogue, self._rooms.worker
        began = perf_counter()
        described = self._describe(claims)
        if self._rooms.graph.shared:
            claims = catalogue.renew_claims(claims, worker=worker, ttl=LEASE_SECONDS, now=self._rooms.clock())
        mine = {(claim.kind, claim.subject) for claim in claims}
        self._rooms.graph.write([change for about, changes in described.items() if about in mine for change in changes])
        statements = {
            subject: sum(len(change.triples) for change in described[kind, subject])
            for kind, subject in mine
            if kind == RESOURCE
        }
        catalogue.record_descriptions(claims, statements=statements, seconds=perf_counter() - began)
        self._progress.counts["statements"] += sum(statements.values())

    def _describe(self, claims: Sequence[Claim]) -> dict[tuple[str, int], Sequence[GraphChange]]:
        """Return the changes that bring the graph up to date, by kind and subject."""
        described: dict[tuple[str, int], Sequence[GraphChange]] = {}
        for kind in self._topics:
            subjects = [claim.subject for claim in claims if claim.kind == kind]
            if subjects:
                changes = load("topic", kind)(self._rooms.catalogue, subjects, self._rooms.settings.base)
                described.update({(kind, subject): changes.get(subject, ()) for subject in subjects})
        return described

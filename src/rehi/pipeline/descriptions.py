"""Descriptions: from what has changed in the catalogue to the graph."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from time import perf_counter

from rehi.builtin import load_all
from rehi.errors import FacetFailed, RehiError, TopicFailed
from rehi.graph import ALL, GraphTopic, load_topics, put_all
from rehi.model.problem import Problem, ProblemKey, Stage
from rehi.model.work import Claim
from rehi.pipeline.graph_writer import GraphWriter
from rehi.pipeline.rooms import LEASE_SECONDS, Progress, Rooms, Step
from rehi.ports import GraphChange, GraphContext

RESOURCE = "resource"  # the topic whose statements are counted for sources
GRAPH_BATCH = 200  # descriptions per graph transaction
DESCRIBE_SECONDS = 0.5  # a small graph transaction costs as much as a large one: 20 ms for the log's fsync and more
PUBLISH_SECONDS = 2.0  # queries see what was written within this time


_log = logging.getLogger(__name__)


class Descriptions(Step):
    """The graph's share of the outbox: work of every topic that is installed. That of others waits for who knows them."""

    def __init__(self, rooms: Rooms, progress: Progress, graph: GraphWriter) -> None:
        super().__init__(rooms, progress)
        self._write_at = self._published_at = rooms.clock()  # what is stirred waits for its turn here
        self._graph = graph
        self._unpublished = False
        self._topics: Mapping[str, GraphTopic] = load_topics()
        self._context = GraphContext(catalogue=rooms.catalogue, base=rooms.settings.base, note=self._note)
        self._claims: Sequence[Claim] = ()  # what is not written yet: the graph may be away
        self._noted: set[str] = set()  # topics and facets that have just failed
        self._well: set[str] = set()  # those that were taken off the problems list

    @property
    def is_settled(self) -> bool:
        """Whether the graph says all that it has to, and queries see it."""
        return self._dry and not self._unpublished

    @property
    def claim_ids(self) -> set[int]:
        """The rows of the outbox that are in hand."""
        return {row for claim in self._claims for row in claim.ids}

    def describe(self) -> bool:
        """Write what has changed, and publish it now and then."""
        now = self._rooms.clock()
        if now < self._write_at or self._graph.is_taken:
            return False
        claims = self._claims or self._claim(now)
        self._claims = claims
        if len(claims) < GRAPH_BATCH:
            self._write_at = now + timedelta(seconds=DESCRIBE_SECONDS)
        self._dry = not claims
        if claims:
            if not self._write(claims):
                self._yield(now)
                return False
            self._claims, self._unpublished = (), True
        late = self._unpublished and (now - self._published_at).total_seconds() > PUBLISH_SECONDS
        if late or not claims:
            self._graph.settle(unpublished=self._unpublished)
            self._unpublished, self._published_at = bool(claims), now
        return False

    def _claim(self, now: datetime) -> Sequence[Claim]:
        if not self._graph.look():
            return ()
        return self._rooms.catalogue.claim(
            list(self._topics), worker=self._rooms.worker, limit=GRAPH_BATCH, ttl=LEASE_SECONDS, now=now
        )

    def _yield(self, now: datetime) -> None:
        """Give back what was claimed if the graph is another worker's by now; if it is everybody's, tell the one that is there."""
        self._graph.yield_graph()
        if self._graph.is_taken:
            self._rooms.catalogue.renew_claims(self._claims, worker=self._rooms.worker, ttl=0.0, now=now)
            self._claims = ()

    def _write(self, claims: Sequence[Claim]) -> bool:
        """Tell the graph of all that was claimed, as it is now; whether the catalogue takes it for its graph still.

        Where several workers write, a claim that took longer than it lasts may be somebody else's by now, who knows more:
        it is left to them, so that the newest description is the last one written.
        """
        catalogue, worker = self._rooms.catalogue, self._rooms.worker
        began = perf_counter()
        described = self._describe(claims)
        self._strike_out({kind for kind, _ in described})
        claims = [claim for claim in claims if (claim.kind, claim.subject) in described]
        if self._rooms.graph.shared:
            claims = catalogue.renew_claims(claims, worker=worker, ttl=LEASE_SECONDS, now=self._rooms.clock())
        mine = {(claim.kind, claim.subject) for claim in claims}
        mark = self._graph.write(
            [change for about, changes in described.items() if about in mine for change in changes]
        )
        self._put_followers(claims)
        statements = {
            subject: sum(len(change.triples) for change in described[kind, subject])
            for kind, subject in mine
            if kind == RESOURCE
        }
        recorded = catalogue.record_descriptions(
            claims, statements=statements, seconds=perf_counter() - began, mark=mark, owner=self._graph.owner
        )
        self._progress.counts["statements"] += sum(statements.values()) if recorded else 0
        return recorded

    def _describe(self, claims: Sequence[Claim]) -> dict[tuple[str, int], Sequence[GraphChange]]:
        """Return the changes that bring the graph up to date, by kind and subject.

        Those of a topic that fails are not in it: they stay in the outbox and are tried again when the claim ends.
        """
        described: dict[tuple[str, int], Sequence[GraphChange]] = {}
        for kind, topic in self._topics.items():
            subjects = [claim.subject for claim in claims if claim.kind == kind]
            if not subjects:
                continue
            try:
                changes = topic.describe([one for one in subjects if one != ALL], self._context)
            except TopicFailed as error:
                _log.warning("the topic %s failed", kind, exc_info=True)
                self._note(f"topic {kind}", error)
                continue
            if ALL in subjects:
                put_all(self._rooms.catalogue.put, self._context, [topic])
            described.update({(kind, subject): changes.get(subject, ()) for subject in subjects})
        return described

    def _put_followers(self, claims: Sequence[Claim]) -> None:
        """Put into the outbox what concerns topics that follow others; each is claimed by itself."""
        for kind, topic in self._topics.items():
            leader = topic.leader.name if topic.leader else ""
            changed = [claim.subject for claim in claims if claim.kind == leader and claim.subject != ALL]
            if not changed:
                continue
            try:
                concerned = topic.concerned(changed, self._context)
            except TopicFailed as error:
                self._note(f"topic {kind}", error)
                concerned = (ALL,)  # nothing stays untold
            self._rooms.catalogue.put(kind, concerned)

    def _note(self, subject: str, error: RehiError) -> None:
        """Put an error on the problems list."""
        self._noted.add(subject)
        at = self._rooms.clock()
        self._rooms.catalogue.note([Problem.of(error, stage=Stage.GRAPH, subject=subject, at=at)])

    def _strike_out(self, kinds: Collection[str]) -> None:
        """Take topics and facets that do well off the problems list: once for each, unless it fails again."""
        subjects = {f"topic {kind}" for kind in kinds}
        if RESOURCE in kinds:
            subjects |= {f"facet {name}" for name in load_all("facet")}
        self._well -= self._noted
        new = subjects - self._noted - self._well
        if new:
            codes = (TopicFailed.code, FacetFailed.code)
            solved = [ProblemKey(Stage.GRAPH, subject, code) for subject in sorted(new) for code in codes]
            self._rooms.catalogue.note([], solved=solved)
        self._well |= new
        self._noted.clear()

"""Knowledge: what was read, what was understood of it, and who or what is named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.entity import Candidate, Entity, EntityKey, Form
from rehi.model.generation import GraphMark
from rehi.model.work import (
    Claim,
    NewReading,
    ReadingFacts,
    ReadingKey,
    ReadResult,
    ReadTask,
    ReadVersion,
    ResourceDescription,
    ShownReading,
)


class ReadRules(Protocol):
    """What readings make of documents and entities. Pure: an engine loads, asks and stores, within one transaction."""

    def choose_shown(self, read: Sequence[ReadVersion], before: datetime | None, /) -> ReadVersion | None:
        """Return which of the versions of a resource that were just read its document shows now; None for none of them.

        ``before`` is when the version was there that was shown until now, or could not be read.
        """

    def choose_name(self, names: Iterable[Form], /) -> Form:
        """Return the name under which an entity is known, of those that documents use."""


class Knowledge(Protocol):
    """Readings by bytes and recipe, and the entities that they mention."""

    def read_tasks(self, claims: Sequence[Claim]) -> Sequence[ReadTask]:
        """Return what is to be read for claims of the kind "read", whose subjects are versions."""

    def find_readings(self, keys: Iterable[ReadingKey]) -> Mapping[ReadingKey, int]:
        """Return the ids of readings that were made already."""

    def find_candidates(self, keys: Iterable[EntityKey]) -> Mapping[EntityKey, Sequence[Candidate]]:
        """Return all entities of these keys' kinds and names, the first first; for one that was merged into another, that other."""

    def record_reads(
        self,
        results: Sequence[ReadResult],
        *,
        rules: ReadRules,
        worker: str,
        now: datetime,
    ) -> None:
        """Record in one transaction what came of read tasks: readings, documents, mentions, problems, and work for the graph.

        The rules say what a document shows from now on. Results whose tasks are done already change nothing.
        """

    def relink(
        self, entity_id: int, to: EntityKey, *, readings: Collection[int] | None = None, rules: ReadRules
    ) -> int:
        """Let readings mention the entity of a key, which is made if need be, in place of another; return its id.

        Some readings: they are about somebody else of that name, even if that one had been merged. All, if none are given:
        the two are one from now on, and the key of the other one leads here.
        """

    def shown_reading(self, resource_id: int) -> ShownReading:
        """Return the reading that a resource's document shows, and what it was made from; NotFound before it was read."""

    def readings(self, *, ids: Iterable[int] | None = None, sample: int | None = None) -> Iterator[ReadingFacts]:
        """Return the readings whose records must be there when this is called, shown or not: all, these, or some by lot.

        They are read as asked for.
        """

    def lose_readings(self, ids: Iterable[int]) -> int:
        """Note that the records of readings are lost, have their versions read again, and return how many these are."""

    def enter_reading(self, new: NewReading, *, worker: str, now: datetime) -> int:
        """Keep a reading that no document shows, as of an old version, and return its id; nothing changes if it is known."""

    def resource_ids(self, *, after: int, limit: int) -> Sequence[int]:
        """Return the ids of resources that have versions, in their order, after one of them."""

    def entity_ids(self, *, after: int, limit: int) -> Sequence[int]:
        """Return the ids of entities, in their order, after one of them."""

    def describe_resources(self, ids: Iterable[int]) -> Sequence[ResourceDescription]:
        """Return all that the graph says of resources."""

    def describe_entities(self, ids: Iterable[int]) -> Sequence[Entity]:
        """Return entities as all documents together describe them; those that none mentions have no documents."""

    def record_descriptions(
        self,
        claims: Sequence[Claim],
        *,
        statements: Mapping[int, int],
        seconds: float = 0.0,
        mark: GraphMark | None = None,
        owner: str = "",
    ) -> bool:
        """Record in one transaction that the graph has been told what was claimed, and the mark that it bears since.

        With its statements by resource id and the time that it took. Nothing is recorded if another generation is written
        by now, or if an owner is given and the graph is another's. Return whether it was.
        """

"""Knowledge: what was read, what was understood of it, and who or what is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.entity import Candidate, Entity, EntityKey, Form
from rehi.model.work import Claim, ReadingKey, ReadResult, ReadTask, ResourceDescription, ShownReading


class Knowledge(Protocol):
    """Readings by bytes and recipe, and the entities that they mention."""

    def read_tasks(self, claims: Sequence[Claim]) -> Sequence[ReadTask]:
        """Return what is to be read for claims of the kind "read", whose subjects are versions."""

    def find_readings(self, keys: Iterable[ReadingKey]) -> Mapping[ReadingKey, int]:
        """Return the ids of readings that were made already."""

    def find_candidates(self, keys: Iterable[EntityKey]) -> Mapping[EntityKey, Sequence[Candidate]]:
        """Return the entities known under these keys; for one that was merged into another, that other."""

    def record_reads(
        self,
        results: Sequence[ReadResult],
        *,
        choose_name: Callable[[Iterable[Form]], Form],
        worker: str,
        now: datetime,
    ) -> None:
        """One transaction: readings, documents, mentions, problems, what the graph must be told, and tasks that are done.

        A document shows the reading of its newest version that was read. Results whose tasks are done already change nothing.
        """

    def shown_reading(self, resource_id: int) -> ShownReading:
        """Return the reading that a resource's document shows, and what it was made from; NotFound before it was read."""

    def describe_resources(self, ids: Iterable[int]) -> Sequence[ResourceDescription]:
        """Return all that the graph says of resources."""

    def describe_entities(self, ids: Iterable[int]) -> Sequence[Entity]:
        """Return entities as all documents together describe them; those that none mentions have no documents."""

    def record_descriptions(
        self, claims: Sequence[Claim], *, statements: Mapping[int, int], seconds: float = 0.0
    ) -> None:
        """One transaction: the graph knows what was claimed; statements are counted by resource id, and the time for them."""

"""Retention: which versions may go, and which bodies were pruned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.retention import PrunedBody, SharedBody, VersionHistory
from rehi.model.version import Digest, RecordRef


class Retention(Protocol):
    """What is needed to decide which bodies may be pruned, and the mark on those that were."""

    def histories(
        self,
        *,
        sources: Collection[int] = (),
        longer_than: int = 0,
        resources: Collection[int] = (),
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[VersionHistory]:
        """Return the histories of the given resources, and of those of the given sources, in the order of their ids.

        Only those with more versions than ``longer_than``, and with ids after ``after``.
        """

    def sharing(self, blob_ids: Iterable[int], *, sources: Iterable[int]) -> Sequence[SharedBody]:
        """Return how many versions have these bytes, and the first resource of these sources; nothing for pruned ones."""

    def sharers(self, blob_ids: Iterable[int], *, after: int = 0, limit: int) -> Sequence[tuple[int, int]]:
        """Return bodies with the resources of which a version has them, in the order of the resources' ids."""

    def describe_bodies(self, rules: Mapping[int, str]) -> Sequence[PrunedBody]:
        """Return what is to be remembered of bodies, by id, that each go by a rule, in the order of their ids."""

    def mark_pruned(
        self, bodies: Sequence[PrunedBody], *, at: datetime, record: RecordRef, worker: str
    ) -> Mapping[Digest, int]:
        """Mark bodies as pruned, as the tombstone ``record`` says; return the sizes of those that were kept until now.

        Those that a version has got since then stay. The record is known from now on.
        """

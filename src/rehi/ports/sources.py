"""Sources: where resources come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.problem import Problem
from rehi.model.source import Source, SourceKind, SourceState


class Sources(Protocol):
    """Where resources come from."""

    def add_source(self, *, kind: SourceKind, name: str, location: str, size: int, now: datetime) -> Source:
        """Enter a source; the same location gives the same source again."""

    def take_in(
        self,
        source: Source,
        urls: Sequence[str],
        *,
        position: int,
        counts: Mapping[str, float],
        problems: Sequence[Problem] = (),
        now: datetime,
    ) -> int:
        """Store a batch of found URLs, due now, with the new position and the counts to add; the rows that are new."""

    def mark_source(self, source_id: int, state: SourceState, *, position: int | None = None) -> None:
        """Say how far a source has come."""

    def set_policy(self, source_id: int, *, policy: str, weight: float) -> None:
        """Say when the source's resources are to be visited again, and how much they matter."""

    def source(self, source_id: int) -> Source:
        """One source; NotFound if there is none."""

    def sources(self) -> Sequence[Source]:
        """All sources, the newest first."""

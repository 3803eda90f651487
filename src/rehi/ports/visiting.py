"""What is to be visited: sources, hosts and updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.host import HostFacts, HostOrders, HostRow
from rehi.model.listing import Page
from rehi.model.problem import Problem
from rehi.model.source import Source, SourceKind, SourceState
from rehi.model.update import Update, UpdateKind, UpdateState


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


class Hosts(Protocol):
    """How hosts fare, and what is ordered for them."""

    def hosts(self, name: str, page: Page) -> tuple[Sequence[HostRow], int]:
        """Hosts with this in their names, those in trouble first, and how many there are in all."""

    def host(self, name: str, *, now: datetime) -> Sequence[HostFacts]:
        """All that is known of the origins of a host (http and https, other ports); NotFound if there is none."""

    def order(self, host_id: int, orders: HostOrders, *, now: datetime) -> None:
        """Order something for a host; a lease on one that is to be left alone ends now."""


class Updates(Protocol):
    """Rounds of visits."""

    def make_due(self, *, source_id: int | None = None, host: str = "", url: str = "", now: datetime) -> int:
        """Let all that matches be due now, whatever its schedule; how many that are."""

    def begin_update(self, kind: UpdateKind, *, worker: str, due: int, now: datetime) -> Update:
        """Open a row; those that this worker left open are closed as stopped."""

    def open_update(self) -> Update | None:
        """The newest update that runs and is not one worker's own harvest: visits count for it now."""

    def add_to_update(self, update_id: int, *, worker: str, seconds: Mapping[str, float]) -> None:
        """Count time spent by stage."""

    def end_update(self, update_id: int, state: UpdateState, *, now: datetime) -> None:
        """Close a row."""

    def updates(self, page: Page) -> tuple[Sequence[Update], int]:
        """Updates, the newest first, and how many there are in all."""

"""What is to be visited: the frontier, hosts and updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.host import HostFacts, HostOrders, HostRow
from rehi.model.listing import Page
from rehi.model.update import Load, Update, UpdateKind, UpdateState
from rehi.model.visit import HostLease, Visited
from rehi.model.work import HostProfile, HostRelease


class Frontier(Protocol):
    """What is due, when, and for whom. Hosts are leased, not URLs."""

    def lease(self, *, worker: str, hosts: int, urls: int, ttl: float, now: datetime) -> Sequence[HostLease]:
        """Up to ``hosts`` hosts that are ready, each with up to ``urls`` due tasks; nobody else gets them until ``ttl``."""

    def renew(self, leases: Sequence[HostLease], *, ttl: float, now: datetime) -> Sequence[int]:
        """Keep leases for longer; the ids of the hosts that are somebody else's by now."""

    def record(
        self,
        visited: Sequence[Visited],
        released: Sequence[HostRelease],
        *,
        profiles: Sequence[HostProfile] = (),
        worker: str,
        update_id: int | None = None,
        now: datetime,
    ) -> None:
        """One transaction: visits, versions, blobs, redirects, schedules, problems, read tasks, and leases given back.

        What was learned of hosts is remembered, and the visits count for the update, if one is given.
        """

    def forget_leases(self, *, worker: str, rest: float, now: datetime) -> None:
        """Give back all that a worker held, as when it starts again after it was killed.

        Each host rests for its own delay, and for ``rest`` seconds at least, since it may just have been visited.
        """

    def next_ready(self) -> datetime | None:
        """When the first unleased host is ready; None if nothing is ever due."""

    def orders(self, *, since: datetime) -> Mapping[int, HostOrders]:
        """What was ordered after ``since``, by host id."""

    def load(self, *, now: datetime) -> Load:
        """The visits of this day (UTC), and those that are due until the same hour tomorrow."""


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

"""The frontier: what is due, when, and for whom; and the rules by which visits are recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from rehi.model.host import ClockCorrection, HostOrders
from rehi.model.resource import (
    Depths,
    LoopMarks,
    LoopMember,
    RedirectChange,
    Redirects,
    ResourceChange,
    ResourcePast,
    ResourceState,
)
from rehi.model.update import Load
from rehi.model.visit import HostLease, Outcome, Visited
from rehi.model.work import HostProfile, HostRelease


class VisitRules(Protocol):
    """What visits make of resources. Pure: an engine loads, asks and stores, within one transaction."""

    @property
    def confirming(self) -> Outcome:
        """The outcome of visits that found the version before them still valid."""

    def apply_visits(
        self, state: ResourceState, visits: Sequence[Visited], past: ResourcePast, /, *, now: datetime
    ) -> ResourceChange:
        """Return what visits to a resource make of it. The past is given if one lies before its newest visit."""

    def follow_redirects(self, before: Redirects, seen: Redirects, /) -> RedirectChange:
        """Return what redirects that visits have seen change, given the chains that begin at them and at their targets."""

    def inherit_sources(self, redirects: Redirects, depths: Depths, /) -> Depths:
        """Return whose the targets of redirects are, given whose the resources are that redirect there."""

    def mark_loops(self, looped: Iterable[LoopMember], freed: Iterable[LoopMember], /, *, now: datetime) -> LoopMarks:
        """Return what resources become that are on a circle of redirects, and those that are on one no longer."""


class LeaseRules(Protocol):
    """How long hosts rest whose lease was lost, and what a clock that was set means. Pure, as the rules for visits are."""

    def ready_after_loss(self, delay: float, now: datetime, /) -> datetime:
        """Return until when a host rests that was held, given the delay with which it was last given back."""

    def correct_clock(self, last: datetime | None, now: datetime, /) -> ClockCorrection:
        """Return how far ahead rests and leases may lie, given when a worker was last seen."""


class Frontier(Protocol):
    """What is due, when, and for whom. Hosts are leased, not URLs."""

    def lease(self, *, worker: str, hosts: int, urls: int, ttl: float, now: datetime) -> Sequence[HostLease]:
        """Return up to ``hosts`` hosts that are ready, each with up to ``urls`` due tasks; nobody else gets them until ``ttl``."""

    def renew(self, leases: Sequence[HostLease], *, ttl: float, now: datetime) -> Sequence[int]:
        """Keep leases for longer, and return the ids of the hosts that are somebody else's by now."""

    def record(
        self,
        visited: Sequence[Visited],
        released: Sequence[HostRelease],
        *,
        rules: VisitRules,
        profiles: Sequence[HostProfile] = (),
        worker: str,
        update_id: int | None = None,
        now: datetime,
    ) -> None:
        """Record in one transaction what the rules make of visits, and take leases back.

        Visits that are on record already are left out. What was learned of hosts is remembered, and the visits count
        for the update, if one is given.
        """

    def forget_leases(
        self,
        *,
        worker: str,
        rules: LeaseRules,
        now: datetime,
        tokens: Collection[str] = (),
        claims: Collection[int] = (),
        keep_hosts: bool = False,
    ) -> None:
        """Give back all that a worker held, as when it starts again after it was killed; its work alone if it keeps its hosts.

        A transaction that the killed process has sent off may still be at work. This waits for it: what is asked after this call is
        all that the process has brought.

        What it knows of it keeps: leases with these ``tokens``, and these rows of the outbox as its ``claims``. Each host
        rests as the rules say, since it may just have been visited.
        """

    def settle_clock(self, *, worker: str, rules: LeaseRules, now: datetime) -> timedelta:
        """Return how far the clock has gone back since a worker was last seen, and let nothing wait for the old time.

        No host rests for longer than the rules allow, and no lease and no claim holds for longer.
        """

    def forgive(self, *, by: timedelta) -> None:
        """Let pages and hosts that fail have failed for so much less: the clock has jumped ahead."""

    def next_ready(self) -> datetime | None:
        """Return when the first unleased host is ready; None if nothing is ever due."""

    def orders(self, *, since: datetime) -> Mapping[int, HostOrders]:
        """Return what was ordered for hosts after ``since``, by host id."""

    def load(self, *, now: datetime) -> Load:
        """Return how many visits this day (UTC) has had, and how many are due until the same hour tomorrow."""

    def make_due(self, *, source_id: int | None = None, host: str = "", url: str = "", now: datetime) -> int:
        """Let all that matches be due now, whatever its schedule, and return how many that are."""

    def order(self, host_id: int, orders: HostOrders, *, rules: LeaseRules, now: datetime) -> None:
        """Order something for a host; a lease on one that is to be left alone ends now, and it rests as the rules say."""

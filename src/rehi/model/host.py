"""A host: what it asks of us, what the operator has ordered, and how it fares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOrders:
    """What an operator has ordered for one host; it holds against the settings, and at once."""

    delay: float | None = None  # seconds between two requests
    connections: int | None = None  # requests at the same time
    hours: str = ""  # when it may be visited, as in "20:00-06:00"
    left_alone: bool = False
    why: str = ""  # in the operator's words
    changed_at: datetime | None = None


NO_ORDERS = HostOrders()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What a host answers when it is asked for something that can't exist."""

    status: int
    fingerprint: bytes  # of the page, empty unless it pretended to have one
    at: datetime


class HostState(StrEnum):
    """What a host is doing."""

    VISITED = "visited"  # some worker holds it now
    READY = "ready"
    WAITING = "waiting"  # for the reason that is given
    IDLE = "idle"  # nothing is due
    LEFT_ALONE = "left-alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTimes:
    """When a host may be visited, and what keeps it waiting."""

    left_alone: bool
    leased_until: datetime | None  # by some worker
    ready_at: datetime | None  # None when nothing is ever due
    not_before: datetime  # by its pace, whatever is due
    why: str  # it must wait until then
    pace_group: str = ""
    group_until: datetime | None = None  # before that another host of its group has its turn

    def state_at(self, now: datetime) -> tuple[HostState, datetime | None, str]:
        """Return what the host is doing, when it is ready, and why not before."""
        if self.left_alone:
            return HostState.LEFT_ALONE, None, ""
        if self.leased_until is not None and self.leased_until > now:
            return HostState.VISITED, self.ready_at, ""
        if self.ready_at is None:
            return HostState.IDLE, None, ""
        if self.ready_at > now:
            waits = self.ready_at <= self.not_before  # else nothing is due before
            return HostState.WAITING if waits else HostState.IDLE, self.ready_at, self.why if waits else ""
        if self.group_until is not None and self.group_until > now:
            shared = f"it shares its pace with other hosts ({self.pace_group})"
            return HostState.WAITING, self.group_until, shared
        return HostState.READY, self.ready_at, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """A host as a list shows it."""

    host_id: int
    origin: str
    state: HostState
    why: str  # it waits
    ready_at: datetime | None  # None when nothing is ever due
    resources: int
    delay: float  # seconds between two requests, when last visited
    strain: float
    failures: int
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitRow:
    """A visit as a list shows it."""

    url: str
    at: datetime
    outcome: str
    status: int
    seconds: float
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """All that is known of one host."""

    row: HostRow
    orders: HostOrders
    due: int  # resources that are due now
    robots_status: int | None  # None before it was asked
    robots_text: str
    robots_at: datetime | None
    robots_failing_since: datetime | None  # it can't be had
    worker: str  # who holds it
    neighbours: tuple[str, ...]  # other origins at the same address
    visits: tuple[VisitRow, ...]  # the newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockCorrection:
    """What becomes of that which lies too far ahead, because the clock has gone back or a limit is shorter now."""

    ahead: timedelta  # how far the clock has gone back: all that was planned by the old time is early by as much
    rests_end: datetime  # no host rests longer
    leases_end: datetime  # no lease and no claim holds longer
    moves_plans: bool  # whether what was planned to be due after the old time is moved, too

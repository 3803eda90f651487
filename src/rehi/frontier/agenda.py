"""The agenda: the hosts that this worker has leased, and which of them may be visited next."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count

from rehi.frontier.politeness import Pace, Politeness
from rehi.model.visit import HostLease, VisitTask
from rehi.model.work import HostRelease

_SHARED_PAUSE = 0.1  # seconds, at least, until a host is tried again whose address another one is using


class Purpose(StrEnum):
    """What a request is for."""

    ROBOTS = "robots"
    PROBE = "probe"  # a page that can't exist
    FRONT = "front"  # the front page, to see whether it is shown for what can't exist too
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request to make to a leased host; ``task`` is the resource that is due, if it is for a page."""

    lease: HostLease
    purpose: Purpose
    task: VisitTask | None = None


@dataclass(slots=True)
class _HeldHost:
    """A leased host, and the requests that are still to be made to it."""

    lease: HostLease
    politeness: Politeness
    pace: Pace
    until: datetime  # the lease ends
    closes_at: datetime | None
    before_pages: deque[Purpose]  # requests that come before any page
    tasks: deque[VisitTask]
    under_way: int = 0
    queued: int = 0
    rested_at: datetime | None = None
    address: str = ""
    pace_group: str = ""


@dataclass(slots=True)
class Agenda:
    """The leased hosts of a worker. Each gets one request at a time, or as many as allowed, and rests after each answer."""

    hosts: dict[int, _HeldHost] = field(default_factory=dict)
    _queue: list[tuple[datetime, int, _HeldHost]] = field(default_factory=list)  # (not before, tie-breaker, host)
    _ties: Iterator[int] = field(default_factory=count)
    released: list[HostRelease] = field(default_factory=list)  # leases to be given back; whoever has done so clears it

    @property
    def leases(self) -> list[HostLease]:
        """The leases of all hosts on the agenda."""
        return [host.lease for host in self.hosts.values()]

    @property
    def tasks(self) -> int:
        """How many pages are still to be visited under these leases."""
        return sum(len(host.tasks) for host in self.hosts.values())

    def add(self, lease: HostLease, politeness: Politeness, *, first: Sequence[Purpose], now: datetime) -> None:
        """Add a leased host; the requests for ``first`` are made to it before any page."""
        host = _HeldHost(
            lease, politeness, politeness.pace, lease.until, politeness.hours.closes_at(now) if politeness.hours else None,
            deque(first), deque(lease.tasks), address=lease.address,
        )  # fmt: skip
        self.hosts[lease.host_id] = host
        if politeness.left_alone:
            self._release(host, ready_at=now + timedelta(days=1), why=f"left alone {politeness.left_alone}")
        elif politeness.hours is not None and host.closes_at is None:
            self._close(host, now)
        else:
            self._enqueue(host, now)

    def ready(self, now: datetime, *, limit: int) -> list[PlannedRequest]:
        """Return the requests that may be made now; each counts as under way until ``done`` is called."""
        requests: list[PlannedRequest] = []
        while self._queue and self._queue[0][0] <= now and len(requests) < limit:
            host = heapq.heappop(self._queue)[2]
            host.queued -= 1
            if self.hosts.get(host.lease.host_id) is not host:
                continue  # given back in the meantime
            if now >= host.until:  # somebody else may hold it by now
                del self.hosts[host.lease.host_id]
            elif host.closes_at is not None and now >= host.closes_at:
                if not host.under_way:
                    self._close(host, now)
            elif host.before_pages:
                host.under_way += 1
                requests.append(PlannedRequest(host.lease, host.before_pages.popleft()))
            elif host.tasks:
                host.under_way += 1
                requests.append(PlannedRequest(host.lease, Purpose.PAGE, host.tasks.popleft()))
        return requests

    def done(self, request: PlannedRequest, *, now: datetime, seconds: float | None) -> None:
        """Note that a request has ended after ``seconds``; the host rests now, unless nothing was sent (None)."""
        host = self._held(request.lease)
        if host is None:
            return
        host.under_way -= 1
        rested = now if seconds is None else now + timedelta(seconds=host.pace.pause_after(seconds))
        host.rested_at = rested if host.rested_at is None else max(host.rested_at, rested)
        if host.before_pages or host.tasks:
            self._enqueue(host, rested)
        elif not host.under_way:
            self._release(host, ready_at=host.rested_at)

    def ask_first(self, lease: HostLease, purpose: Purpose) -> None:
        """Add a request that comes before any page; to be called while another one to the host is under way."""
        if (host := self._held(lease)) is not None:
            host.before_pages.append(purpose)

    def change_pace(self, lease: HostLease, change: Callable[[Pace], Pace]) -> Pace | None:
        """Visit a host at another pace from now on, and return that; None if it is not on the agenda."""
        host = self._held(lease)
        if host is None:
            return None
        host.pace = change(host.pace)
        return host.pace

    def change_politeness(self, host_id: int, politeness: Politeness, *, now: datetime) -> None:
        """Treat a host by other rules from now on, as when an operator has given an order."""
        host = self.hosts.get(host_id)
        if host is None:
            return
        if politeness.left_alone:
            del self.hosts[host_id]  # the lease ended with the order
            return
        host.politeness = politeness
        host.pace = replace(politeness.pace, asked=host.pace.asked, strain=host.pace.strain)
        host.closes_at = politeness.hours.closes_at(now) or now if politeness.hours else None

    def note_address(self, lease: HostLease, address: str, *, shared: bool, now: datetime) -> bool:
        """Note the address of a host. With ``shared``, hosts of one address share their pace.

        Return False if the host is given back because another one of that address is on the agenda.
        """
        host = self._held(lease)
        if host is None or not address:
            return True
        host.address = address
        host.pace_group = address if shared else ""
        if shared and any(other.pace_group == address for other in self.hosts.values() if other is not host):
            pause = timedelta(seconds=max(host.pace.usual, _SHARED_PAUSE))
            self._release(host, ready_at=now + pause, why=f"another host at {address} is being visited")
            return False
        return True

    def put_off(self, lease: HostLease, *, until: datetime, why: str, failed: bool = True) -> None:
        """Give a host back that is in trouble, and leave it alone until then."""
        if (host := self._held(lease)) is not None:
            self._release(host, ready_at=until, why=why, failed=failed)

    def renewed(self, until: datetime, *, lost: Collection[int]) -> None:
        """Note that the leases hold until then, but for those that were lost."""
        for host_id in lost:
            self.hosts.pop(host_id, None)
        for host in self.hosts.values():
            host.until = until

    def give_back(self, *, now: datetime) -> None:
        """Give all hosts back; those with a request under way rest as if they had answered."""
        for host in list(self.hosts.values()):
            rested = now + timedelta(seconds=host.pace.usual) if host.under_way else now
            self._release(host, ready_at=max(rested, host.rested_at or now))

    @property
    def next_at(self) -> datetime | None:
        """When the next request may be made; None if all hosts are busy."""
        return self._queue[0][0] if self._queue else None

    def _held(self, lease: HostLease) -> _HeldHost | None:
        host = self.hosts.get(lease.host_id)
        return host if host is not None and host.lease.token == lease.token else None

    def _enqueue(self, host: _HeldHost, at: datetime) -> None:
        """Queue the host for that time, once for each request that it may have under way; before any page, once."""
        most = 1 if host.before_pages else min(host.politeness.connections, len(host.tasks) + host.under_way)
        while host.queued + host.under_way < most:
            host.queued += 1
            heapq.heappush(self._queue, (at, next(self._ties), host))

    def _close(self, host: _HeldHost, now: datetime) -> None:
        assert host.politeness.hours is not None
        opens = host.politeness.hours.opens_at(now)
        self._release(host, ready_at=opens, why="it may be visited at certain hours only")

    def _release(self, host: _HeldHost, *, ready_at: datetime, why: str = "", failed: bool = False) -> None:
        lease = host.lease
        del self.hosts[lease.host_id]
        self.released.append(
            HostRelease(
                host_id=lease.host_id,
                token=lease.token,
                ready_at=ready_at,
                delay=host.pace.usual,
                failures=lease.failures + 1 if failed else 0,
                why=why,
                strain=host.pace.strain,
                address=host.address,
                pace_group=host.pace_group,
            )
        )

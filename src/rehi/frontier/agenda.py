"""The agenda: the hosts that this worker holds, and whose turn it is."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count

from rehi.frontier.manners import Manners
from rehi.frontier.pace import Pace
from rehi.model.visit import HostLease, VisitTask
from rehi.model.work import HostRelease

_NEIGHBOURLY = 0.1  # seconds after which it is looked again whether the host next door is done


class Purpose(StrEnum):
    """What a request is for."""

    ROBOTS = "robots"
    PROBE = "probe"  # a page that can't exist
    FRONT = "front"  # the front page, to see whether it is shown for what can't exist too
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class Errand:
    """One request to make; ``task`` is the due resource of a page."""

    lease: HostLease
    purpose: Purpose
    task: VisitTask | None = None


@dataclass(slots=True)
class _Call:
    lease: HostLease
    manners: Manners
    pace: Pace
    until: datetime  # the lease ends
    closes_at: datetime | None
    first: deque[Purpose]  # before any page
    tasks: deque[VisitTask]
    under_way: int = 0
    queued: int = 0
    rested_at: datetime | None = None
    address: str = ""
    pace_group: str = ""

    @property
    def lanes(self) -> int:
        """How many requests may be made at once: what must come first comes alone."""
        if self.first:
            return 1
        return min(self.manners.connections, len(self.tasks) + self.under_way)


@dataclass(slots=True)
class Agenda:
    """Each host is asked once at a time (or as often as its manners allow), and rests after each answer."""

    _calls: dict[int, _Call] = field(default_factory=dict)
    _queue: list[tuple[datetime, int, _Call]] = field(default_factory=list)  # (not before, tie-breaker, host)
    _ties: Iterator[int] = field(default_factory=count)
    _released: list[HostRelease] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def leases(self) -> list[HostLease]:
        """What is held now."""
        return [call.lease for call in self._calls.values()]

    @property
    def tasks(self) -> int:
        """The pages that are still to be visited under these leases."""
        return sum(len(call.tasks) for call in self._calls.values())

    def add(self, lease: HostLease, manners: Manners, *, first: Sequence[Purpose], now: datetime) -> None:
        """Take a leased host on."""
        call = _Call(
            lease, manners, manners.pace, lease.until, manners.hours.closes_at(now) if manners.hours else None,
            deque(first), deque(lease.tasks), address=lease.address,
        )  # fmt: skip
        self._calls[lease.host_id] = call
        if manners.left_alone:
            self._release(call, ready_at=now + timedelta(days=1), why=f"left alone {manners.left_alone}")
        elif manners.hours is not None and call.closes_at is None:
            self._close(call, now)
        else:
            self._enqueue(call, now)

    def ready(self, now: datetime, *, limit: int) -> list[Errand]:
        """The errands that may be run now; each takes up a lane of its host until it is ``done``."""
        errands: list[Errand] = []
        while self._queue and self._queue[0][0] <= now and len(errands) < limit:
            call = heapq.heappop(self._queue)[2]
            call.queued -= 1
            if self._calls.get(call.lease.host_id) is not call:
                continue  # given back in the meantime
            if now >= call.until:  # somebody else may hold it by now
                del self._calls[call.lease.host_id]
            elif call.closes_at is not None and now >= call.closes_at:
                if not call.under_way:
                    self._close(call, now)
            elif call.first or call.tasks:
                errands.append(_next_errand(call))
                call.under_way += 1
        return errands

    def done(self, errand: Errand, *, now: datetime, seconds: float | None) -> None:
        """An errand has ended; the host rests, unless it was not asked at all (``seconds`` is None)."""
        call = self._call(errand.lease)
        if call is None:
            return
        call.under_way -= 1
        rested = now if seconds is None else now + timedelta(seconds=call.pace.pause_after(seconds))
        call.rested_at = rested if call.rested_at is None else max(call.rested_at, rested)
        if call.first or call.tasks:
            self._enqueue(call, rested)
        elif not call.under_way:
            self._release(call, ready_at=call.rested_at)

    def ask_first(self, lease: HostLease, purpose: Purpose) -> None:
        """Something more must be asked of the host before any page; to be said while an errand to it is under way."""
        if (call := self._call(lease)) is not None:
            call.first.append(purpose)

    def pace_of(self, lease: HostLease) -> Pace | None:
        """The pace of a host that is held."""
        call = self._call(lease)
        return call.pace if call else None

    def set_pace(self, lease: HostLease, pace: Pace) -> None:
        """The host is visited at another pace from now on."""
        if (call := self._call(lease)) is not None:
            call.pace = pace

    def change_manners(self, host_id: int, manners: Manners, *, now: datetime) -> None:
        """An operator has ordered something for a host that is held."""
        call = self._calls.get(host_id)
        if call is None:
            return
        if manners.left_alone:
            del self._calls[host_id]  # the lease ended with the order
            return
        call.manners, call.pace = manners, replace(manners.pace, asked=call.pace.asked, strain=call.pace.strain)
        call.closes_at = manners.hours.closes_at(now) or now if manners.hours else None

    def meet(self, lease: HostLease, address: str, *, shared: bool, now: datetime) -> bool:
        """The host was met at an address; False if it is given back since another that is held shares its pace."""
        call = self._call(lease)
        if call is None or not address:
            return True
        call.address = address
        call.pace_group = address if shared else ""
        if shared and any(other.pace_group == address for other in self._calls.values() if other is not call):
            pause = timedelta(seconds=max(call.pace.usual, _NEIGHBOURLY))
            self._release(call, ready_at=now + pause, why=f"another host at {address} is being visited")
            return False
        return True

    def put_off(self, lease: HostLease, *, until: datetime, why: str, failed: bool = True) -> None:
        """The host itself is in trouble: give it back and leave it alone until then."""
        if (call := self._call(lease)) is not None:
            self._release(call, ready_at=until, why=why, failed=failed)

    def renewed(self, until: datetime, *, lost: Collection[int]) -> None:
        """The leases hold until then, but for those that were lost."""
        for host_id in lost:
            self._calls.pop(host_id, None)
        for call in self._calls.values():
            call.until = until

    def give_back(self, *, now: datetime) -> None:
        """Give back every host; those that are being asked right now rest as if they had answered."""
        for call in list(self._calls.values()):
            rested = now + timedelta(seconds=call.pace.usual) if call.under_way else now
            self._release(call, ready_at=max(rested, call.rested_at or now))

    def take_releases(self) -> list[HostRelease]:
        """The leases to give back with the next record."""
        released, self._released = self._released, []
        return released

    @property
    def next_at(self) -> datetime | None:
        """When the next errand is ready; None when every host held is busy."""
        return self._queue[0][0] if self._queue else None

    def _call(self, lease: HostLease) -> _Call | None:
        call = self._calls.get(lease.host_id)
        return call if call is not None and call.lease.token == lease.token else None

    def _enqueue(self, call: _Call, at: datetime) -> None:
        """Let the host have its turn then, in each lane that is free."""
        while call.queued + call.under_way < call.lanes:
            call.queued += 1
            heapq.heappush(self._queue, (at, next(self._ties), call))

    def _close(self, call: _Call, now: datetime) -> None:
        assert call.manners.hours is not None
        opens = call.manners.hours.opens_at(now)
        self._release(call, ready_at=opens, why="it may be visited at certain hours only")

    def _release(self, call: _Call, *, ready_at: datetime, why: str = "", failed: bool = False) -> None:
        lease = call.lease
        del self._calls[lease.host_id]
        self._released.append(
            HostRelease(
                host_id=lease.host_id,
                token=lease.token,
                ready_at=ready_at,
                delay=call.pace.usual,
                failed=failed,
                why=why,
                strain=call.pace.strain,
                address=call.address,
                pace_group=call.pace_group,
            )
        )


def _next_errand(call: _Call) -> Errand:
    if call.first:
        return Errand(call.lease, call.first.popleft())
    return Errand(call.lease, Purpose.PAGE, call.tasks.popleft())

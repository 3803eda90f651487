"""The agenda: the hosts that this worker holds, and whose turn it is."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

from rehi.model.visit import HostLease, VisitTask
from rehi.model.work import HostRelease


@dataclass(frozen=True, slots=True)
class Errand:
    """One request to make: a due resource, or the host's robots.txt when ``task`` is None."""

    lease: HostLease
    task: VisitTask | None


@dataclass(slots=True)
class _Call:
    lease: HostLease
    delay: float
    needs_robots: bool
    tasks: deque[VisitTask]
    busy: bool = False


@dataclass(slots=True)
class Agenda:
    """One request at a time to each host, the next one no sooner than the host's delay after the last ended."""

    delay: float
    _calls: dict[int, _Call] = field(default_factory=dict)
    _queue: list[tuple[datetime, int, int]] = field(default_factory=list)  # (not before, tie-breaker, host id)
    _ties: Iterator[int] = field(default_factory=count)
    _released: list[HostRelease] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def leases(self) -> list[HostLease]:
        """What is held now."""
        return [call.lease for call in self._calls.values()]

    def add(self, lease: HostLease, *, needs_robots: bool, now: datetime) -> None:
        """Take a leased host on."""
        call = _Call(lease, max(self.delay, lease.delay), needs_robots, deque(lease.tasks))
        self._calls[lease.host_id] = call
        self._enqueue(call, now)

    def ready(self, now: datetime, *, limit: int) -> list[Errand]:
        """The errands that may be run now; each host is busy until its errand is ``done``."""
        errands: list[Errand] = []
        while self._queue and self._queue[0][0] <= now and len(errands) < limit:
            call = self._calls.get(heapq.heappop(self._queue)[2])
            if call is None or call.busy:
                continue
            call.busy = True
            errands.append(Errand(call.lease, None if call.needs_robots else call.tasks.popleft()))
        return errands

    def done(self, errand: Errand, *, now: datetime, asked: bool = True) -> None:
        """An errand has ended; the host rests for its delay, if it was ``asked`` for anything at all."""
        call = self._calls.get(errand.lease.host_id)
        if call is None or call.lease.token != errand.lease.token:
            return
        call.busy = False
        if errand.task is None:
            call.needs_robots = False
        rested = now + timedelta(seconds=call.delay) if asked else now
        if call.tasks:
            self._enqueue(call, rested)
        else:
            self._release(call, ready_at=rested, failed=False)

    def slow_down(self, lease: HostLease, delay: float) -> None:
        """The host asked for a longer pause."""
        if (call := self._calls.get(lease.host_id)) is not None:
            call.delay = max(self.delay, delay)

    def put_off(self, lease: HostLease, *, until: datetime) -> None:
        """The host itself is in trouble: give it back and leave it alone until then."""
        if (call := self._calls.get(lease.host_id)) is not None:
            self._release(call, ready_at=until, failed=True)

    def give_back(self, *, now: datetime) -> None:
        """Give back every host that is not being asked right now."""
        for call in [call for call in self._calls.values() if not call.busy]:
            self._release(call, ready_at=now, failed=False)

    def take_releases(self) -> list[HostRelease]:
        """The leases to give back with the next record."""
        released, self._released = self._released, []
        return released

    @property
    def next_at(self) -> datetime | None:
        """When the next errand is ready; None when every host held is busy."""
        return self._queue[0][0] if self._queue else None

    def _enqueue(self, call: _Call, at: datetime) -> None:
        heapq.heappush(self._queue, (at, next(self._ties), call.lease.host_id))

    def _release(self, call: _Call, *, ready_at: datetime, failed: bool) -> None:
        lease = call.lease
        del self._calls[lease.host_id]
        self._released.append(
            HostRelease(host_id=lease.host_id, token=lease.token, ready_at=ready_at, delay=call.delay, failed=failed)
        )

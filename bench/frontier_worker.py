"""A worker of the frontier benchmark: it does what the pipeline does, with a web that answers at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from threading import Barrier
from time import monotonic, process_time, sleep
from typing import Any

from bench.frontier_crowd import Report, Shift
from bench.frontier_web import origin
from rehi.engines.sql import open_catalogue
from rehi.errors import BadStatus
from rehi.frontier import VISIT_RULES
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import HostLease, Outcome, Visited, VisitTask
from rehi.model.work import HostRelease

_TTL = 600.0
_MONTH = timedelta(days=30)
_HISTORY = 200  # bytes
_OUTCOMES = (Outcome.UNCHANGED, Outcome.NEW, Outcome.FAILED, Outcome.REDIRECT)
_SHARES = (60, 25, 10, 5)


@dataclass(slots=True)
class _Held:
    lease: HostLease
    since: float
    tasks: list[VisitTask] = field(default_factory=list)


def work_leases(shift: Shift, ready: Barrier) -> Report:
    """Lease, visit and record until the time is over; then give all back, and tell the last batch once more."""
    catalogue = open_catalogue(shift.uri)
    worker = _BenchWorker(shift, catalogue)
    ready.wait(120)
    began, cpu = monotonic(), process_time()
    while (now := monotonic()) - began < shift.seconds:
        worker.pause(now - began)
        worker.lease()
        if not worker.held:
            break  # all is visited
        worker.visit()
    worker.report.seconds, worker.report.cpu_seconds = now - began, process_time() - cpu
    worker.leave()
    catalogue.close()
    return worker.report


class _BenchWorker:
    def __init__(self, shift: Shift, catalogue: Any) -> None:
        self.shift, self.catalogue = shift, catalogue
        self.report = Report()
        self.held: list[_Held] = []
        self._random = Random(shift.worker)  # noqa: S311 - not for secrets
        self._lag = self._random.random()
        self._settled = False
        self._end = 0  # of the archive's file
        self._last: Sequence[Visited] = ()

    def pause(self, elapsed: float) -> None:
        """Wait for as long as the rate asks, the first time for a part of it, so that not all come at once."""
        if self.shift.rate:
            visits = self.report.visits + self._lag * self.shift.batch
            sleep(max(visits / self.shift.rate - elapsed, 0.0))

    def lease(self) -> None:
        """Take hosts that there is room for, some at a time."""
        room = min(self.shift.hosts - len(self.held), self.shift.asked)
        if room <= 0:
            return
        began = monotonic()
        leases = self.catalogue.lease(
            worker=self.shift.worker, hosts=room, urls=self.shift.urls, ttl=_TTL, now=datetime.now(UTC)
        )
        since = monotonic()
        self.report.lease_seconds.append(since - began)
        for lease in leases:
            # At first as if it had been at work for long: its hosts are at different places of their lists.
            end = len(lease.tasks) if self._settled else self._random.randint(1, len(lease.tasks))
            self.held.append(_Held(lease, since, list(lease.tasks[:end])))
        self._settled = self._settled or len(self.held) == self.shift.hosts

    def visit(self) -> None:
        """One page of each of some hosts; hosts without any left are given back with the record."""
        chosen = self._random.sample(self.held, min(self.shift.batch, len(self.held)))
        visited = [self._visit(held.tasks.pop()) for held in chosen]
        done = [held for held in chosen if not held.tasks]
        self.held = [held for held in self.held if held.tasks]
        self._record(visited, done)
        self.report.visits += len(visited)
        self._last = visited

    def leave(self) -> None:
        """Give back what is held, and say again what was said last: it must not count twice."""
        seconds, self.report.record_seconds = self.report.record_seconds, []
        self._record(self._last, self.held)
        self.report.record_seconds = seconds

    def _record(self, visited: Sequence[Visited], done: Sequence[_Held]) -> None:
        now, began = datetime.now(UTC), monotonic()
        released = [
            HostRelease(host_id=held.lease.host_id, token=held.lease.token, ready_at=now, delay=0.0) for held in done
        ]
        self.catalogue.record(visited, released, rules=VISIT_RULES, worker=self.shift.worker, now=now)
        self.report.record_seconds.append(monotonic() - began)
        self.report.holds += [(held.lease.host_id, held.since, began) for held in done]

    def _visit(self, task: VisitTask) -> Visited:
        (outcome,) = self._random.choices(_OUTCOMES, _SHARES)
        now = datetime.now(UTC)
        record = RecordRef(f"harvest-{self.shift.worker}.warc.gz", self._end, 2_000)
        self._end = record.end
        extra: dict[str, Any] = {}
        if outcome is Outcome.NEW:
            digest = Digest(f"sha256:{sha256(f'{task.url} {now}'.encode()).hexdigest()}")
            extra = {"digest": digest, "body": record, "media_type": "text/html", "etag": '"5e1f-1"'}
        elif outcome is Outcome.FAILED:
            extra = {"error": BadStatus("it answered 404")}
        elif outcome is Outcome.REDIRECT:
            extra = {"redirect_to": f"{origin(self._random.randrange(6_000))}/uus/{task.resource_id % 50}"}
        return Visited(
            url=task.url, at=now, outcome=outcome, next_at=now + _MONTH, status=200, seconds=0.1, size=20_000,
            record=record, history=self._random.randbytes(_HISTORY), **extra,
        )  # fmt: skip

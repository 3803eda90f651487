"""A crowd: workers that begin together in processes of their own, and what they report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import get_context
from queue import Empty
from threading import Barrier
from typing import Protocol

_PATIENCE = 300.0  # seconds until workers must have begun, and must have ended after their time

Hold = tuple[int, float, float]  # a host, and from when to when it was held, by the clock that all processes share


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """What one worker is to do."""

    uri: str
    worker: str
    seconds: float
    hosts: int = 128  # held at a time
    asked: int = 64  # of them taken with one call, at most
    urls: int = 20  # with each lease
    batch: int = 50  # visits recorded at once
    rate: float = 0.0  # visits per second; 0: as fast as can be


@dataclass(slots=True, kw_only=True)
class Report:
    """What one worker did."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of the worker, not of a server
    visits: int = 0
    lease_seconds: list[float] = field(default_factory=list)  # of each call
    record_seconds: list[float] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    complaint: str = ""


class CrowdPart(Protocol):
    """A worker's work; it waits at the barrier once it is ready."""

    def __call__(self, shift: Shift, ready: Barrier) -> Report:
        """Do it."""


def gather(part: CrowdPart, shifts: Sequence[Shift]) -> list[Report]:
    """Let workers do their shifts at the same time; RuntimeError if one fails."""
    context = get_context("spawn")  # a fork would share the parent's connections
    ready, reports = context.Barrier(len(shifts)), context.Queue()
    crew = [context.Process(target=_run, args=(part, shift, ready, reports), daemon=True) for shift in shifts]
    for process in crew:
        process.start()
    try:
        patience = _PATIENCE + max(shift.seconds for shift in shifts)
        done: list[Report] = [reports.get(timeout=patience) for _ in crew]
    except Empty as error:
        raise RuntimeError("a worker died, or did not end") from error
    finally:
        for process in crew:
            process.join(5)
            process.kill()
    if complaints := [report.complaint for report in done if report.complaint]:
        raise RuntimeError(complaints[0])
    return done


def _run(part: CrowdPart, shift: Shift, ready: Barrier, reports: _Sink) -> None:
    try:
        report = part(shift, ready)
    except Exception as error:  # told to the parent, which raises it
        ready.abort()
        report = Report(complaint=f"{shift.worker}: {type(error).__name__}: {error}")
    reports.put(report)


class _Sink(Protocol):
    put: Callable[[Report], None]


def overlaps(holds: Iterable[Hold]) -> int:
    """How often a host was held by two at once."""
    by_host: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for host, began, ended in holds:
        by_host[host].append((began, ended))
    return sum(later[0] < earlier[1] for spans in by_host.values() for earlier, later in pairwise(sorted(spans)))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


def sum_up(reports: Sequence[Report]) -> dict[str, float]:
    """The numbers of all workers together."""
    leases = [seconds for report in reports for seconds in report.lease_seconds]
    records = [seconds for report in reports for seconds in report.record_seconds]
    holds = [hold for report in reports for hold in report.holds]
    seconds = max(report.seconds for report in reports)
    visits = [report.visits for report in reports]
    return {
        "results_per_s": round(sum(visits) / seconds),
        "leases_per_s": round(len(holds) / seconds),
        "lease_calls_per_s": round(len(leases) / seconds, 1),
        "lease_p50_ms": round(percentile(leases, 0.5) * 1000, 2),
        "lease_p99_ms": round(percentile(leases, 0.99) * 1000, 2),
        "lease_max_ms": round(max(leases, default=0.0) * 1000, 2),
        "record_p50_ms": round(percentile(records, 0.5) * 1000, 2),
        "record_p99_ms": round(percentile(records, 0.99) * 1000, 2),
        "record_max_ms": round(max(records, default=0.0) * 1000, 2),
        "worker_cpu_us_per_result": round(sum(report.cpu_seconds for report in reports) / max(sum(visits), 1) * 1e6),
        "laziest_to_busiest": round(min(visits) / max(max(visits), 1), 2),
        "held_twice": overlaps(holds),
        "visits": sum(visits),
    }

"""Replay: what a policy would have caught of histories that are known, at a given number of visits."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from math import exp, inf, log

from eval.revisit_traces import DAY, Trace
from rehi.frontier.schedule import Sighting, plan_visit
from rehi.model.http import parse_http_date
from rehi.settings import RevisitSettings

LONGEST = 3.0  # mean intervals: odarchive does best with it; with 10 it lost .03 of freshness, and versions
_NEAR = 0.004  # visits may differ from the budget by this part: with .01, two policies once were 1.8 % apart
_TRIES = 24
_TOO_MANY = 1.5  # times the budget, at which a replay is given up: a price far too low means visits without end


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A policy in the race."""

    name: str
    policy: str  # as rehi's settings have it, or `uniform`
    taste: float = 0.5
    dated: bool = False  # whether the server sends Last-Modified


@dataclass(frozen=True, slots=True)
class TraceTally:
    """What came of one file."""

    visits: int
    caught: int
    versions: int
    fresh: float
    span: float


@dataclass(frozen=True, slots=True)
class ReplayScore:
    """What came of many files."""

    visits: int
    freshness: float
    caught: float
    mean_freshness: float  # each file counting the same, however long its history


def sum_up(tallies: Sequence[TraceTally]) -> ReplayScore:
    """Freshness weighted by time, and the share of all versions."""
    return ReplayScore(
        sum(each.visits for each in tallies),
        sum(each.fresh for each in tallies) / sum(each.span for each in tallies),
        sum(each.caught for each in tallies) / sum(each.versions for each in tallies),
        sum(each.fresh / each.span for each in tallies) / len(tallies),
    )


def replay(
    traces: Sequence[Trace], entrant: Entrant, *, price: float, longest: float, most: float = inf
) -> list[TraceTally]:
    """Visit every file as the policy says; it learns only what its visits show. Empty after more than ``most`` visits."""
    hosts: dict[str, list[int]] = defaultdict(list)
    for number, trace in enumerate(traces):
        hosts[trace.host].append(number)
    settings = RevisitSettings(longest=max(longest, 900.0), taste=entrant.taste)
    plan = _uniform(price) if entrant.policy == "uniform" else _planned(entrant, price, settings)
    tallies: dict[int, TraceTally] = {}
    for numbers in hosts.values():
        of_host = _replay_host(traces, numbers, entrant.dated, plan, most)
        most -= sum(tally.visits for tally in of_host.values())
        if most < 0:
            return []
        tallies |= of_host
    return [tallies[number] for number in range(len(traces))]


_Planner = Callable[[Trace, float, bool | None, str, bytes, bytes], tuple[float, bytes, bytes]]


def _uniform(price: float) -> _Planner:
    return lambda trace, at, changed, modified, history, host: (at + price * DAY, b"", b"")


def _planned(entrant: Entrant, price: float, settings: RevisitSettings) -> _Planner:
    def plan(
        trace: Trace, at: float, changed: bool | None, modified: str, history: bytes, host: bytes
    ) -> tuple[float, bytes, bytes]:
        sighting = Sighting(
            url=trace.url, at=datetime.fromtimestamp(at, UTC), changed=changed, last_modified=parse_http_date(modified)
        )
        made = plan_visit(
            sighting, policy=entrant.policy, history=history, host_history=host, weight=1.0, price=price,
            settings=settings, time_zone=UTC,
        )  # fmt: skip
        return made.next_at.timestamp(), made.history, made.host_history

    return plan


def _replay_host(
    traces: Sequence[Trace], numbers: Sequence[int], dated: bool, plan: _Planner, most: float
) -> dict[int, TraceTally]:
    due = [(traces[number].times[0], number, 0, b"") for number in numbers]
    heapq.heapify(due)
    visits, caught, fresh = defaultdict[int, int](int), defaultdict[int, int](int), defaultdict[int, float](float)
    host, made = b"", 0
    while due and made <= most:
        made += 1
        at, number, known, history = heapq.heappop(due)
        trace = traces[number]
        version = bisect_right(trace.times, at)
        modified = formatdate(trace.times[version - 1], usegmt=True) if dated else ""
        changed = version != known if known else None
        then, history, host = plan(trace, at, changed, modified, history, host)
        visits[number] += 1
        caught[number] += changed is not False
        stale_at = trace.times[version] if version < len(trace.times) else trace.end
        fresh[number] += max(min(stale_at, then, trace.end) - at, 0.0)
        if then < trace.end:
            heapq.heappush(due, (then, number, version, history))
    return {
        n: TraceTally(visits[n], caught[n], len(traces[n].times), fresh[n], traces[n].end - traces[n].times[0])
        for n in numbers
    }


def calibrate(
    traces: Sequence[Trace], entrant: Entrant, *, visits: int, longest: float | None = None
) -> list[TraceTally]:
    """Return the replay at the price at which the policy makes that many visits, within some thousandths where it can.

    No wait is longer than ``longest``, in seconds; by default three mean intervals.
    """
    mean = sum(trace.end - trace.times[0] for trace in traces) / visits
    longest = LONGEST * mean if longest is None else longest
    low, high = -12.0, 16.0
    # the rule of the thesis multiplies its own waits, so a price near 1 decides, and steeply
    at, slope = (0.2, -3.0) if entrant.policy == "odarchive" else (log(max(mean / DAY, 0.3)), -0.8)
    best: list[TraceTally] = []
    nearest = inf
    for attempt in range(_TRIES):
        tallies = replay(traces, entrant, price=exp(at), longest=longest, most=_TOO_MANY * visits)
        off = log(sum(tally.visits for tally in tallies) / visits) if tallies else log(_TOO_MANY)
        if tallies and abs(off) < nearest:
            nearest, best = abs(off), tallies
        if abs(off) < _NEAR:
            break
        low, high = (max(low, at), high) if off > 0 else (low, min(high, at))
        at -= off / slope
        if not low < at < high or attempt > 6:
            at = (low + high) / 2
    return best


def clairvoyant(traces: Sequence[Trace], *, visits: int) -> ReplayScore:
    """Knows every change: goes at once to those versions that last longest."""
    lasting = sorted(
        ((b - a, n) for n, t in enumerate(traces) for a, b in zip(t.times, (*t.times[1:], t.end), strict=True)),
        reverse=True,
    )
    spans = [trace.end - trace.times[0] for trace in traces]
    fresh = [0.0] * len(traces)
    for seconds, number in lasting[:visits]:
        fresh[number] += seconds
    share = sum(a / b for a, b in zip(fresh, spans, strict=True)) / len(spans)
    return ReplayScore(visits, sum(fresh) / sum(spans), min(visits, len(lasting)) / len(lasting), share)

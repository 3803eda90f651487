"""The history of a page, and of all pages of its host together, in about a hundred bytes each: when they changed.

The clock in it tells at which hours of the day and days of the week a page changes, in UTC.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import datetime

from rehi.model.moment import WEB_BEGAN

EXPERTS = 3
CLOCK = 31  # counts of changes: 24 hours of the day, then 7 days of the week
_VERSION = 1
_PAGE = struct.Struct(f"<B3d{3 * EXPERTS}f{CLOCK}e")
_HOST = struct.Struct(f"<B{2 * EXPERTS}f{CLOCK}e")
_MOST = 1e12  # no honest number is larger
_MOST_COUNT = 60_000.0  # what half a float can hold
HOUR, DAY, WEEK = 3_600.0, 86_400.0, 7 * 86_400.0
_FORGET = 0.985  # with each change: the last 70 or so count
_PAGE_WEIGHT, _WEEK_WEIGHT = 3.0, 5.0  # changes of its own after which a page's own hours or days count half
_HOST_WEIGHT = 24.0  # changes after which a host's hours count half
_ENOUGH = 2.0  # changes below which there is no clock at all
_HOURS_WITHIN, _DAYS_WITHIN = 36 * HOUR, 10 * DAY  # a longer wait says nothing of the hour, or of the day
_WINDOW, _WINDOW_FROM = 12 * HOUR, 6 * HOUR  # how far a visit is moved, and from which interval on
_EARLIEST = WEB_BEGAN.timestamp()
_NOW = 5.0  # seconds: a page that changed just as we came was most likely made for us


@dataclass(slots=True)
class PageHistory:
    """What the visits to one page have taught; a working copy, never shared."""

    first: float  # since when it has been watched
    visited: float  # the last visit, in seconds since 1970
    changed: float  # the last change that we know of, or our best guess at it
    changes: list[float]  # by expert: changes seen, the older the less they count
    exposure: list[float]  # by expert: the time in which they were seen, as the expert counts time
    trust: list[float]  # by expert: how well it foretold what we saw; together 1
    clock: list[float]


@dataclass(slots=True)
class HostHistory:
    """What the visits to all pages of one host have taught; a working copy, never shared."""

    changes: list[float]
    exposure: list[float]
    clock: list[float]


def new_page(visited: float, changed: float) -> PageHistory:
    """Return the history of a page that is seen for the first time."""
    return PageHistory(
        min(changed, visited),
        visited,
        changed,
        [0.0] * EXPERTS,
        [0.0] * EXPERTS,
        [1 / EXPERTS] * EXPERTS,
        [0.0] * CLOCK,
    )


def _unpack(form: struct.Struct, packed: bytes) -> list[float] | None:
    """Return the numbers, if they are what we once wrote; a sum shows NaN and infinity at the speed of C."""
    if len(packed) != form.size or packed[0] != _VERSION:
        return None
    values = list(form.unpack(packed)[1:])
    return values if min(values) >= 0 and sum(values) < _MOST else None


def read_page(packed: bytes) -> PageHistory | None:
    """Return a page's history; None when there is none, or none that this version can read."""
    values = _unpack(_PAGE, packed)
    if values is None or max(values[0], values[2]) > values[1]:
        return None
    at = 3 + EXPERTS
    changes, exposure, trust = values[3:at], values[at : at + EXPERTS], values[at + EXPERTS : at + 2 * EXPERTS]
    if not 0.9 < sum(trust) < 1.1:
        return None
    return PageHistory(values[0], values[1], values[2], changes, exposure, trust, values[at + 2 * EXPERTS :])


def read_host(packed: bytes) -> HostHistory:
    """Return a host's history; an empty one when there is none, or none that this version can read."""
    values = _unpack(_HOST, packed)
    if values is None:
        return HostHistory([0.0] * EXPERTS, [0.0] * EXPERTS, [0.0] * CLOCK)
    return HostHistory(values[:EXPERTS], values[EXPERTS : 2 * EXPERTS], values[2 * EXPERTS :])


def is_page_history(packed: bytes) -> bool:
    """Whether these bytes are the history of a page, or none."""
    return not packed or read_page(packed) is not None


def is_host_history(packed: bytes) -> bool:
    """Whether these bytes are the history of a host, or none."""
    return not packed or _unpack(_HOST, packed) is not None


def write_page(page: PageHistory) -> bytes:
    """Return a page's history as bytes."""
    return _PAGE.pack(
        _VERSION, page.first, page.visited, page.changed,
        *page.changes, *page.exposure, *page.trust, *_capped(page.clock),
    )  # fmt: skip


def write_host(host: HostHistory) -> bytes:
    """Return a host's history as bytes."""
    return _HOST.pack(_VERSION, *host.changes, *host.exposure, *_capped(host.clock))


def _capped(clock: list[float]) -> list[float]:
    return clock if max(clock) < _MOST_COUNT else [min(count, _MOST_COUNT) for count in clock]


@dataclass(frozen=True, slots=True)
class Clock:
    """How likely a change is by hour and weekday; 1 is the mean of each."""

    hours: list[float]
    days: list[float]


def read_clock(page: list[float], host: list[float]) -> Clock | None:
    """Return a page's clock, drawn towards its host's, and that towards no preference; None when too little was seen."""
    if sum(page) + sum(host) < _ENOUGH:
        return None
    return Clock(_hours(page, host), _days(page, host))


def _hours(page: list[float], host: list[float]) -> list[float]:
    own, hosts = sum(page[:24]), sum(host[:24]) + _HOST_WEIGHT
    scale, pull = 24 / (own + _PAGE_WEIGHT), _PAGE_WEIGHT / hosts
    raw = [scale * (page[h] + pull * (host[h] + _HOST_WEIGHT / 24)) for h in range(24)]
    # jobs start a little late, and clocks are put back: an hour lends to its neighbours
    return [0.5 * raw[h] + 0.25 * (raw[h - 1] + raw[h - 23]) for h in range(24)]


def _days(page: list[float], host: list[float]) -> list[float]:
    own, hosts = sum(page[24:]), sum(host[24:]) + _HOST_WEIGHT
    scale, pull = 7 / (own + _WEEK_WEIGHT), _WEEK_WEIGHT / hosts
    return [scale * (page[24 + d] + pull * (host[24 + d] + _HOST_WEIGHT / 7)) for d in range(7)]


def note_change(page: list[float], host: list[float], since: float, until: float) -> None:
    """Count a change that came between the two moments, shared among the hours and days it may have come in."""
    clock = read_clock(page, host)
    for counts in (page, host):
        counts[:] = [_FORGET * count for count in counts]
    if until - since <= _HOURS_WITHIN:
        _share_out(
            page, host, since, until, step=HOUR, first=0, size=24, shift=0, likely=clock.hours if clock else None
        )
    if until - since <= _DAYS_WITHIN:
        _share_out(page, host, since, until, step=DAY, first=24, size=7, shift=3, likely=clock.days if clock else None)


def _share_out(
    page: list[float], host: list[float], since: float, until: float,
    *, step: float, first: int, size: int, shift: int, likely: list[float] | None,
) -> None:  # fmt: skip
    slots: list[tuple[int, float]] = []
    at, until = since, max(until, since + 1.0)
    while at < until:
        number = int(at // step)
        end = min(until, (number + 1) * step)
        slot = (number + shift) % size
        slots.append((first + slot, (end - at) * (likely[slot] if likely else 1.0)))
        at = end
    total = sum(weight for _, weight in slots) or 1.0
    for slot, weight in slots:
        page[slot] += weight / total
        host[slot] += weight / total


def place(clock: Clock, at: float, wait: float, *, freshness: float) -> float:
    """Return a wait for a page that has hours, made of one for a page that changes at any hour.

    First the wait is counted in the page's own time, which stands still when it does not change. Then the visit is
    moved to where most changes of the hours around have just come: with ends fixed, the fresh time on both sides
    of a visit is largest where (lead of the page's time over ours) - move² / wait is.
    """
    wait = _in_own_time(clock, at, wait)
    if freshness <= 0 or wait < _WINDOW_FROM:
        return wait
    return _after_the_rush(clock, at, wait, freshness)


def _in_own_time(clock: Clock, at: float, wait: float) -> float:
    weeks, need = divmod(wait, WEEK)
    hours, days, now = clock.hours, clock.days, at
    while need > 0:
        end = (now // HOUR + 1) * HOUR
        whole_day = now % DAY == 0
        day = days[(int(now // DAY) + 3) % 7]
        gain = DAY * day if whole_day else 0.0
        if whole_day and gain <= need:
            now, need = now + DAY, need - gain
            continue
        rate = hours[int(now // HOUR) % 24] * day
        gain = (end - now) * rate
        if gain >= need:
            return weeks * WEEK + now + need / rate - at
        now, need = end, need - gain
        if now - at > WEEK:  # rounding only: a week of its own time is a week of ours
            break
    return weeks * WEEK + min(now - at, WEEK)


def _after_the_rush(clock: Clock, at: float, wait: float, freshness: float) -> float:
    reach = min(_WINDOW, wait / 2)
    goal = at + wait
    now = max(goal - reach, at + _WINDOW_FROM)
    now = (now // HOUR + 1) * HOUR
    best, best_at, lead = -1e18, goal, 0.0
    hours, days = clock.hours, clock.days
    number = int(now // HOUR)
    while now <= goal + reach:
        value = freshness * lead - (now - goal) ** 2 / wait
        if value > best:
            best, best_at = value, now
        lead += (hours[number % 24] * days[(number // 24 + 3) % 7] - 1) * HOUR
        now, number = now + HOUR, number + 1
    return best_at - at


def believe(date: datetime | None, *, at: float, since: float | None, changed: bool | None) -> float | None:
    """Return when the page changed, if that agrees with what we saw: since the last visit if it changed, before it if not."""
    if date is None:
        return None
    moment = date.timestamp()
    if not _EARLIEST <= moment <= at - _NOW:
        return None
    if since is not None and changed is not None and (moment > since) != changed:
        return None
    return moment

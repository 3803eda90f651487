"""The clock of a page: at which hours of the day and days of the week it changes, in UTC."""

from __future__ import annotations

from dataclasses import dataclass

HOUR, DAY, WEEK = 3_600.0, 86_400.0, 7 * 86_400.0
_FORGET = 0.985  # with each change: the last 70 or so count
_PAGE_WEIGHT, _WEEK_WEIGHT = 3.0, 5.0  # changes of its own after which a page's own hours or days count half
_HOST_WEIGHT = 24.0  # changes after which a host's hours count half
_ENOUGH = 2.0  # changes below which there is no clock at all
_HOURS_WITHIN, _DAYS_WITHIN = 36 * HOUR, 10 * DAY  # a longer wait says nothing of the hour, or of the day
_WINDOW, _WINDOW_FROM = 12 * HOUR, 6 * HOUR  # how far a visit is moved, and from which interval on


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

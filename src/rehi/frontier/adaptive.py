"""The adaptive policy: learns how often a page changes, and when, and comes back when a visit is worth its price."""

from __future__ import annotations

from functools import lru_cache
from math import exp

from rehi.frontier.clock import DAY, HOUR, note_change, place, read_clock
from rehi.frontier.history import (
    EXPERTS,
    HostHistory,
    PageHistory,
    new_page,
    read_host,
    read_page,
    write_host,
    write_page,
)  # fmt: skip
from rehi.frontier.last_modified import believe
from rehi.frontier.spread import spread

# What each expert believes: the hazard of a change falls with the age of the last one as age^-wear, and what was seen
# counts a third after so long. How well visits of real pages were foretold chose these, not freshness.
_WEARS = (0.0, 0.6, 0.93)
_MEMORIES = (1_500 * DAY, 400 * DAY, 150 * DAY)
_POWERS = tuple(1 - wear for wear in _WEARS)
_YOUNG = HOUR  # the age below which a change is no fresher
_FIRST_GUESS = 10 * DAY  # between changes, for a page of a host of which nothing is known
_GUESS_WEIGHT = 0.7  # changes that the host's mean counts for
_PROMISE_WEIGHT = 1.0  # changes that the source's promise counts for
_HOST_FORGET = 0.97  # with each change on the host
_HOST_MEMORY = 150 * DAY  # siblings tell of the present: a host that fell asleep is soon thought to sleep
_SECOND_CHANCE = 0.02  # of the trust is shared out anew with each visit, so that no expert is lost for good
_MOST_HIDDEN = 4.0  # one change seen stands for no more than so many that were not
_LATER = 0.3  # of a wait that found a change, the last part that is thought to be free of others
_FRESH_UNIT = 4 * HOUR  # of freshness that a visit must bring at price 1
# An hour of a page that has been watched for a time t counts 1 + youth/t: a page's part of its own life is what it loses
# while it is stale, and most lives are short. Without this, short histories were over before they were known
# (freshness as the mean of files .08 lower at a fifth of a visit for each version).
_YOUTH, _FIRST_LOOK = 400 * DAY, 0.5 * DAY
_YIELD_MEMORY = 0.3  # the last visit's part in the share of visits that found something
_STEP = 1.35  # between two waits that are tried


def plan_adaptive(
    *,
    at: float,
    changed: bool | None,
    last_modified: str,
    promised: float,
    history: bytes,
    host_history: bytes,
    price: float,
    taste: float,
    shortest: float,
    longest: float,
    share: float,
) -> tuple[float, bytes, bytes]:
    """Seconds until the next visit, and what is known from now on of the page and of its host."""
    page, host = read_page(history), read_host(host_history)
    if page is None or changed is None:
        page = new_page(at, _first_change(last_modified, at))
    elif at > page.visited:
        modified = believe(last_modified, at=at, since=page.visited, changed=changed)
        _learn(page, host, at, changed, modified, promised)
    cost = _cost(page, price, taste)
    wait = _choose(page, _beliefs(page, host, promised), cost, min(2 * taste, 1.0), _waits(shortest, longest))
    wait = spread(wait, share=share, shortest=shortest, longest=longest)
    clock = read_clock(page.clock, host.clock)
    if clock is not None:
        wait = place(clock, at, wait, freshness=1 - taste) + share * 0.05 * min(wait, HOUR)
        wait = max(min(wait, longest), shortest)
    return wait, write_page(page), write_host(host)


def _first_change(last_modified: str, at: float) -> float:
    believed = believe(last_modified, at=at, since=None, changed=None)
    return at if believed is None else believed


def _exposures(age: float, until: float) -> tuple[float, float, float]:
    """How much each expert thinks may happen while a page ages."""
    a, b = age + _YOUNG, until + _YOUNG
    _, q1, q2 = _POWERS
    return until - age, (b**q1 - a**q1) / q1, (b**q2 - a**q2) / q2


_FIRST_EXPOSURES = _exposures(0.0, _FIRST_GUESS)


def _beliefs(page: PageHistory, host: HostHistory, promised: float) -> list[tuple[float, float]]:
    """By expert, what is believed of a page's rate: a gamma distribution drawn towards its host's mean."""
    promise = _exposures(0.0, promised) if promised > 0 else None
    beliefs = []
    for k in range(EXPERTS):
        usual = (host.exposure[k] + _FIRST_EXPOSURES[k]) / (host.changes[k] + 1)
        shape, scale = page.changes[k] + _GUESS_WEIGHT, page.exposure[k] + _GUESS_WEIGHT * usual
        if promise is not None:
            shape, scale = shape + _PROMISE_WEIGHT, scale + _PROMISE_WEIGHT * promise[k]
        beliefs.append((shape, scale))
    return beliefs


def _learn(
    page: PageHistory, host: HostHistory, at: float, changed: bool, modified: float | None, promised: float
) -> None:
    waited, age = at - page.visited, page.visited - page.changed
    kept = exp(-max(at - host.visited, 0.0) / _HOST_MEMORY) if host.visited else 1.0
    kept *= _HOST_FORGET if changed else 1.0
    beliefs, exposures = _beliefs(page, host, promised), _exposures(age, age + waited)
    trust = page.trust
    for k in range(EXPERTS):
        (shape, scale), seen = beliefs[k], exposures[k]
        calm = (1 + seen / scale) ** -shape
        trust[k] = max(trust[k] * (1 - calm if changed else calm), 1e-9)
        count = _hidden(shape / scale * seen) if changed else 0.0
        fading = exp(-waited / _MEMORIES[k])
        page.changes[k] = page.changes[k] * fading + count
        page.exposure[k] = page.exposure[k] * fading + seen
        host.changes[k] = host.changes[k] * kept + count
        host.exposure[k] = host.exposure[k] * kept + seen
    part = (1 - _SECOND_CHANCE) / sum(trust)
    page.trust = [each * part + _SECOND_CHANCE / EXPERTS for each in trust]
    page.yield_ += _YIELD_MEMORY * (changed - page.yield_)
    if changed:
        since, until = (page.visited, at) if modified is None else (modified, modified)
        note_change(page.clock, host.clock, since, until)
        page.changed = until - _LATER * (until - since)
    page.visited, host.visited = at, max(host.visited, at)


def _hidden(expected: float) -> float:
    """How many changes one seen change stands for: without this, rates of pages that change often come out low."""
    return min(expected / (1 - exp(-expected)), _MOST_HIDDEN) if expected > 1e-6 else 1.0


def _cost(page: PageHistory, price: float, taste: float) -> float:
    """The fresh time that a visit must bring: less while a page is young, less where visits have paid."""
    youth = 1 + _YOUTH * (1 - taste) / (page.visited - page.first + _FIRST_LOOK)
    return price * _FRESH_UNIT / youth * exp(2 * taste * (0.5 - page.yield_))


@lru_cache(maxsize=64)
def _waits(shortest: float, longest: float) -> tuple[float, ...]:
    waits = [shortest]
    while waits[-1] * _STEP < longest:
        waits.append(waits[-1] * _STEP)
    return (*waits, longest) if longest > waits[-1] else tuple(waits)


def _choose(
    page: PageHistory, beliefs: list[tuple[float, float]], cost: float, refund: float, waits: tuple[float, ...]
) -> float:
    """The first wait at which one visit more brings what it costs; a version found gives ``refund`` of that back.

    With a wait of T, a visit brings fresh time T - F(T), F being the stale time expected, and a version with the
    probability p(T). Per unit of time that is best where T p - F reaches cost * (1 - refund * (p - T p')).
    """
    (s0, c0), (s1, c1), (s2, c2) = beliefs
    w0, w1, w2 = page.trust
    _, q1, q2 = _POWERS
    age = page.visited - page.changed + _YOUNG
    a1, a2 = age**q1, age**q2
    c1, c2, s0, s1, s2 = c1 * q1, c2 * q2, -s0, -s1, -s2
    # waits in which next to nothing can happen need not be tried; this must not hang on the price
    soon = -0.05 * min(c0 / s0, c1 / s1 / q1 * age / a1, c2 / s2 / q2 * age / a2, key=abs)
    before = chance_before = stale = worth_before = 0.0
    for wait in waits:
        if wait < soon:
            continue
        then = age + wait
        chance = 1 - (
            w0 * (1 + wait / c0) ** s0
            + w1 * (1 + (then**q1 - a1) / c1) ** s1
            + w2 * (1 + (then**q2 - a2) / c2) ** s2
        )
        step, gain = wait - before, chance - chance_before
        stale += step * (chance + chance_before) / 2
        worth = wait * chance - stale - cost * (1 - refund * (chance - wait * gain / step))
        if worth >= 0:
            return before + step * (worth_before / (worth_before - worth)) if before else wait
        before, chance_before, worth_before = wait, chance, worth
    return waits[-1]

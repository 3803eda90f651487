"""The adaptive policy: learns how often a page changes, and when, and comes back when a visit is worth its price."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from math import exp, sqrt

from rehi.frontier.history import (
    DAY,
    EXPERTS,
    HOUR,
    HostHistory,
    PageHistory,
    believe,
    new_page,
    note_change,
    place,
    read_clock,
    read_host,
    read_page,
    write_host,
    write_page,
)  # fmt: skip
from rehi.frontier.policy import spread

_YOUNG = HOUR  # the age below which a change is no fresher
# After this time what was seen counts a third: where pages change daily, sooner, for what they do changes sooner as well. On
# histories made 20 times as fast, at half a visit for each version, .291 of versions were caught in place of .286.
_MEMORY, _MEMORY_IN_CHANGES = 90 * DAY, 15
_FIRST_GUESS = 20 * DAY  # between changes, for a page of a host of which nothing is known
_GUESS_WEIGHT = 0.4  # changes that the host's mean counts for
_PROMISE_WEIGHT = 1.0  # changes that the source's promise counts for
_HOST_FORGET = 0.97  # with each change on the host
_SECOND_CHANCE = 0.02  # of the trust is shared out anew with each visit, so that no expert is lost for good
_MOST_HIDDEN = 4.0  # one change seen stands for no more than so many that were not
_FRESH_UNIT = 4 * HOUR  # of freshness that a visit must bring at price 1
# What makes a price in hours one in versions: a page that changes at this interval is visited alike for either. It is half of
# the host's own usual interval where copies are to be fresh. As versions count for more it moves towards one that all hosts
# share, since a version of a quiet host is worth no more than another: some times the price in hours, which is itself as long
# or short as the world is slow or fast. With ten days for all, too little but versions counted where pages change daily: on
# histories made 20 times as fast, with a taste of 1, freshness was .694 in place of .707 and .287 of the versions were caught
# in place of .289 (the mean of four samples of the files with three budgets each; those of eval/revisit_tuning.py).
_EVEN_SHARE, _EVEN_PRICES, _MOST_COMMON = 0.5, 3.0, 0.7
# So that price 1 means about as many visits at every taste: without this a taste of 1 made 7,563 where one of .5 made 14,144.
_CATCH_UNIT, _CATCH_UNIT_POWER = 0.16, 4.5
# With versions alone, pages of which little is known are given up, and fewer versions are caught: .141 of them in place of
# .157 in those histories, and as many at their own pace.
_MOST_TASTE = 0.85
# So that a taste of .5 is as fresh as even visits where these are few: .626 in those histories, with a power of 1.5 .616.
_TASTE_POWER = 2
# A page is looked at more closely while it is new: without this, histories of weeks were over before they were known
# (freshness as the mean of files .59 in place of .68 at a fifth of a visit for each version).
_CURIOSITY, _FIRST_LOOK = 0.02, 0.2 * DAY
_STEP = 1.3  # between two waits that are tried


def plan_adaptive(
    *,
    at: float,
    changed: bool | None,
    last_modified: datetime | None,
    promised: float,
    history: bytes,
    host_history: bytes,
    price: float,
    taste: float,
    shortest: float,
    longest: float,
    share: float,
) -> tuple[float, bytes, bytes]:
    """Return the seconds until the next visit, and what is known from now on of the page and of its host."""
    page, host = read_page(history), read_host(host_history)
    if page is None or changed is None:
        believed = believe(last_modified, at=at, since=None, changed=None)
        page = new_page(at, at if believed is None else believed)
    elif at > page.visited:
        modified = believe(last_modified, at=at, since=page.visited, changed=changed)
        _learn(page, host, at, changed, modified, promised)
    wait = _choose(page, host, promised, price=price, taste=taste, shortest=shortest, longest=longest)
    wait = spread(wait, share=share, shortest=shortest, longest=longest)
    clock = read_clock(page.clock, host.clock)
    if clock is not None:
        wait = place(clock, at, wait, freshness=1 - taste) + share * 0.05 * min(wait, HOUR)
        wait = max(min(wait, longest), shortest)
    return wait, write_page(page), write_host(host)


def _exposures(age: float, until: float) -> tuple[float, float, float]:
    """Return how much each expert thinks may happen while a page ages; their hazards fall as 1, age^-.5 and age^-.9."""
    a, b = age + _YOUNG, until + _YOUNG
    return until - age, 2 * (sqrt(b) - sqrt(a)), 10 * (b**0.1 - a**0.1)


_FIRST_EXPOSURES = _exposures(0.0, _FIRST_GUESS)


def _beliefs(page: PageHistory, host: HostHistory, promised: float) -> list[tuple[float, float]]:
    """Return by expert what is believed of a page's rate: a gamma distribution drawn towards its host's mean."""
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
    fading = exp(-waited / min(_MEMORY, _MEMORY_IN_CHANGES * _usual_interval(host)))
    total = 0.0
    for k, ((shape, scale), seen) in enumerate(
        zip(_beliefs(page, host, promised), _exposures(age, age + waited), strict=True)
    ):
        calm = (1 + seen / scale) ** -shape
        page.trust[k] = max(page.trust[k] * (1 - calm if changed else calm), 1e-9)
        total += page.trust[k]
        count = _hidden(shape / scale * seen) if changed else 0.0
        page.changes[k] = page.changes[k] * fading + count
        page.exposure[k] = page.exposure[k] * fading + seen
        forget = _HOST_FORGET if changed else 1.0
        host.changes[k] = host.changes[k] * forget + count
        host.exposure[k] = host.exposure[k] * forget + seen
    kept = (1 - _SECOND_CHANCE) / total
    page.trust = [trust * kept + _SECOND_CHANCE / EXPERTS for trust in page.trust]
    if changed:
        since, until = (page.visited, at) if modified is None else (modified, modified)
        note_change(page.clock, host.clock, since, until)
        page.changed = (since + until) / 2
    page.visited = at


def _hidden(expected: float) -> float:
    """Return how many changes one seen change stands for: without this, rates of pages that change often come out low."""
    return min(expected / (1 - exp(-expected)), _MOST_HIDDEN) if expected > 1e-6 else 1.0


@lru_cache(maxsize=64)
def _waits(shortest: float, longest: float) -> tuple[float, ...]:
    waits = [shortest]
    while waits[-1] * _STEP < longest:
        waits.append(waits[-1] * _STEP)
    return (*waits, longest) if longest > waits[-1] else tuple(waits)


def _usual_interval(host: HostHistory) -> float:
    """Return the mean time between changes of a page of a host."""
    return (host.exposure[0] + _FIRST_GUESS) / (host.changes[0] + 1)


def _choose(
    page: PageHistory, host: HostHistory, promised: float,
    *, price: float, taste: float, shortest: float, longest: float,
) -> float:  # fmt: skip
    """Return the first wait at which one visit more brings what it costs.

    With a wait of T, a visit brings fresh time T - F(T), F being the stale time expected, and a version with the
    probability p(T). Per unit of time, less the price, that is best where T p - F, or p - T p', reaches the price.
    """
    watched = page.visited - page.first
    fresh_price = price * _FRESH_UNIT * _CATCH_UNIT**taste**_CATCH_UNIT_POWER
    # Between changes, so that a page is visited alike for freshness and for versions.
    even_interval = _EVEN_SHARE * _usual_interval(host)
    even_interval *= (_EVEN_PRICES * fresh_price / even_interval) ** (_MOST_COMMON * taste**2)
    catch_price = 1 - exp(-fresh_price / even_interval)
    taste = _MOST_TASTE * taste**_TASTE_POWER
    fresh_price *= min(1.0, sqrt((watched + _FIRST_LOOK) * _CURIOSITY / fresh_price))
    fresh, catch = (1 - taste) / fresh_price, taste / catch_price
    (s0, c0), (s1, c1), (s2, c2) = _beliefs(page, host, promised)
    w0, w1, w2 = page.trust
    age = page.visited - page.changed + _YOUNG
    root, tenth = sqrt(age), age**0.1
    before = chance_before = stale = worth_before = 0.0
    for wait in _waits(shortest, longest):
        then = age + wait
        chance = 1 - (
            w0 * (1 + wait / c0) ** -s0
            + w1 * (1 + 2 * (sqrt(then) - root) / c1) ** -s1
            + w2 * (1 + 10 * (then**0.1 - tenth) / c2) ** -s2
        )
        step, gain = wait - before, chance - chance_before
        stale += step * (chance + chance_before) / 2
        worth = fresh * (wait * chance - stale) + catch * (chance - wait * gain / step)
        if worth >= 1:
            part = (1 - worth_before) / (worth - worth_before) if worth > worth_before else 1.0
            return max(before + step * part, shortest)
        before, chance_before, worth_before = wait, chance, worth
    return longest

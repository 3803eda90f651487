"""Hosts: how a host is treated and why, and what an operator may order for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field

from rehi.app import House, utc_now
from rehi.errors import SettingsError
from rehi.fetch import RobotRules
from rehi.frontier import HouseLeaseRules, host_name, parse_hours, politeness_for, zone_of
from rehi.model.host import NO_ORDERS, HostFacts, HostOrders, HostRow, HostState
from rehi.model.listing import Page
from rehi.model.visit import Robots
from rehi.operations.parameters import ROWS, HostName, Id, Limit, Offset, Text, readable_by
from rehi.settings import FetchSettings
from rehi.sources import host_meant

NEIGHBOURS = 3  # hosts at one address from which a shared pace is proposed
_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT = Field(max_length=200)

Delay = Annotated[float, Field(ge=0, le=86_400, description="Seconds between two requests.")]
Connections = Annotated[int, Field(ge=0, le=32, description="Requests at the same time.")]
Hours = Annotated[
    str,
    _SHORT,
    Field(description='When it may be visited, as in "20:00-06:00".'),
    readable_by(lambda text: parse_hours(text, UTC)),
]
LeftAlone = Annotated[bool, Field(description="Whether it is not visited at all.")]
Why = Annotated[str, _SHORT, Field(description="The reason to leave it alone, for whoever asks later.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostList:
    """A page of hosts, and how many match in all."""

    total: int
    hosts: Sequence[HostRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """One origin: what is known of it, how it is treated, and what could be done."""

    facts: HostFacts
    delay: float  # seconds between two requests, as things stand
    connections: int
    hours: str
    asked_delay: float | None  # by its robots.txt
    rules: str  # the lines of its robots.txt that are meant for us
    robots: str  # how its robots.txt was last answered, in a few words
    robots_waits_until: datetime | None  # its robots.txt can't be had, and nothing is visited before; None if it can
    verifies_tls: bool
    uses_proxy: bool
    extra_headers: tuple[str, ...]  # their names
    state: str  # in a sentence
    advice: tuple[str, ...]


def list_hosts(
    house: House,
    *,
    like: Annotated[Text, Field(description="Only hosts with this in their names.")] = "",
    limit: Limit = ROWS,
    offset: Offset = 0,
) -> HostList:
    """List the hosts, those in trouble first."""
    rows, total = house.catalogue.hosts(like, Page(limit=limit, offset=offset))
    return HostList(total=total, hosts=rows)


def get_host(house: House, *, name: HostName) -> Sequence[HostReport]:
    """Return all that is known of a host, by origin: rules, pace, orders and last visits."""
    return report_hosts(house, name)


def set_orders(
    house: House,
    *,
    host_id: Annotated[Id, Field(description="The number of an origin, as in the list of hosts.")],
    delay: Delay | None = None,
    connections: Connections | None = None,
    hours: Hours | None = None,
    left_alone: LeftAlone | None = None,
    why: Why = "",
) -> HostOrders:
    """Order how one origin is treated. What is left out stays as it is; 0 or "" takes an order back."""
    orders = house.catalogue.orders(since=_EVER).get(host_id, NO_ORDERS)
    return order_host(
        house, host_id, orders, delay=delay, connections=connections, hours=hours, left_alone=left_alone, why=why
    )


def report_hosts(house: House, given: str) -> list[HostReport]:
    """Return all origins of a host, or the one that was given by itself or with a URL; NotFound if there is none."""
    return [_report(house, facts) for facts in house.catalogue.host(host_meant(given), now=utc_now())]


def explain_wait(row: HostRow) -> str:
    """Return why nothing is asked of a host now, in a few words; "" if there is no reason but the schedule."""
    if row.state in (HostState.WAITING, HostState.IDLE) and not row.why and row.failures:
        return f"it failed {_times(row.failures)} in a row"
    return row.why


def order_host(
    house: House,
    host_id: int,
    orders: HostOrders,
    *,
    delay: float | None = None,
    connections: int | None = None,
    hours: str | None = None,
    left_alone: bool | None = None,
    why: str = "",
) -> HostOrders:
    """Change what is ordered for a host in the points that are given; 0 takes an order for delay or connections back."""
    if hours:
        parse_hours(hours, zone_of(house.settings))
    if delay is not None and not 0 <= delay <= 86_400:
        raise SettingsError(f"a delay of {delay:g} seconds: give 0 to 86,400")
    if connections is not None and not 0 <= connections <= 32:
        raise SettingsError(f"{connections} connections: give 0 to 32")
    now = utc_now()
    changed = replace(
        orders,
        delay=orders.delay if delay is None else (delay or None),
        connections=orders.connections if connections is None else (connections or None),
        hours=orders.hours if hours is None else hours.strip(),
        left_alone=orders.left_alone if left_alone is None else left_alone,
        why=why.strip()[:200] if left_alone is not None else orders.why,
        changed_at=now,
    )
    house.catalogue.order(host_id, changed, rules=HouseLeaseRules(), now=now)
    return changed


def _report(house: House, facts: HostFacts) -> HostReport:
    settings, row = house.settings.fetch, facts.row
    special = settings.for_host(host_name(row.origin))
    politeness = politeness_for(
        row.origin, facts.orders, settings=settings, time_zone=zone_of(house.settings), strain=row.strain
    )
    rules = _rules(facts, settings)
    asked = rules.crawl_delay if rules else None
    pace = politeness.pace.asking(min(asked or 0.0, settings.max_delay))
    return HostReport(
        facts=facts,
        delay=pace.usual,
        connections=politeness.connections,
        hours=facts.orders.hours or (special.hours if special else ""),
        asked_delay=asked,
        rules=rules.group_text if rules else "",
        robots=_robots(facts, settings),
        robots_waits_until=_waits_until(facts, settings) if rules and rules.deferred else None,
        verifies_tls=special is None or special.verify_tls,
        uses_proxy=bool(special and special.proxy),
        extra_headers=tuple(special.headers) if special else (),
        state=_state(facts, politeness.left_alone),
        advice=tuple(_advice(facts, house)),
    )


def _rules(facts: HostFacts, settings: FetchSettings) -> RobotRules | None:
    if facts.robots_status is None or facts.robots_at is None:
        return None
    robots = Robots(
        status=facts.robots_status,
        text=facts.robots_text,
        fetched_at=facts.robots_at,
        failing_since=facts.robots_failing_since,
    )
    return RobotRules(robots, unreachable=settings.robots_unreachable)


def _waits_until(facts: HostFacts, settings: FetchSettings) -> datetime | None:
    since = facts.robots_failing_since or facts.robots_at
    return since + timedelta(seconds=settings.robots_unreachable) if since else None


def _robots(facts: HostFacts, settings: FetchSettings) -> str:
    if facts.robots_at is None or facts.robots_status is None:
        return "not asked for yet"
    answered = f"status {facts.robots_status}" if facts.robots_status else "no answer"
    sentence = f"{answered}, {_second(facts.robots_at)}"
    rules, until = _rules(facts, settings), _waits_until(facts, settings)
    if facts.robots_failing_since is None or rules is None or until is None:
        return sentence
    sentence += f"; it can't be had since {_second(facts.robots_failing_since)}"
    if rules.deferred:
        return f"{sentence}, and until it can, or until {_second(until)}, no page there is visited"
    known = "by the rules that it had before" if facts.robots_text else "as if there were none"
    return f"{sentence}, and the host is visited {known} since {_second(until)}"


def _times(number: int) -> str:
    return f"{number:,} time{'' if number == 1 else 's'}"


def _second(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _state(facts: HostFacts, left_alone: str) -> str:
    row = facts.row
    ready = _second(row.ready_at) if row.ready_at else ""
    if left_alone:
        return f"left alone {left_alone}"
    match row.state:
        case HostState.VISITED:
            return f"being visited by {facts.worker}"
        case HostState.READY:
            return "ready: its turn comes next"
        case HostState.WAITING | HostState.IDLE if ready and explain_wait(row):
            return f"waits until {ready}: {explain_wait(row)}"
        case HostState.WAITING:
            return f"waits until {ready}, when the next page is due"
        case _ if ready:
            return f"nothing is due there before {ready}"
        case _:
            return "nothing is due there"


def _advice(facts: HostFacts, house: House) -> list[str]:
    advice = []
    others = len(facts.neighbours)
    if others + 1 >= NEIGHBOURS and not house.settings.fetch.by_address:
        advice.append(
            f"{others} other hosts are at its address {facts.row.address}. If that is one small server, set "
            "fetch.by_address = true, so that they share one pace; if it is a CDN, name its network in fetch.cdns."
        )
    if facts.row.failures:
        failed = _times(facts.row.failures)
        advice.append(f"It failed {failed} in a row; it is tried less and less often until it answers.")
    if facts.row.strain > 1:
        advice.append(f"It was overloaded: the pause is up to {facts.row.strain:.1f} times as long as usual for now.")
    return advice

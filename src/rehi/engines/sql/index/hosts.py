"""Hosts as people look at them: how each fares, and what is ordered for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, case, func, or_, select

from rehi.engines.sql.dialects.dialect import Dialect
from rehi.engines.sql.frontier.hosts import ORDER_COLUMNS, host_is, to_orders
from rehi.engines.sql.statements.values import from_micros, storable, to_micros
from rehi.engines.sql.tables import host, orders, pace_group, resource, robots, visit
from rehi.model.host import HostFacts, HostRow, HostTimes, VisitRow
from rehi.model.listing import Page

_VISITS = 20
_NEIGHBOURS = 1000
_RULES = (robots.c.status, robots.c.text, robots.c.fetched_at, robots.c.failing_since)
_TROUBLE = or_(host.c.failures > 0, host.c.strain > 1)
_ROWS = select(
    host,
    pace_group.c.lease_until.label("group_until"),
    pace_group.c.not_before.label("group_not_before"),
).outerjoin(pace_group, pace_group.c.name == host.c.pace_group)


def list_hosts(connection: Connection, dialect: Dialect, name: str, page: Page) -> tuple[Sequence[HostRow], int]:
    """Return hosts with this in their names, those in trouble first, and how many there are in all."""
    conditions = [dialect.holds(host.c.name, storable(name).strip().lower())] if name.strip() else []
    query = _ROWS.where(*conditions).order_by(case((_TROUBLE, 0), else_=1), host.c.name, host.c.origin)
    rows = connection.execute(query.limit(page.limit).offset(page.offset)).all()
    counts = _count_resources(connection, [row.id for row in rows])
    now = dialect.clock(connection)
    total = connection.execute(select(func.count()).select_from(host).where(*conditions)).scalar_one()
    return [_to_row(row, counts.get(row.id, 0), now=now) for row in rows], total


def find_host(connection: Connection, name: str, *, now: datetime) -> Sequence[HostFacts]:
    """Return all that is known of the origins of a host."""
    facts = _ROWS.add_columns(*_RULES, *ORDER_COLUMNS)
    facts = facts.outerjoin(robots, robots.c.host_id == host.c.id).outerjoin(orders, orders.c.host_id == host.c.id)
    rows = connection.execute(facts.where(host_is(name)).order_by(host.c.name, host.c.origin)).all()
    counts = _count_resources(connection, [row.id for row in rows])
    return [_to_facts(connection, row, _to_row(row, counts.get(row.id, 0), now=now), now=now) for row in rows]


def _count_resources(connection: Connection, hosts: Sequence[int]) -> dict[int, int]:
    query = select(resource.c.host_id, func.count().label("n")).group_by(resource.c.host_id)
    rows = connection.execute(query.where(resource.c.host_id.in_(hosts))) if hosts else ()
    return {row.host_id: row.n for row in rows}


def _to_row(row: Any, resources: int, *, now: datetime) -> HostRow:
    times = HostTimes(
        left_alone=bool(row.left_alone),
        leased_until=from_micros(row.lease_until),
        ready_at=from_micros(row.ready_at),
        not_before=from_micros(row.not_before),
        why=row.why,
        pace_group=row.pace_group,
        group_until=from_micros(max(row.group_until or 0, row.group_not_before or 0)),
    )
    state, ready_at, why = times.state_at(now)
    return HostRow(
        host_id=row.id,
        origin=row.origin,
        state=state,
        why=why,
        ready_at=ready_at,
        resources=resources,
        delay=row.delay,
        strain=row.strain,
        failures=row.failures,
        address=row.address,
    )


def _to_facts(connection: Connection, row: Any, shown: HostRow, *, now: datetime) -> HostFacts:
    due = (
        select(func.count())
        .select_from(resource)
        .where(resource.c.host_id == row.id, resource.c.due_at <= to_micros(now))
    )
    return HostFacts(
        row=shown,
        orders=to_orders(row),
        due=connection.execute(due).scalar_one(),
        robots_status=row.status,
        robots_text=row.text or "",
        robots_at=from_micros(row.fetched_at),
        robots_failing_since=from_micros(row.failing_since),
        worker=row.worker or "" if row.lease_until > to_micros(now) and not row.left_alone else "",
        neighbours=_neighbours(connection, row),
        visits=_newest_visits(connection, row.id),
    )


def _neighbours(connection: Connection, row: Any) -> tuple[str, ...]:
    if not row.address:
        return ()
    query = select(host.c.origin).where(host.c.address == row.address, host.c.id != row.id)
    return tuple(connection.execute(query.order_by(host.c.name, host.c.origin).limit(_NEIGHBOURS)).scalars())


def _newest_visits(connection: Connection, host_id: int) -> tuple[VisitRow, ...]:
    """Return the newest visits to a host. They are among those of the resources that were visited last."""
    last: Select[Any] = select(resource.c.id, resource.c.url).where(resource.c.host_id == host_id)
    last = last.where(resource.c.visited_at.is_not(None)).order_by(resource.c.visited_at.desc()).limit(_VISITS)
    visits: list[VisitRow] = []
    for page in connection.execute(last).all():
        query = select(visit).where(visit.c.resource_id == page.id).order_by(visit.c.at.desc()).limit(_VISITS)
        visits += [_to_visit(page.url, row) for row in connection.execute(query)]
    return tuple(sorted(visits, key=lambda seen: seen.at, reverse=True)[:_VISITS])


def _to_visit(url: str, row: Any) -> VisitRow:
    return VisitRow(
        url=url,
        at=from_micros(row.at),
        outcome=row.outcome,
        status=row.status,
        seconds=row.seconds,
        size=row.size,
    )

"""Orders: what an operator has ordered for hosts, and what follows from it at once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, select, update

from rehi.engines.sql.frontier.hosts import postpone_hosts
from rehi.engines.sql.statements.bulk import Upsert, newest
from rehi.engines.sql.statements.values import from_micros, span, storable, to_micros
from rehi.engines.sql.tables import host, orders, pace_group
from rehi.errors import NotFound
from rehi.model.host import NO_ORDERS, HostOrders

_COLUMNS = ("delay", "connections", "hours", "left_alone", "why", "changed_at")
_ENTER = Upsert(orders, ("host_id", *_COLUMNS), unique=("host_id",), change=newest(_COLUMNS))
ORDER_COLUMNS = tuple(orders.c[name].label(f"order_{name}") for name in _COLUMNS)


def to_orders(row: Any) -> HostOrders:
    """Return a row with ``ORDER_COLUMNS`` as orders."""
    if row.order_changed_at is None:
        return NO_ORDERS
    return HostOrders(
        delay=row.order_delay,
        connections=row.order_connections,
        hours=row.order_hours,
        left_alone=bool(row.order_left_alone),
        why=row.order_why,
        changed_at=from_micros(row.order_changed_at),
    )


def orders_since(connection: Connection, since: int) -> Mapping[int, HostOrders]:
    """Return what was ordered after a moment, by host id."""
    query = select(orders.c.host_id, *ORDER_COLUMNS).where(orders.c.changed_at > since)
    return {row.host_id: to_orders(row) for row in connection.execute(query)}


def keep_orders(connection: Connection, host_id: int, given: HostOrders, *, now: datetime) -> None:
    """Store orders; a lease on a host that is to be left alone ends, and one that is not so any more is ready again."""
    query = select(host.c.token, host.c.delay, host.c.pace_group).where(host.c.id == host_id)
    row = connection.execute(query.with_for_update(key_share=True)).one_or_none()
    if row is None:
        raise NotFound(f"there is no host {host_id}")
    _ENTER.run(connection, [_row(host_id, given, now)])
    connection.execute(update(host).where(host.c.id == host_id).values(left_alone=int(given.left_alone)))
    if given.left_alone and row.token is not None:
        _end_lease(connection, host_id, row, pause_until=to_micros(now) + span(row.delay))
    postpone_hosts(connection, [host_id])


def _end_lease(connection: Connection, host_id: int, row: Any, *, pause_until: int) -> None:
    """Free the host and its pace group, but for the pause after a request that may be under way."""
    later = case((host.c.not_before > pause_until, host.c.not_before), else_=pause_until)
    values = {"token": None, "worker": None, "lease_until": 0, "not_before": later}
    connection.execute(update(host).where(host.c.id == host_id).values(values))
    held = update(pace_group).where(pace_group.c.name == row.pace_group, pace_group.c.token == row.token)
    connection.execute(held.values(token=None, lease_until=0, not_before=pause_until))


def _row(host_id: int, given: HostOrders, now: datetime) -> dict[str, Any]:
    return {
        "host_id": host_id,
        "delay": given.delay,
        "connections": given.connections,
        "hours": storable(given.hours),
        "left_alone": int(given.left_alone),
        "why": storable(given.why),
        "changed_at": to_micros(now),
    }

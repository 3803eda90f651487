"""Leases: hosts taken with their due tasks, kept for longer, and lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, update

from rehi.engines.sql.dialects.dialect import Dialect
from rehi.engines.sql.frontier.hosts import ORDER_COLUMNS, postpone_hosts, to_orders
from rehi.engines.sql.frontier.pace_groups import HOLD_GROUP, free_groups, renew_groups
from rehi.engines.sql.ledger.bodies import to_ref
from rehi.engines.sql.sources.findings import orders_of
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, chunks, fetch_all
from rehi.engines.sql.statements.values import from_micros
from rehi.engines.sql.tables import host, pace_group
from rehi.model.claims import SourceOrders
from rehi.model.host import Probe
from rehi.model.version import Digest
from rehi.model.visit import HostLease, Robots, VisitTask

_FREE = {"token": None, "worker": None, "lease_until": 0}
_ORDERS = ", ".join(f"orders.{column.element.name} AS {column.name}" for column in ORDER_COLUMNS)
_HELD = SelectMany(
    f"""SELECT host.*, robots.status, robots.text, robots.fetched_at, robots.failing_since,
        probe.status AS probe_status, probe.likeness AS fingerprint, probe.at AS probe_at, {_ORDERS} FROM host LEFT JOIN robots ON robots.host_id = host.id
        LEFT JOIN probe ON probe.host_id = host.id LEFT JOIN orders ON orders.host_id = host.id""",  # noqa: S608
    "host.id",
    "bigint",
)
_TAKE = BulkUpdate(
    host,
    {"id": "bigint", "token": "text", "worker": "text", "until": "bigint"},
    {"token": "new.token", "worker": "new.worker", "lease_until": "new.until", "leases": "leases + 1"},
    where="host.id = new.id",
)


_LATER = "CASE WHEN {0} < new.ready THEN new.ready ELSE {0} END"
FORGET_HOSTS = BulkUpdate(
    host,
    {"id": "bigint", "ready": "bigint"},
    {
        "token": "NULL", "worker": "NULL", "lease_until": "0",
        "not_before": _LATER.format("host.not_before"), "ready_at": _LATER.format("host.ready_at"),
    },
    where="host.id = new.id",
)  # fmt: skip


def take_hosts(
    connection: Connection, dialect: Dialect, *, worker: str, hosts: int, until: int, now: int
) -> dict[int, str]:
    """Lease hosts that are ready, and return each with the token of its lease; what is due there is looked up afterwards.

    So others wait for the time of a few rows. Eight processes on one SQLite file, on a busy machine: the median of a call
    for 32 hosts was 148 ms with the tasks inside, and 73 ms so.
    """
    taken: dict[int, str] = {}
    while len(taken) < hosts:
        ready = fetch_all(connection, dialect.ready_hosts, {"now": now, "limit": hosts - len(taken)})
        # Counted, not random: no two leases of a host ever have the same token.
        tokens = {row: f"{worker}/{row.id}/{row.leases + 1}" for row in _one_of_each_group(connection, ready, now=now)}
        if not tokens:
            break  # none is ready, or others are just taking the groups of all that are
        _TAKE.run(connection, [(row.id, token, worker, until) for row, token in tokens.items()])
        held = sorted((row.pace_group, token, until) for row, token in tokens.items() if row.pace_group)
        HOLD_GROUP.run(connection, held)
        taken |= {row.id: token for row, token in tokens.items()}
    return taken


def _one_of_each_group(connection: Connection, ready: Sequence[Any], *, now: int) -> list[Any]:
    grouped: dict[str, Any] = {}
    for row in ready:
        if row.pace_group:
            grouped.setdefault(row.pace_group, row)
    free = free_groups(connection, grouped, now=now) if grouped else set()
    return [row for row in ready if not row.pace_group or (row.pace_group in free and grouped[row.pace_group] == row)]


def fill_leases(
    connection: Connection, dialect: Dialect, taken: Mapping[int, str], *, urls: int, now: int
) -> list[HostLease]:
    """Return leases of hosts that were taken, with their due tasks; without those that have none, or were lost already."""
    tasks: defaultdict[int, list[VisitTask]] = defaultdict(list)
    due = dialect.due_tasks(connection, list(taken), now=now, limit=urls)
    orders = orders_of(connection, [row.id for row in due])
    for row in due:
        tasks[row.host_id].append(_to_task(row, orders.get(row.id, ())))
    held = {row.id: row for row in _HELD.run(connection, list(taken)) if row.token == taken[row.id]}
    return [_to_lease(held[host_id], tasks[host_id]) for host_id in taken if host_id in held and host_id in tasks]


def put_back(connection: Connection, idle: Mapping[int, str]) -> None:
    """Give back hosts on which nothing is due, until something is."""
    for chunk in chunks(sorted(idle)):
        mine = host.c.id.in_(chunk) & host.c.token.in_([idle[host_id] for host_id in chunk])
        connection.execute(update(host).where(mine).values(_FREE))
        held = update(pace_group).where(pace_group.c.token.in_([idle[host_id] for host_id in chunk]))
        connection.execute(held.values(token=None, lease_until=0))
    postpone_hosts(connection, idle)


def renew_leases(connection: Connection, leases: Sequence[HostLease], *, until: int) -> list[int]:
    """Prolong leases, and return the ids of the hosts whose lease was lost."""
    lost = {lease.host_id for lease in leases}
    groups: dict[str, str] = {}  # by token
    members: dict[str, int] = {}
    for part in chunks(sorted(leases, key=lambda lease: lease.host_id)):
        mine = host.c.id.in_([lease.host_id for lease in part]) & host.c.token.in_([lease.token for lease in part])
        kept = update(host).where(mine).values(lease_until=until).returning(host.c.id, host.c.token, host.c.pace_group)
        for row in connection.execute(kept):
            lost.discard(row.id)
            if row.pace_group:
                groups[row.token], members[row.token] = row.pace_group, row.id
    held = renew_groups(connection, groups, until=until)
    # The lease had ended, and somebody else has begun with another host of the group.
    late = [row for token, row in members.items() if token not in held]
    for chunk in chunks(late):
        connection.execute(update(host).where(host.c.id.in_(chunk)).values(_FREE))
    return sorted(lost.union(late))


def _to_lease(row: Any, tasks: Sequence[VisitTask]) -> HostLease:
    known = row.fetched_at is not None
    asked = row.probe_at is not None
    return HostLease(
        host_id=row.id,
        origin=row.origin,
        token=row.token,
        until=from_micros(row.lease_until),
        delay=row.delay,
        robots=_to_robots(row) if known else None,
        tasks=tuple(tasks),
        failures=row.failures,
        strain=row.strain,
        address=row.address,
        history=row.history or b"",
        probe=Probe(status=row.probe_status, fingerprint=row.fingerprint, at=from_micros(row.probe_at))
        if asked
        else None,
        orders=to_orders(row),
    )


def _to_robots(row: Any) -> Robots:
    return Robots(
        status=row.status,
        text=row.text,
        fetched_at=from_micros(row.fetched_at),
        failing_since=from_micros(row.failing_since),
    )


def _to_task(row: Any, sources: tuple[SourceOrders, ...]) -> VisitTask:
    pruned = row.dropped_at is not None
    return VisitTask(
        resource_id=row.id,
        source_id=row.source_id or 0,
        url=row.url,
        digest=Digest(row.digest) if row.digest else None,
        body=None if pruned else to_ref(row.file, row.offset, row.length),
        etag=row.etag,
        last_modified=row.last_modified,
        media_type=row.media_type,
        failures=row.failures,
        failing_since=from_micros(row.failing_since),
        visited_at=from_micros(row.visited_at),
        hops=row.hops,
        history=row.history or b"",
        sources=sources,
        pruned=pruned,
    )

"""Hosts: made from origins, woken when something is due, given back after a visit, remembered, and given orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, case, or_, select, update

from rehi.engines.sql.frontier.pace_groups import leave_groups
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, Upsert, chunks, newest
from rehi.engines.sql.statements.values import from_micros, key_of, storable, to_micros
from rehi.engines.sql.tables import host, orders, pace_group, probe, robots
from rehi.errors import NotFound
from rehi.model.host import NO_ORDERS, HostOrders
from rehi.model.work import HostProfile, HostRelease
from rehi.ports import LeaseRules

_ORDERS = ("delay", "connections", "hours", "left_alone", "why", "changed_at")
_KEEP_ORDERS = Upsert(orders, ("host_id", *_ORDERS), unique=("host_id",), change=newest(_ORDERS))
ORDER_COLUMNS = tuple(orders.c[name].label(f"order_{name}") for name in _ORDERS)
_ENTER = Upsert(host, ("key", "origin", "name"), unique=("key",))
_WAKE_AT = case((host.c.not_before > bindparam("due"), host.c.not_before), else_=bindparam("due"))
_WAKE_TOGETHER = (
    update(host)
    .where(
        host.c.id.in_(bindparam("hosts", expanding=True)),
        host.c.left_alone == 0,
        or_(host.c.ready_at.is_(None), host.c.ready_at > _WAKE_AT),
    )
    .values(ready_at=_WAKE_AT)
)
_WAKE = BulkUpdate(
    host,
    {"id": "bigint", "due": "bigint"},
    {"ready_at": "CASE WHEN host.not_before > new.due THEN host.not_before ELSE new.due END"},
    where="""host.id = new.id AND host.left_alone = 0 AND (host.ready_at IS NULL
        OR host.ready_at > CASE WHEN host.not_before > new.due THEN host.not_before ELSE new.due END)""",
)
# Without an aggregate, since SQLite would read all URLs of the host for it.
_NEXT_DUE = "(SELECT due_at FROM resource WHERE host_id = host.id AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)"


def _ready_after(moment: str) -> str:
    return f"CASE WHEN {_NEXT_DUE} > {moment} THEN {_NEXT_DUE} WHEN {_NEXT_DUE} <= {moment} THEN {moment} END"


_RELEASE = BulkUpdate(
    host,
    {
        "id": "bigint", "token": "text", "ready": "bigint", "delay": "float8", "failures": "bigint", "why": "text",
        "strain": "float8", "address": "text", "pace_group": "text", "history": "bytea",
    },
    {
        "token": "NULL", "worker": "NULL", "lease_until": "0", "delay": "new.delay", "not_before": "new.ready",
        "failures": "new.failures", "why": "new.why", "strain": "new.strain", "pace_group": "new.pace_group",
        "address": "CASE WHEN new.address = '' THEN host.address ELSE new.address END",
        "history": "COALESCE(new.history, host.history)",
        "ready_at": _ready_after("new.ready"),
    },
    where="host.id = new.id AND host.token = new.token",
)  # fmt: skip
_IDS = SelectMany("SELECT id, origin FROM host", "key", "bytea")
_LOCK = SelectMany("SELECT id, token, pace_group FROM host", "id", "bigint", order="id", lock="FOR NO KEY UPDATE")
_POSTPONE = BulkUpdate(
    host,
    {"id": "bigint"},
    {"ready_at": f"CASE WHEN host.left_alone = 0 THEN {_ready_after('host.not_before')} END"},
    where="host.id = new.id",
)

_ROBOTS = ("status", "text", "fetched_at", "failing_since")
_KEEP_ROBOTS = Upsert(robots, ("host_id", *_ROBOTS), unique=("host_id",), change=newest(_ROBOTS))
_PROBE = ("status", "likeness", "at")
_KEEP_PROBE = Upsert(probe, ("host_id", *_PROBE), unique=("host_id",), change=newest(_PROBE))


def origin_of(url: str) -> str:
    """Return the scheme, host and port of a normalised URL. By hand, for it is done for each line of a log."""
    start = url.find("://") + 3
    end = url.find("/", start)
    origin = url if end < 0 else url[:end]
    if "@" in origin:
        return origin[:start] + origin.rpartition("@")[2]
    return origin


def host_is(name: str) -> ColumnElement[bool]:
    """Return the condition that a host has this name, on any port and with any scheme unless they are given."""
    wanted = storable(name).strip().lower().rstrip("/")
    if "://" in wanted:
        return host.c.origin == wanted
    return or_(host.c.name == wanted, host.c.name.startswith(f"{wanted}:", autoescape=True))


def ensure_hosts(connection: Connection, origins: Iterable[str]) -> dict[str, int]:
    """Return the ids of origins; those that are new are entered."""
    keys = {key_of(origin): origin for origin in origins}
    ids = {row.origin: row.id for row in _IDS.run(connection, keys)}
    missing = sorted(key for key, origin in keys.items() if origin not in ids)
    if missing:
        _ENTER.run(connection, [(key, keys[key], keys[key].partition("://")[2]) for key in missing])
        ids |= {row.origin: row.id for row in _IDS.run(connection, missing)}
    return ids


def wake_together(connection: Connection, host_ids: Iterable[int], due: int) -> None:
    """Let many hosts be ready at one time, though not before politeness allows."""
    for chunk in chunks(sorted(host_ids)):
        connection.execute(_WAKE_TOGETHER, {"hosts": chunk, "due": due})


def postpone_hosts(connection: Connection, host_ids: Iterable[int]) -> None:
    """Let hosts be ready when the next of their URLs is due."""
    _POSTPONE.run(connection, [(host_id,) for host_id in sorted(host_ids)])


def settle_hosts(
    connection: Connection, due: Mapping[int, int], released: Sequence[HostRelease], *, now: datetime
) -> None:
    """Wake hosts on which something is due, and take leases back from those who still hold them.

    All rows are locked first and in one order, so that no two transactions wait for each other crosswise.
    """
    given = {release.host_id: release for release in released}
    rows = _LOCK.run(connection, sorted({*due, *given}))
    held = {row.id: row.pace_group for row in rows if row.id in given and row.token == given[row.id].token}
    # A host that is given back is ready when something is due, without being woken.
    _WAKE.run(connection, [(row.id, due[row.id]) for row in rows if row.id in due and row.id not in held])
    _RELEASE.run(connection, [_release_row(given[host_id]) for host_id in held])
    grouped = [given[host_id] for host_id, group in held.items() if group or given[host_id].pace_group]
    if grouped:
        leave_groups(connection, grouped, held, now=now)


def _release_row(release: HostRelease) -> tuple[Any, ...]:
    return (
        release.host_id,
        release.token,
        to_micros(release.ready_at),
        float(release.delay),
        release.failures,
        storable(release.why),
        float(release.strain),
        storable(release.address),
        storable(release.pace_group),
        release.history or None,
    )


def keep_profiles(connection: Connection, profiles: Iterable[HostProfile]) -> None:
    """Remember the newest robots.txt and probe of each host."""
    rules, probes = {}, {}
    for profile in sorted(profiles, key=lambda profile: profile.host_id):
        if (rule := profile.robots) is not None:
            moments = to_micros(rule.fetched_at), to_micros(rule.failing_since)
            rules[profile.host_id] = (profile.host_id, rule.status, storable(rule.text), *moments)
        if (answer := profile.probe) is not None:
            probes[profile.host_id] = (profile.host_id, answer.status, answer.fingerprint, to_micros(answer.at))
    _KEEP_ROBOTS.run(connection, list(rules.values()))
    _KEEP_PROBE.run(connection, list(probes.values()))


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


def keep_orders(connection: Connection, host_id: int, given: HostOrders, rules: LeaseRules, *, now: datetime) -> None:
    """Store orders; a lease on a host that is to be left alone ends, and one that is not so any more is ready again."""
    query = select(host.c.token, host.c.delay, host.c.pace_group).where(host.c.id == host_id)
    row = connection.execute(query.with_for_update(key_share=True)).one_or_none()
    if row is None:
        raise NotFound(f"there is no host {host_id}")
    hours, why = storable(given.hours), storable(given.why)
    ordered = (host_id, given.delay, given.connections, hours, int(given.left_alone), why, to_micros(now))
    _KEEP_ORDERS.run(connection, [ordered])
    connection.execute(update(host).where(host.c.id == host_id).values(left_alone=int(given.left_alone)))
    if given.left_alone and row.token is not None:
        _end_lease(connection, host_id, row, pause_until=to_micros(rules.ready_after_loss(row.delay, now)))
    postpone_hosts(connection, [host_id])


def _end_lease(connection: Connection, host_id: int, row: Any, *, pause_until: int) -> None:
    """Free the host and its pace group, but for the pause after a request that may be under way."""
    later = case((host.c.not_before > pause_until, host.c.not_before), else_=pause_until)
    values = {"token": None, "worker": None, "lease_until": 0, "not_before": later}
    connection.execute(update(host).where(host.c.id == host_id).values(values))
    held = update(pace_group).where(pace_group.c.name == row.pace_group, pace_group.c.token == row.token)
    connection.execute(held.values(token=None, lease_until=0, not_before=pause_until))

"""Pace groups: hosts of which one at a time is leased, as those on one small server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, String, bindparam, select, text, update

from rehi.engines.sql.statements.driver import BulkUpdate, Upsert, chunks, larger, select_in_chunks
from rehi.engines.sql.statements.values import storable, to_micros
from rehi.engines.sql.tables import pace_group
from rehi.model.work import HostRelease

_ENTER = Upsert(
    pace_group, ("name", "not_before"), unique=("name",), change={"not_before": larger(pace_group, "not_before")}
)
HOLD_GROUP = BulkUpdate(  # by a lease's token, if it was found free
    pace_group,
    {"name": "text", "token": "text", "until": "bigint"},
    {"token": "new.token", "lease_until": "new.until"},
    where="pace_group.name = new.name",
)
_LEAVE = BulkUpdate(
    pace_group,
    {"name": "text", "token": "text", "ready": "bigint"},
    {
        "token": "NULL", "lease_until": "0",
        "not_before": "CASE WHEN new.ready > pace_group.not_before THEN new.ready ELSE pace_group.not_before END",
    },
    where="pace_group.name = new.name AND pace_group.token = new.token",
)  # fmt: skip
# What a worker's leases hold, before they are forgotten.
FORGET_GROUPS = text("""
    UPDATE pace_group SET token = NULL, lease_until = 0
    WHERE token IN (SELECT token FROM host WHERE worker = :worker AND token NOT IN :tokens)
""").bindparams(bindparam("tokens", type_=String, expanding=True))
# When a host of each group can next be leased: at the latest of three moments.
NEXT_OF_GROUPS = text("""
    SELECT g.not_before, g.lease_until,
        min(CASE WHEN h.lease_until > h.ready_at THEN h.lease_until ELSE h.ready_at END) AS ready_at
    FROM pace_group g JOIN host h ON h.pace_group = g.name AND h.pace_group <> ''
    WHERE h.ready_at IS NOT NULL GROUP BY g.name, g.not_before, g.lease_until
""")


def free_groups(connection: Connection, names: Iterable[str], *, now: int) -> set[str]:
    """Lock and return the groups that nobody holds; those that another worker is just taking are passed over."""
    query = select(pace_group.c.name).where(pace_group.c.lease_until <= now, pace_group.c.not_before <= now)
    query = query.order_by(pace_group.c.name).with_for_update(key_share=True, skip_locked=True)
    rows = select_in_chunks(connection, sorted(names), lambda part: query.where(pace_group.c.name.in_(part)))
    return {row.name for row in rows}


def renew_groups(connection: Connection, groups: Mapping[str, str], *, until: int) -> set[str]:
    """Prolong the leases of groups, given by token; return the tokens that still hold theirs."""
    held: set[str] = set()
    for part in chunks(sorted(groups)):
        mine = pace_group.c.name.in_({groups[token] for token in part}) & pace_group.c.token.in_(part)
        kept = update(pace_group).where(mine).values(lease_until=until).returning(pace_group.c.token)
        held |= set(connection.execute(kept).scalars())
    return held


def leave_groups(
    connection: Connection, released: Sequence[HostRelease], groups: Mapping[int, str], *, now: datetime
) -> None:
    """Free the groups that hosts held, by host id, and enter those to which they belong from now on."""
    left: dict[str, tuple[Any, ...]] = {}
    ahead: dict[str, int] = {}
    for release in released:
        ready = to_micros(release.group_ready_at(now))
        if old := groups[release.host_id]:
            left[old] = (old, release.token, ready)
        if name := storable(release.pace_group):
            ahead[name] = max(ready, ahead.get(name, 0))
    if connection.dialect.name != "sqlite":
        query = select(pace_group.c.name).order_by(pace_group.c.name).with_for_update(key_share=True)
        names = sorted({*left, *ahead})
        select_in_chunks(connection, names, lambda part: query.where(pace_group.c.name.in_(part)))
    _LEAVE.run(connection, [row for _, row in sorted(left.items())])
    _ENTER.run(connection, sorted(ahead.items()))

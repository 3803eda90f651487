"""Due now: resources are made due at once, whatever their schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.hosts import host_is, wake_together
from rehi.engines.sql.sources.findings import has_source
from rehi.engines.sql.statements.driver import chunks
from rehi.engines.sql.statements.values import to_micros
from rehi.engines.sql.tables import host, resource

_HOST = select(resource.c.host_id)
_HOSTS = 200  # in one transaction, so that those who record visits meanwhile wait for a second, not for a minute


def let_be_due(database: Database, *, source_id: int | None, host_name: str, url: str, now: datetime) -> int:
    """Make all that matches due now, and return how many resources that are."""
    conditions: list[ColumnElement[bool]] = []
    if source_id is not None:
        conditions.append(has_source([source_id]))
    if url:
        conditions.append(database.dialect.url_in([url]))
    hosts = select(host.c.id).order_by(host.c.id)
    if host_name:
        hosts = hosts.where(host_is(host_name))
    elif url:
        hosts = hosts.where(host.c.id.in_(select(resource.c.host_id).where(*conditions)))
    ids = database.read(lambda connection: list(connection.execute(hosts).scalars()))
    at = to_micros(now)
    total = 0
    for part in chunks(ids, _HOSTS):
        total += database.write(partial(_let_be_due, hosts=part, conditions=conditions, at=at))
    return total


def _let_be_due(
    connection: Connection, hosts: Sequence[int], conditions: Sequence[ColumnElement[bool]], at: int
) -> int:
    matching = [resource.c.host_id.in_(hosts), *conditions]
    counted = select(resource.c.host_id, func.count().label("n")).where(*matching).group_by(resource.c.host_id)
    counts = {row.host_id: row.n for row in connection.execute(counted)}
    # What is due already keeps its place; locked in the order in which those who record visits do.
    later = select(resource.c.id).where(*matching, or_(resource.c.due_at.is_(None), resource.c.due_at > at))
    later = later.order_by(resource.c.id).with_for_update(key_share=True)
    connection.execute(update(resource).where(resource.c.id.in_(later)).values(due_at=at))
    wake_together(connection, counts, at)
    return sum(counts.values())


def make_resource_due(connection: Connection, resource_id: int, at: int, *, unless_visited: int) -> None:
    """Make one resource due, unless it is already, or was visited since a moment."""
    unvisited = or_(resource.c.visited_at.is_(None), resource.c.visited_at < unless_visited)
    later = or_(resource.c.due_at.is_(None), resource.c.due_at > at)
    connection.execute(update(resource).where(resource.c.id == resource_id, unvisited, later).values(due_at=at))
    hosts = connection.execute(_HOST.where(resource.c.id == resource_id, unvisited)).scalars().all()
    wake_together(connection, hosts, at)

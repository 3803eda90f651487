"""The frontier: hosts, leased with their due URLs, and what came of the visits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, text, update

from rehi.engines.sql.database import Database, run_many
from rehi.engines.sql.files import to_ref
from rehi.engines.sql.hosts import postpone_hosts, release_hosts
from rehi.engines.sql.insertion import Insertion, newest
from rehi.engines.sql.moment import from_micros, maybe_from_micros, span, to_micros
from rehi.engines.sql.schema import host, outbox
from rehi.engines.sql.schema import robots as robots_table
from rehi.engines.sql.text import storable
from rehi.engines.sql.visits import record_visits
from rehi.model.version import Digest
from rehi.model.visit import HostLease, Robots, Visited, VisitTask
from rehi.model.work import HostRelease

_ROBOTS = ("status", "text", "fetched_at")
_KEEP_ROBOTS = Insertion(robots_table, ("host_id", *_ROBOTS), unique=("host_id",), change=newest(_ROBOTS))
_ANY_READY = text("SELECT 1 FROM host WHERE ready_at <= :now AND lease_until <= :now LIMIT 1")
_RENEW = text("UPDATE host SET lease_until = :until WHERE id = :host AND token = :token")
_NEXT_FREE = text("SELECT ready_at FROM host WHERE ready_at IS NOT NULL AND lease_until = 0 ORDER BY ready_at LIMIT 1")
_NEXT_EXPIRY = text("""
    SELECT min(CASE WHEN lease_until > ready_at THEN lease_until ELSE ready_at END) FROM host
    WHERE lease_until > 0 AND ready_at IS NOT NULL
""")


class SqlFrontier:
    """The port Frontier."""

    database: Database

    def lease(self, *, worker: str, hosts: int, urls: int, ttl: float, now: datetime) -> Sequence[HostLease]:
        """Up to ``hosts`` hosts that are ready, each with up to ``urls`` due tasks; nobody else gets them until ``ttl``."""
        at = to_micros(now)

        def work(connection: Connection) -> list[HostLease]:
            leases: list[HostLease] = []
            while len(leases) < hosts:
                dialect = self.database.dialect
                ready = dialect.ready_hosts(connection, now=at, limit=hosts - len(leases))
                if not ready:
                    break
                tasks: defaultdict[int, list[VisitTask]] = defaultdict(list)
                for row in dialect.due_tasks(connection, ready, now=at, limit=urls):
                    tasks[row.host_id].append(_to_task(row))
                postpone_hosts(connection, [row for row in ready if row not in tasks])
                found = {row: tasks[row] for row in ready if row in tasks}
                leases += _take(connection, found, worker=worker, until=at + span(ttl))
            return leases

        if self.database.read(lambda connection: connection.execute(_ANY_READY, {"now": at}).first()) is None:
            return []  # without waiting for those who write
        return self.database.write(work)

    def renew(self, leases: Sequence[HostLease], *, ttl: float, now: datetime) -> None:
        """Keep leases for longer, if they are still held."""
        until = to_micros(now) + span(ttl)
        rows = [{"host": lease.host_id, "token": lease.token, "until": until} for lease in sorted(leases, key=_host_of)]
        self.database.write(lambda connection: run_many(connection, _RENEW, rows))

    def record(self, visited: Sequence[Visited], released: Sequence[HostRelease], *, now: datetime) -> None:
        """One transaction: visits, versions, blobs, redirects, schedules, problems, read tasks, and leases given back."""

        def work(connection: Connection) -> None:
            if visited:
                record_visits(connection, self.database, visited, now)
            release_hosts(connection, released)

        self.database.write(work)

    def keep_robots(self, host_id: int, robots: Robots) -> None:
        """Remember a host's robots.txt."""
        row = {
            "host_id": host_id,
            "status": robots.status,
            "text": storable(robots.text),
            "fetched_at": to_micros(robots.fetched_at),
        }
        self.database.write(lambda connection: _KEEP_ROBOTS.enter(connection, [row]))

    def forget_leases(self, *, worker: str) -> None:
        """Give back all that a worker held, as when it starts again after it was killed."""

        def work(connection: Connection) -> None:
            free = {"token": None, "worker": None, "lease_until": 0}
            connection.execute(update(host).where(host.c.worker == worker).values(free))
            unclaimed = {"worker": None, "claimed_until": 0}
            connection.execute(update(outbox).where(outbox.c.worker == worker).values(unclaimed))

        self.database.write(work)

    def next_ready(self) -> datetime | None:
        """When a lease can next be had; None if nothing is ever due."""

        def work(connection: Connection) -> datetime | None:
            moments = [connection.execute(query).scalar() for query in (_NEXT_FREE, _NEXT_EXPIRY)]
            return maybe_from_micros(min((at for at in moments if at is not None), default=None))

        return self.database.read(work)


def _take(connection: Connection, tasks: dict[int, list[VisitTask]], *, worker: str, until: int) -> list[HostLease]:
    if not tasks:
        return []
    # Counted, not random: no two leases of a host ever have the same token.
    token = text("CAST(:taker AS text) || '/' || id || '/' || (leases + 1)").bindparams(taker=worker)
    taken = update(host).where(host.c.id.in_(list(tasks)))
    connection.execute(taken.values(token=token, worker=worker, lease_until=until, leases=host.c.leases + 1))
    query = select(host, robots_table.c.status, robots_table.c.text, robots_table.c.fetched_at)
    query = query.outerjoin(robots_table).where(host.c.id.in_(list(tasks)))
    rows = {row.id: row for row in connection.execute(query)}
    return [_to_lease(rows[host_id], found) for host_id, found in tasks.items()]


def _host_of(lease: HostLease) -> int:
    return lease.host_id


def _to_lease(row: Any, tasks: Sequence[VisitTask]) -> HostLease:
    known = row.fetched_at is not None
    return HostLease(
        host_id=row.id,
        origin=row.origin,
        token=row.token,
        until=from_micros(row.lease_until),
        delay=row.delay,
        robots=Robots(status=row.status, text=row.text, fetched_at=from_micros(row.fetched_at)) if known else None,
        tasks=tuple(tasks),
    )


def _to_task(row: Any) -> VisitTask:
    return VisitTask(
        resource_id=row.id,
        source_id=row.source_id or 0,
        url=row.url,
        digest=Digest(row.digest) if row.digest else None,
        body=to_ref(row.file, row.offset, row.length),
        etag=row.etag,
        last_modified=row.last_modified,
        failures=row.failures,
        hops=row.hops,
    )

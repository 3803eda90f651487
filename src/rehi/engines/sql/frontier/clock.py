"""A clock that was set: leases, rests and failures that were dated by the wrong time are corrected."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, case, func, literal, select, update

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.frontier.hosts import postpone_hosts
from rehi.engines.sql.statements.values import to_micros
from rehi.engines.sql.tables import host, outbox, pace_group, resource, robots
from rehi.engines.sql.tables import worker as workers

_NOTICED = 5_000_000  # microseconds by which a worker's last sign may be ahead: clocks are set in small steps
_DAY = 86_400_000_000


class SqlClock:
    """The methods of the port Frontier for a clock that was set."""

    database: Database

    @transaction
    def settle_clock(
        self, connection: Connection, *, worker: str, now: datetime, lease: float, rest: float
    ) -> timedelta:
        """Return how far the clock has gone back since a worker was last seen, and let nothing wait for the old time.

        What was planned since then is early by as much. This worker is seen now, before it plans anything by this clock:
        it may be killed before it signs.
        """
        at = to_micros(now)
        last = connection.execute(select(func.max(workers.c.seen_at))).scalar() or 0
        ahead = last - at if last - at > _NOTICED else 0
        if ahead:
            connection.execute(update(workers).where(workers.c.seen_at > at).values(seen_at=at))
            connection.execute(update(workers).where(workers.c.ended_at > at).values(ended_at=at))
        seen = update(workers).where(workers.c.name == worker, workers.c.seen_at < at)
        connection.execute(seen.values(seen_at=at))
        _shorten_rests(connection, at=at, ahead=ahead, longest=to_micros(now + timedelta(seconds=rest)))
        _end_leases(connection, beyond=to_micros(now + timedelta(seconds=lease)))
        if ahead > _DAY:  # what is due an hour late is not worth the writing
            planned = resource.c.due_at > last
            hosts = connection.execute(select(resource.c.host_id).where(planned).distinct()).scalars().all()
            connection.execute(update(resource).where(planned).values(due_at=resource.c.due_at - ahead))
            postpone_hosts(connection, hosts)
        return timedelta(microseconds=ahead)

    @transaction
    def forgive(self, connection: Connection, *, by: timedelta) -> None:
        """Let pages and hosts that fail have failed for so much less: the clock has jumped ahead."""
        for table in (resource, robots):
            failing = update(table).where(table.c.failing_since.is_not(None))
            later = table.c.failing_since + by // timedelta(microseconds=1)
            connection.execute(failing.values(failing_since=later))


def _shorten_rests(connection: Connection, *, at: int, ahead: int, longest: int) -> None:
    resting = host.c.not_before > (at if ahead else longest)
    ids = connection.execute(select(host.c.id).where(resting)).scalars().all()
    for table in (host, pace_group):
        earlier = table.c.not_before - ahead
        value = case((earlier < at, literal(at)), (earlier > longest, literal(longest)), else_=earlier)
        later = table.c.not_before > (at if ahead else longest)
        connection.execute(update(table).where(later).values(not_before=value))
    postpone_hosts(connection, ids)


def _end_leases(connection: Connection, *, beyond: int) -> None:
    free = {"token": None, "lease_until": 0}
    connection.execute(update(host).where(host.c.lease_until > beyond).values(free | {"worker": None}))
    connection.execute(update(pace_group).where(pace_group.c.lease_until > beyond).values(free))
    claimed = update(outbox).where(outbox.c.claimed_until > beyond)
    connection.execute(claimed.values(worker=None, claimed_until=0))

"""A clock that was set: leases, rests and failures that were dated by the wrong time are corrected."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, case, func, literal, select, update

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.frontier.hosts import postpone_hosts
from rehi.engines.sql.statements.values import from_micros, to_micros
from rehi.engines.sql.tables import host, outbox, pace_group, resource, robots
from rehi.engines.sql.tables import worker as signs
from rehi.ports import LeaseRules

_MICROSECOND = timedelta(microseconds=1)


class SqlClock:
    """The methods of the port Frontier for a clock that was set."""

    database: Database

    @transaction
    def settle_clock(self, connection: Connection, *, worker: str, rules: LeaseRules, now: datetime) -> timedelta:
        """Shorten rests and end leases that lie further ahead than the rules allow; return how far the clock has gone back.

        The worker is seen now, before it plans anything by this clock: it may be killed before it signs.
        """
        last = connection.execute(select(func.max(signs.c.seen_at))).scalar()
        correction = rules.correct_clock(from_micros(last), now)
        at, ahead = to_micros(now), correction.ahead // _MICROSECOND
        if ahead:
            connection.execute(update(signs).where(signs.c.seen_at > at).values(seen_at=at))
            connection.execute(update(signs).where(signs.c.ended_at > at).values(ended_at=at))
        seen = update(signs).where(signs.c.name == worker, signs.c.seen_at < at)
        connection.execute(seen.values(seen_at=at))
        _shorten_rests(connection, at=at, ahead=ahead, longest=to_micros(correction.rests_end))
        beyond = to_micros(correction.leases_end)
        free = {"token": None, "lease_until": 0}
        connection.execute(update(host).where(host.c.lease_until > beyond).values(free | {"worker": None}))
        connection.execute(update(pace_group).where(pace_group.c.lease_until > beyond).values(free))
        claimed = update(outbox).where(outbox.c.claimed_until > beyond)
        connection.execute(claimed.values(worker=None, claimed_until=0))
        if correction.moves_plans:
            planned = resource.c.due_at > last
            hosts = connection.execute(select(resource.c.host_id).where(planned).distinct()).scalars().all()
            connection.execute(update(resource).where(planned).values(due_at=resource.c.due_at - ahead))
            postpone_hosts(connection, hosts)
        return correction.ahead

    @transaction
    def forgive(self, connection: Connection, *, by: timedelta) -> None:
        """Move the beginnings of failures ahead by so much: the clock has jumped, and that time has not passed."""
        for table in (resource, robots):
            failing = update(table).where(table.c.failing_since.is_not(None))
            connection.execute(failing.values(failing_since=table.c.failing_since + by // _MICROSECOND))


def _shorten_rests(connection: Connection, *, at: int, ahead: int, longest: int) -> None:
    resting = host.c.not_before > (at if ahead else longest)
    ids = connection.execute(select(host.c.id).where(resting)).scalars().all()
    for table in (host, pace_group):
        earlier = table.c.not_before - ahead
        value = case((earlier < at, literal(at)), (earlier > longest, literal(longest)), else_=earlier)
        later = table.c.not_before > (at if ahead else longest)
        connection.execute(update(table).where(later).values(not_before=value))
    postpone_hosts(connection, ids)

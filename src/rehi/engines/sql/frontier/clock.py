"""A clock that was set: leases, rests and failures that were dated by the wrong time are corrected."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection, case, func, literal, select, update

from rehi.engines.sql.frontier.hosts import postpone_hosts
from rehi.engines.sql.tables import host, outbox, pace_group, resource, robots, worker

_NOTICED = 5_000_000  # microseconds by which a worker's last sign may be ahead: clocks are set in small steps
_DAY = 86_400_000_000


def settle_clock(connection: Connection, *, name: str, at: int, lease: int, rest: int) -> timedelta:
    """Shorten rests and end leases that lie further ahead than they can; return how far the clock has gone back.

    It has if a worker was seen after ``at``, and what was planned since then is early by as much. The worker of this ``name`` is
    seen now, before it plans anything by this clock: it may be killed before it signs. All is in microseconds.
    """
    last = connection.execute(select(func.max(worker.c.seen_at))).scalar() or 0
    ahead = last - at if last - at > _NOTICED else 0
    if ahead:
        connection.execute(update(worker).where(worker.c.seen_at > at).values(seen_at=at))
        connection.execute(update(worker).where(worker.c.ended_at > at).values(ended_at=at))
    seen = update(worker).where(worker.c.name == name, worker.c.seen_at < at)
    connection.execute(seen.values(seen_at=at))
    _shorten_rests(connection, at=at, ahead=ahead, rest=rest)
    _end_leases(connection, beyond=at + lease)
    if ahead > _DAY:  # what is due an hour late is not worth the writing
        planned = resource.c.due_at > last
        hosts = connection.execute(select(resource.c.host_id).where(planned).distinct()).scalars().all()
        connection.execute(update(resource).where(planned).values(due_at=resource.c.due_at - ahead))
        postpone_hosts(connection, hosts)
    return timedelta(microseconds=ahead)


def forgive(connection: Connection, *, by: int) -> None:
    """Move the beginnings of failures ahead by so much: the clock has jumped, and that time has not passed."""
    for table in (resource, robots):
        failing = update(table).where(table.c.failing_since.is_not(None))
        connection.execute(failing.values(failing_since=table.c.failing_since + by))


def _shorten_rests(connection: Connection, *, at: int, ahead: int, rest: int) -> None:
    longest = at + rest
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

"""The frontier: hosts, leased with their due URLs, and what came of the visits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection, select, text

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.frontier.clock import SqlClock
from rehi.engines.sql.frontier.due import let_be_due
from rehi.engines.sql.frontier.hosts import ORDER_COLUMNS, keep_orders, keep_profiles, settle_hosts, to_orders
from rehi.engines.sql.frontier.leases import FORGET_HOSTS, fill_leases, put_back, renew_leases, take_hosts
from rehi.engines.sql.frontier.pace_groups import FORGET_GROUPS, NEXT_OF_GROUPS
from rehi.engines.sql.frontier.visits import Recording, record_visits
from rehi.engines.sql.index.tally import count_due, count_visits
from rehi.engines.sql.outbox.port import RELEASE_CLAIMS
from rehi.engines.sql.statements.values import from_micros, to_micros
from rehi.engines.sql.tables import host, orders
from rehi.engines.sql.tables.hosts import GROUP_IS_FREE
from rehi.model.host import HostOrders
from rehi.model.update import Load
from rehi.model.visit import HostLease, Visited
from rehi.model.work import HostProfile, HostRelease
from rehi.ports import LeaseRules, VisitRules

_HELD = select(host.c.id, host.c.token, host.c.delay).order_by(host.c.id).with_for_update(key_share=True)
_ANY_READY = text(f"""
    SELECT 1 FROM host WHERE ready_at <= :now AND lease_until <= :now AND {GROUP_IS_FREE} LIMIT 1
""")  # noqa: S608
_NEXT_FREE = text("""
    SELECT ready_at FROM host WHERE ready_at IS NOT NULL AND lease_until = 0 AND pace_group = ''
    ORDER BY ready_at LIMIT 1
""")
_NEXT_EXPIRY = text("""
    SELECT min(CASE WHEN lease_until > ready_at THEN lease_until ELSE ready_at END) FROM host
    WHERE lease_until > 0 AND ready_at IS NOT NULL AND pace_group = ''
""")


class SqlFrontier(SqlClock):
    """Implements the port Frontier on SQL."""

    database: Database

    def lease(self, *, worker: str, hosts: int, urls: int, ttl: float, now: datetime) -> Sequence[HostLease]:
        """Return up to ``hosts`` hosts that are ready, each with up to ``urls`` due tasks; nobody else gets them until ``ttl``."""
        at, until, dialect = to_micros(now), to_micros(now + timedelta(seconds=ttl)), self.database.dialect
        leases: list[HostLease] = []
        while (left := hosts - len(leases)) > 0 and self._may_be_ready(at):
            taken = self.database.write(
                partial(take_hosts, dialect=dialect, worker=worker, hosts=left, until=until, now=at),
                urgent=True,
                lasting=False,
            )
            if not taken:
                break
            with self.database.reading() as connection:
                filled = fill_leases(connection, dialect, taken, urls=urls, now=at)
            leases += filled
            idle = {host_id: taken[host_id] for host_id in taken.keys() - {lease.host_id for lease in filled}}
            if not idle:
                break
            self.database.write(partial(put_back, idle=idle), urgent=True, lasting=False)
        return leases

    def _may_be_ready(self, at: int) -> bool:
        """Return whether a host may be ready; on SQLite a read tells, so that no lease waits for writers in vain."""
        if self.database.dialect.slots > 1:
            return True
        return self.database.read(lambda c: c.execute(_ANY_READY, {"now": at}).first()) is not None

    def renew(self, leases: Sequence[HostLease], *, ttl: float, now: datetime) -> Sequence[int]:
        """Keep leases for longer, and return the ids of the hosts that are somebody else's by now."""
        until = to_micros(now + timedelta(seconds=ttl))
        return self.database.write(lambda connection: renew_leases(connection, leases, until=until))

    @transaction
    def record(
        self,
        connection: Connection,
        visited: Sequence[Visited],
        released: Sequence[HostRelease],
        *,
        rules: VisitRules,
        profiles: Sequence[HostProfile] = (),
        worker: str,
        update_id: int | None = None,
        now: datetime,
    ) -> None:
        """Record in one transaction what the rules make of visits, and take leases back."""
        keep_profiles(connection, profiles)
        if visited:
            recording = Recording(worker=worker, rules=rules, update_id=update_id, now=now)
            record_visits(connection, self.database, visited, released, recording)
        else:
            settle_hosts(connection, {}, released, now=now)

    @transaction
    def forget_leases(
        self,
        connection: Connection,
        *,
        worker: str,
        rules: LeaseRules,
        now: datetime,
        tokens: Collection[str] = (),
        claims: Collection[int] = (),
        keep_hosts: bool = False,
    ) -> None:
        """Give back all that a worker held but these, as when it starts again after it was killed."""
        held = connection.execute(_HELD.where(host.c.worker == worker)).all()  # once nobody writes to them
        if not keep_hosts:
            connection.execute(FORGET_GROUPS, {"worker": worker, "tokens": sorted(tokens)})
            lost = [row for row in held if row.token not in tokens]
            rests = [(row.id, to_micros(rules.ready_after_loss(row.delay, now))) for row in lost]
            FORGET_HOSTS.run(connection, rests)
        connection.execute(RELEASE_CLAIMS, {"worker": worker, "claims": sorted(claims)})

    def next_ready(self) -> datetime | None:
        """Return when a lease can next be had; None if nothing is ever due."""
        with self.database.reading() as connection:
            moments = [connection.execute(query).scalar() for query in (_NEXT_FREE, _NEXT_EXPIRY)]
            groups = connection.execute(NEXT_OF_GROUPS).all()
        moments += [max(row.not_before, row.lease_until, row.ready_at) for row in groups]
        return from_micros(min((at for at in moments if at is not None), default=None))

    def orders(self, *, since: datetime) -> Mapping[int, HostOrders]:
        """Return what was ordered for hosts after ``since``, by host id."""
        query = select(orders.c.host_id, *ORDER_COLUMNS).where(orders.c.changed_at > to_micros(since))
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return {row.host_id: to_orders(row) for row in rows}

    def load(self, *, now: datetime) -> Load:
        """Return how many visits this day (UTC) has had, and how many are due until the same hour tomorrow."""
        tomorrow = now + timedelta(days=1)
        return self.database.read(
            lambda connection: Load(visited=count_visits(connection, now), planned=count_due(connection, tomorrow))
        )

    def make_due(self, *, source_id: int | None = None, host: str = "", url: str = "", now: datetime) -> int:
        """Let all that matches be due now, whatever its schedule, and return how many that are."""
        return let_be_due(self.database, source_id=source_id, host_name=host, url=url, now=now)

    def order(self, host_id: int, orders: HostOrders, *, rules: LeaseRules, now: datetime) -> None:
        """Order something for a host; a lease on one that is to be left alone ends now, and it rests as the rules say."""
        self.database.write(lambda connection: keep_orders(connection, host_id, orders, rules, now=now))

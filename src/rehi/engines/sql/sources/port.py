"""Sources: what was given to visit, and the URLs taken in from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.hosts import ensure_hosts, origin_of, wake_together
from rehi.engines.sql.index.tally import Additions, counts_of
from rehi.engines.sql.ledger.problems import keep_problems
from rehi.engines.sql.statements.moment import from_micros, to_micros
from rehi.engines.sql.statements.text import key_of, storable, tail_of
from rehi.engines.sql.statements.upsert import Upsert
from rehi.engines.sql.tables import source as table
from rehi.errors import NotFound
from rehi.model.problem import Problem
from rehi.model.source import Source, SourceKind, SourceState

_ENTER = Upsert(table, ("key", "kind", "name", "location", "size", "added_at", "state"), unique=("key",))


class SqlSources:
    """The port Sources."""

    database: Database

    def add_source(self, *, kind: SourceKind, name: str, location: str, size: int, now: datetime) -> Source:
        """Enter a source; the same location and name give the same source again."""
        key = key_of(location, name)
        row = {
            "key": key,
            "kind": kind.value,
            "name": storable(name),
            "location": storable(location),
            "size": size,
            "added_at": to_micros(now),
            "state": SourceState.WAITING.value,
        }

        def work(connection: Connection) -> Source:
            _ENTER.run(connection, [row])
            found = connection.execute(select(table).where(table.c.key == key)).one()
            return _to_source(found, counts_of(connection, [found.id])[found.id])

        return self.database.write(work)

    def take_in(
        self,
        source: Source,
        urls: Sequence[str],
        *,
        position: int,
        counts: Mapping[str, float],
        problems: Sequence[Problem] = (),
        now: datetime,
    ) -> int:
        """Store a batch of found URLs, due now, with the new position and the counts to add; the rows that are new."""
        due = to_micros(now)
        hosts: dict[str, int] = {}

        def work(connection: Connection) -> int:
            hosts.clear()  # what an attempt that was rolled back had made
            new = self._enter(connection, source.id, urls, due, hosts) if urls else 0
            keep_problems(connection, problems)
            connection.execute(update(table).where(table.c.id == source.id).values(position=position))
            additions = Additions()
            for what, n in counts.items():
                additions.add(source.id, what, n)
            additions.add_to_house("state:waiting", new)
            additions.write(connection, self.database)
            return new

        new = self.database.write(work)
        self.database.remember_hosts(hosts)  # only now: they are committed
        return new

    def _enter(
        self, connection: Connection, source_id: int, urls: Sequence[str], due: int, hosts: dict[str, int]
    ) -> int:
        """Enter URLs in their order, so that each page of the index is touched once: a third of the time."""
        ordered = sorted(urls)
        origins = [origin_of(url) for url in ordered]
        known = self.database.hosts
        here = set(origins)
        hosts.update((origin, known[origin]) for origin in here if origin in known)
        hosts.update(ensure_hosts(connection, here - hosts.keys()))
        rows = [
            (hosts[origin], url, tail_of(url), source_id, due, 0) for origin, url in zip(origins, ordered, strict=True)
        ]
        new = self.database.dialect.insert_resources(connection, rows)
        if new:
            wake_together(connection, hosts.values(), due)
        return new

    def mark_source(self, source_id: int, state: SourceState, *, position: int | None = None) -> None:
        """Say how far a source has come."""
        values: dict[str, Any] = (
            {"state": state.value} if position is None else {"state": state.value, "position": position}
        )
        self.database.write(lambda c: c.execute(update(table).where(table.c.id == source_id).values(**values)))

    def set_policy(self, source_id: int, *, policy: str, weight: float) -> None:
        """Say when the source's resources are to be visited again, and how much they matter; NotFound if there is none."""
        change = update(table).where(table.c.id == source_id).values(policy=storable(policy), weight=weight)
        if not self.database.write(lambda connection: connection.execute(change).rowcount):
            raise NotFound(f"there is no source {source_id}")

    def source(self, source_id: int) -> Source:
        """One source; NotFound if there is none."""

        def work(connection: Connection) -> Source:
            found = connection.execute(select(table).where(table.c.id == source_id)).one_or_none()
            if found is None:
                raise NotFound(f"there is no source {source_id}")
            return _to_source(found, counts_of(connection, [source_id])[source_id])

        return self.database.read(work)

    def sources(self) -> Sequence[Source]:
        """All sources, the newest first."""

        def work(connection: Connection) -> Sequence[Source]:
            found = connection.execute(select(table).order_by(table.c.added_at.desc(), table.c.id.desc())).all()
            counts = counts_of(connection, [row.id for row in found])
            return [_to_source(row, counts[row.id]) for row in found]

        return self.database.read(work)


def _to_source(row: Any, counts: Mapping[str, float]) -> Source:
    return Source(
        id=row.id,
        kind=SourceKind(row.kind),
        name=row.name,
        location=row.location,
        size=row.size,
        added_at=from_micros(row.added_at),
        state=SourceState(row.state),
        position=row.position,
        policy=row.policy,
        weight=row.weight,
        keep=row.keep,
        counts=counts,
    )

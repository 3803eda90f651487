"""Sources: what was given to visit, how far each has been read, and the findings taken in from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, select, update

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.dialects.dialect import NewUrls
from rehi.engines.sql.frontier.due import make_resource_due
from rehi.engines.sql.frontier.hosts import ensure_hosts, origin_of, wake_together
from rehi.engines.sql.frontier.resources import Wanted, ensure_resources, find_ids
from rehi.engines.sql.index.tally import HOUSE, Additions, counts_of
from rehi.engines.sql.ledger.problems import keep_problems
from rehi.engines.sql.outbox.port import DISCOVER, delete_work, put_owned_work
from rehi.engines.sql.sources.findings import count_past, enter_findings, follow_all, join_source
from rehi.engines.sql.statements.driver import SelectMany, Upsert
from rehi.engines.sql.statements.values import HEAD, from_micros, key_of, storable, tail_of, to_micros
from rehi.engines.sql.tables import resource
from rehi.engines.sql.tables import source as table
from rehi.errors import NotFound
from rehi.model.claims import NO_CLAIMS, SourceClaims, read_claims, write_claims
from rehi.model.problem import Problem
from rehi.model.source import Finding, FollowedLink, Source, SourceChange, SourceState
from rehi.model.work import Claim

_ENTER = Upsert(table, ("key", "kind", "name", "location", "size", "worker", "added_at", "state"), unique=("key",))
_SOURCES = select(table, resource.c.url.label("awaited")).outerjoin(resource, resource.c.id == table.c.awaits)
_CLAIMS = SelectMany(
    "SELECT finding.*, source.name, source.follow FROM finding JOIN source ON source.id = finding.source_id",
    "finding.resource_id",
    "bigint",
    order="finding.resource_id, finding.first_at, finding.source_id",
)


class SqlSources:
    """Implements the port Sources on SQL."""

    database: Database

    @transaction
    def add_source(
        self,
        connection: Connection,
        *,
        kind: str,
        name: str,
        location: str,
        size: int,
        worker: str = "",
        now: datetime,
    ) -> Source:
        """Enter a source; the same location and name give the same source again."""
        key = key_of("" if location == name else location, name)
        texts = storable(kind), storable(name), storable(location)
        row = (key, *texts, size, storable(worker), to_micros(now), SourceState.WAITING.value)
        _ENTER.run(connection, [row])
        return _load(connection, table.c.key == key, name)

    @transaction
    def start_source(
        self, connection: Connection, source_id: int, *, worker: str = "", anew: bool = False, now: datetime
    ) -> Source:
        """Put a source's discovery into the outbox, unless it is done; ``anew`` also then, from its beginning."""
        this = table.c.id == source_id
        source = _load(connection, this, source_id)
        if source.state is SourceState.DONE and not anew:
            return source
        owner = storable(source.worker or (worker if source.is_local else ""))
        values: dict[str, Any] = {"state": SourceState.READING.value, "worker": owner}
        if anew or source.state is not SourceState.READING:
            values |= {"began_at": to_micros(now), "awaits": None}
        if anew:
            values |= {"cursor": None, "share": 0.0}
        connection.execute(_change(source_id, **values))
        put_owned_work(connection, DISCOVER, [(source_id, owner)])
        return _load(connection, this, source_id)

    def take_in(
        self,
        source: Source,
        findings: Sequence[Finding],
        *,
        cursor: bytes,
        share: float = 0.0,
        counts: Mapping[str, float],
        problems: Sequence[Problem] = (),
        now: datetime,
    ) -> int:
        """Store a batch of findings with the new cursor and the counts to add, and return how many resources are new."""
        hosts: dict[str, int] = {}

        def work(connection: Connection) -> int:
            hosts.clear()  # what an attempt that was rolled back had made
            additions = Additions()
            captured = {one.url for one in findings if one.capture is not None}
            known = find_ids(connection, captured) if captured else {}
            # A capture of which nothing was recorded has no resource, and makes none.
            named = [one for one in findings if one.capture is None or one.url in known] if captured else findings
            new = self._enter(connection, source, named, to_micros(now), hosts, additions) if named else 0
            if problems:
                keep_problems(connection, problems)
            connection.execute(_change(source.id, cursor=cursor, share=float(share)))
            for name, n in counts.items():
                additions.add(source.id, name, n)
            additions.add(HOUSE, "state:waiting", new)
            additions.write(connection, self.database)
            return new

        new = self.database.write(work)
        self.database.remember_hosts(hosts)  # only now: they are committed
        return new

    def _enter(
        self,
        connection: Connection,
        source: Source,
        findings: Sequence[Finding],
        at: int,
        hosts: dict[str, int],
        additions: Additions,
    ) -> int:
        """Enter URLs in their order, so that each page of the index is touched once: a third of the time."""
        ordered = sorted({one.url for one in findings})
        claims = {one.url: storable(write_claims(one.claims)) for one in findings if one.claims is not NO_CLAIMS}
        origins = _origins_of(ordered)
        known = self.database.hosts
        distinct = set(origins)
        hosts.update((origin, known[origin]) for origin in distinct if origin in known)
        hosts.update(ensure_hosts(connection, distinct - hosts.keys()))
        urls = NewUrls(
            host_ids=[hosts[origin] for origin in origins],
            urls=ordered,
            tails=["" if len(url) <= HEAD else tail_of(url) for url in ordered],
        )
        since = at if source.began_at is None else to_micros(source.began_at)
        new, unnamed = self.database.dialect.insert_findings(
            connection, urls, source_id=source.id, at=at, since=since, claims=claims
        )
        if unnamed:
            count_past(connection, [(source.id, row) for row in unnamed], additions)
        if new:
            wake_together(connection, hosts.values(), at)
        return new

    def follow_links(self, links: Sequence[FollowedLink], *, source_id: int, now: datetime) -> int:
        """Store what documents link to as findings of their source; the first of several to one URL holds."""
        at = to_micros(now)
        by_url = {link.finding.url: link for link in reversed(links)}

        def work(connection: Connection) -> int:
            additions = Additions()
            wanted = [Wanted(url, source_id, at) for url in sorted(by_url)]
            resources = ensure_resources(connection, self.database, wanted, additions)
            wake_together(connection, resources.woken, at)
            rows = [
                (
                    source_id,
                    resources.ids[url],
                    at,
                    at,
                    link.depth,
                    link.origin_id,
                    storable(write_claims(link.finding.claims)),
                )
                for url, link in by_url.items()
            ]
            enter_findings(connection, sorted(rows, key=lambda row: row[1]), additions)
            additions.add(source_id, "followed", resources.entered)
            additions.write(connection, self.database)
            return resources.entered

        return self.database.write(work) if links else 0

    @transaction
    def change_source(self, connection: Connection, source_id: int, change: SourceChange) -> Source:
        """Change a source, and return it; links are looked at again if others are to be followed."""
        given = {name: value for name, value in asdict(change).items() if value is not None}
        values = {name: storable(str(value)) if isinstance(value, str) else value for name, value in given.items()}
        if change.state not in (None, SourceState.READING):
            values["awaits"] = None
        if values:
            connection.execute(_change(source_id, **values))
        source = _load(connection, table.c.id == source_id, source_id)
        if change.follow:
            follow_all(connection, source_id)
        return source

    @transaction
    def suspend(
        self,
        connection: Connection,
        source: Source,
        url: str,
        claims: Sequence[Claim],
        *,
        since: datetime,
        at_once: bool = True,
        now: datetime,
    ) -> None:
        """Let a source wait for a visit to a URL, a resource of this source; the claims on the source are done."""
        at, asked_at = to_micros(now), to_micros(since)
        additions = Additions()
        resources = ensure_resources(connection, self.database, [Wanted(url, source.id, at)], additions)
        row = resources.ids[url]
        join_source(connection, [(source.id, row)], at, additions)
        if at_once:
            make_resource_due(connection, row, at, unless_visited=asked_at)
        connection.execute(_change(source.id, awaits=row, asked_at=asked_at))
        delete_work(connection, [work_id for claim in claims for work_id in claim.ids])
        additions.write(connection, self.database)

    def source(self, source_id: int) -> Source:
        """Return one source; NotFound if there is none."""
        return self.database.read(lambda connection: _load(connection, table.c.id == source_id, source_id))

    def sources(self) -> Sequence[Source]:
        """Return all sources, the newest first."""
        with self.database.reading() as connection:
            rows = connection.execute(_SOURCES.order_by(table.c.added_at.desc(), table.c.id.desc())).all()
            counts = counts_of(connection, [row.id for row in rows])
        return [_to_source(row, counts[row.id]) for row in rows]

    def claims_on(self, resource_ids: Iterable[int]) -> Mapping[int, Sequence[SourceClaims]]:
        """Return what each of their sources says of resources, the first source first; those without one are left out."""
        wanted = sorted(set(resource_ids))
        rows = self.database.read(lambda connection: _CLAIMS.run(connection, wanted))
        claims: defaultdict[int, list[SourceClaims]] = defaultdict(list)
        for row in rows:
            claims[row.resource_id].append(
                SourceClaims(
                    source_id=row.source_id, source=row.name, first_at=from_micros(row.first_at),
                    last_at=from_micros(row.last_at), claims=read_claims(row.claims), depth=row.depth, follow=row.follow,
                )
            )  # fmt: skip
        return dict(claims)


def _origins_of(ordered: Sequence[str]) -> list[str]:
    """Return the origins of URLs; in their order many have that of the one before, which is quickly seen."""
    origins: list[str] = []
    origin, start = "", "\0"  # with which no URL begins
    for url in ordered:
        if not url.startswith(start):
            origin = origin_of(url)
            start = f"{origin}/"
        origins.append(origin)
    return origins


def _change(source_id: int, **values: Any) -> Update:
    return update(table).where(table.c.id == source_id).values(**values)


def _load(connection: Connection, condition: ColumnElement[bool], name: int | str) -> Source:
    row = connection.execute(_SOURCES.where(condition)).one_or_none()
    if row is None:
        raise NotFound(f"there is no source {name}")
    return _to_source(row, counts_of(connection, [row.id])[row.id])


def _to_source(row: Any, counts: Mapping[str, float]) -> Source:
    return Source(
        id=row.id,
        kind=row.kind,
        name=row.name,
        location=row.location,
        size=row.size,
        added_at=from_micros(row.added_at),
        state=SourceState(row.state),
        cursor=bytes(row.cursor or b""),
        share=row.share,
        worker=row.worker,
        began_at=from_micros(row.began_at),
        awaits=row.awaited or "",
        policy=row.policy,
        weight=row.weight,
        keep=row.keep,
        follow=row.follow,
        counts=counts,
    )

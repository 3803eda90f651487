"""Captures: visits whose answers are kept, in the order of their URLs and of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.hosts import host_is
from rehi.engines.sql.ledger.bodies import VERSIONS, to_version
from rehi.engines.sql.sources.findings import has_source
from rehi.engines.sql.statements.driver import chunks
from rehi.engines.sql.statements.values import HEAD, from_micros, storable, to_micros
from rehi.engines.sql.tables import file, host, resource, version, visit
from rehi.model.capture import Capture, CaptureFilter
from rehi.model.version import RecordRef, Version
from rehi.model.visit import Outcome

_RESOURCES = 256  # in one question
_ROWS = 4_000  # visits, or versions, that are held at once: some 4 MB
_LAST = chr(0x10FFFF)  # sorts after every character
_VISITS = (
    select(
        visit.c.resource_id, visit.c.at, visit.c.outcome, visit.c.status,
        file.c.name.label("file"), visit.c.offset, visit.c.length,
    )
    .join(file, file.c.id == visit.c.file_id)
    .order_by(visit.c.resource_id, visit.c.at)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Range:
    """Places in the order of URLs: from ``low`` on, and before ``high``, if it is given."""

    low: str
    high: str | None = None


def list_captures(
    database: Database, where: CaptureFilter, *, after: tuple[str, datetime] | None, limit: int | None
) -> Iterator[Capture]:
    """Return visits whose answers are kept, in the order of URLs and then of time; memory does not grow with them."""
    captures = _Listing(database, where, after, limit).captures()
    return captures if limit is None else islice(captures, limit)


class _Listing:
    """One list of captures while it is read."""

    def __init__(
        self, database: Database, where: CaptureFilter, after: tuple[str, datetime] | None, limit: int | None
    ) -> None:
        self._database, self._where = database, where
        self._after_url = storable(after[0]) if after else ""
        self._after_at = to_micros(after[1]) if after else None
        self._page = _RESOURCES if limit is None else max(1, min(limit, _RESOURCES))
        self._key = database.dialect.url_order
        self._times = _times(where)

    def captures(self) -> Iterator[Capture]:
        for page in chunks(self._resources(), self._page):
            if self._after_at is not None and page[0].url == self._after_url:
                yield from self._of_one(page.pop(0), after=self._after_at)
            yield from self._of_many(page)

    def _resources(self) -> Iterator[Any]:
        """Yield the resources that were visited, in the order of their URLs."""
        if self._where.urls is not None or self._where.url:
            yield from self._named()
        else:
            for part in self._database.read(self._ranges):
                yield from self._walk(part)

    def _named(self) -> Iterator[Any]:
        wanted = self._where.urls
        if self._where.url:
            wanted = frozenset({self._where.url}) & (wanted if wanted is not None else {self._where.url})
        key_of = self._database.dialect.url_key
        start = key_of(self._after_url)
        keys = sorted((key_of(url), url) for url in map(storable, wanted or ()))
        for part in chunks([url for key, url in keys if key >= start], self._page):
            yield from self._select([self._database.dialect.url_in(part)])

    def _walk(self, part: _Range) -> Iterator[Any]:
        """Yield the resources of a range page by page, along the index of URLs."""
        key, key_of = self._key, self._database.dialect.url_key
        low = max(part.low, key_of(self._after_url))
        if part.high is not None and low >= part.high:
            return
        where = [key >= low]
        while True:
            bounds = where if part.high is None else [*where, key < part.high]
            rows = self._select(bounds, limit=self._page)
            yield from rows
            if len(rows) < self._page:
                return
            where = [key > key_of(rows[-1].url)]

    def _select(self, bounds: Iterable[ColumnElement[bool]], *, limit: int | None = None) -> Sequence[Any]:
        where = self._where
        query = select(resource.c.id, resource.c.url).where(resource.c.visited_at.is_not(None), *bounds)
        if where.source_id is not None:
            query = query.where(has_source([where.source_id]))
        prefix = storable(where.prefix)
        # Said only where the range does not: PostgreSQL takes it for rare, and would sort all that is in the range.
        if prefix and (len(prefix) > HEAD or where.url or where.urls is not None):
            query = query.where(func.substr(resource.c.url, 1, len(prefix)) == prefix)
        if where.host and (where.url or where.urls is not None):
            query = query.where(resource.c.host_id.in_(select(host.c.id).where(_named(where))))
        query = query.order_by(self._key).limit(limit)
        return self._database.read(lambda connection: connection.execute(query).all())

    def _ranges(self, connection: Connection) -> Sequence[_Range]:
        """Return the ranges in the order of URLs that are asked for: a host's lie together."""
        prefix = storable(self._where.prefix)[:HEAD]  # what an index knows of it
        whole = _Range(prefix, prefix + _LAST) if prefix else _Range("")
        if not self._where.host:
            return [whole]
        origins = connection.execute(select(host.c.origin).where(_named(self._where))).scalars()
        return [part for origin in sorted(f"{one}/" for one in origins) if (part := _both(whole, origin))]

    def _of_many(self, page: Sequence[Any]) -> Iterator[Capture]:
        """Yield the captures of a page of resources, read by two queries; resources with very many captures one by one."""
        ids = [row.id for row in page]
        if not ids:
            return
        visits = self._ask(_VISITS.where(visit.c.resource_id.in_(ids), *self._times))
        versions = self._ask(VERSIONS.where(version.c.resource_id.in_(ids)))
        if max(len(visits), len(versions)) > _ROWS:
            for row in page:
                yield from self._of_one(row)
            return
        seen: dict[int, list[Any]] = {}
        for one in visits:
            seen.setdefault(one.resource_id, []).append(one)
        kept: dict[int, list[Version]] = {}
        for one in map(to_version, versions):
            kept.setdefault(one.resource_id, []).append(one)
        for row in page:
            if row.id in seen:
                yield from self._capture(row.url, seen[row.id], _Validity(kept.get(row.id, [])))

    def _of_one(self, row: Any, *, after: int | None = None) -> Iterator[Capture]:
        """Yield the captures of a resource, however many there are."""
        mine = VERSIONS.where(version.c.resource_id == row.id)
        history = _Validity([to_version(one) for one in self._database.read(lambda c: c.execute(mine).all())])
        while True:
            later = [] if after is None else [visit.c.at > after]
            visits = self._ask(_VISITS.where(visit.c.resource_id == row.id, *self._times, *later))
            yield from self._capture(row.url, visits, history)
            if len(visits) <= _ROWS:
                return
            after = visits[-1].at

    def _ask(self, query: Select[Any]) -> Sequence[Any]:
        """Return at most as many rows as may be held in memory, and one more if there are more."""
        return self._database.read(lambda connection: connection.execute(query.limit(_ROWS + 1)).all())

    def _capture(self, url: str, visits: Iterable[Any], history: _Validity) -> Iterator[Capture]:
        for seen in visits:
            outcome = Outcome(seen.outcome)
            valid = history.at(seen.at) if outcome.shows_version else None
            if (outcome.shows_version and valid is None) or not _is_wanted(valid, self._where.media_type):
                continue
            yield Capture(
                resource_id=seen.resource_id,
                url=url,
                at=from_micros(seen.at),
                outcome=outcome,
                status=seen.status,
                media_type=valid.media_type if valid else "",
                digest=valid.digest if valid else None,
                size=valid.size if valid else 0,
                record=RecordRef(seen.file, seen.offset, seen.length),
                body=valid.body if valid else None,
                dropped=valid is not None and valid.dropped,
            )


class _Validity:
    """A resource's versions by the moments from which they were valid."""

    def __init__(self, versions: Iterable[Version]) -> None:
        self._versions = sorted(versions, key=lambda one: (one.taken_at, one.number))
        self._moments = [to_micros(one.taken_at) for one in self._versions]

    def at(self, moment: int) -> Version | None:
        place = bisect_right(self._moments, moment)
        return self._versions[place - 1] if place else None


def _times(where: CaptureFilter) -> list[ColumnElement[bool]]:
    bounds: list[ColumnElement[bool]] = [visit.c.outcome.in_([outcome.value for outcome in where.outcomes])]
    if where.since is not None:
        bounds.append(visit.c.at >= to_micros(where.since))
    if where.until is not None:
        bounds.append(visit.c.at <= to_micros(where.until))
    return bounds


def _named(where: CaptureFilter) -> ColumnElement[bool]:
    """Whether a host is the one that is wanted, or below it; names have their ports with them."""
    name = storable(where.host).strip().lower().rstrip("/")
    if not where.domain:
        return host_is(name)
    below = host.c.name.endswith(f".{name}", autoescape=True)
    with_port = host.c.name.contains(f".{name}:", autoescape=True)
    return or_(host_is(name), below, with_port)


def _both(whole: _Range, start: str) -> _Range | None:
    """Return the part of a range that begins with ``start``, if there is one."""
    low, high = max(whole.low, start), start + _LAST
    if whole.high is not None:
        high = min(high, whole.high)
    return _Range(low, high) if low < high else None


def _is_wanted(version: Version | None, wanted: str) -> bool:
    if not wanted:
        return True
    wanted = wanted.strip().lower()
    essence = version.media_type.partition(";")[0].strip().lower() if version else ""
    return essence.startswith(wanted) if wanted.endswith("/") else essence == wanted

"""The index: documents, entities and problems as people look at them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from rehi.engines.sql.database import Database
from rehi.engines.sql.index.hosts import find_host, list_hosts
from rehi.engines.sql.index.tally import HOUSE, count_due, counts_of, those_under
from rehi.engines.sql.ledger.holdings import add_up_holdings
from rehi.engines.sql.ledger.problems import count_problems, list_problems
from rehi.engines.sql.outbox.port import count_work
from rehi.engines.sql.sources.findings import has_source
from rehi.engines.sql.statements.driver import SelectByUrl, SelectMany
from rehi.engines.sql.statements.values import folded, from_micros, key_of, storable
from rehi.engines.sql.tables import (
    document,
    entity,
    form,
    host,
    mention,
    problem,
    reading,
    resource,
    source,
    term,
)
from rehi.errors import NotFound
from rehi.model.codec import to_table
from rehi.model.document import Part
from rehi.model.entity import EntityKey
from rehi.model.holdings import Holdings
from rehi.model.host import HostFacts, HostRow
from rehi.model.listing import DocumentFilter, DocumentRow, EntityRow, NameOnPage, Outline, Page, Totals
from rehi.model.problem import Problem, ProblemClass, Stage

_TARGET = resource.alias("target")
_media_type = func.coalesce(reading.c.media_type, resource.c.media_type)
_ROWS = (
    select(
        resource.c.id, resource.c.url, resource.c.state, resource.c.status, resource.c.versions,
        resource.c.visited_at, resource.c.changed_at, host.c.name.label("host"), _media_type.label("media_type"),
        reading.c.title, reading.c.language, reading.c.names, _TARGET.c.url.label("redirect_url"),
    )
    .join(host, host.c.id == resource.c.host_id)
    .outerjoin(document, document.c.resource_id == resource.c.id)
    .outerjoin(reading, reading.c.id == document.c.reading_id)
    .outerjoin(_TARGET, _TARGET.c.id == resource.c.redirect_to)
)  # fmt: skip
# What a document's page asks goes past SQLAlchemy, which took longer over these statements than SQLite takes to answer them.
_BY_ID = SelectMany(str(_ROWS), "resource.id", "bigint")
_BY_URL = SelectByUrl(str(_ROWS))
_OF_DOCUMENT = "document.resource_id"
_NAMES = SelectMany(
    "SELECT entity.kind, entity.slug, entity.sense, entity.name, mention.count AS times FROM document"
    " JOIN mention ON mention.reading_id = document.reading_id JOIN entity ON entity.id = mention.entity_id",
    _OF_DOCUMENT,
    "bigint",
    order="mention.count DESC, entity.slug, entity.kind, entity.sense",
)
_PARTS = SelectMany(
    "SELECT part.* FROM document JOIN part ON part.reading_id = document.reading_id",
    _OF_DOCUMENT,
    "bigint",
    order="part.number",
)
_TABLES = SelectMany(
    "SELECT data FROM document JOIN table_shape ON table_shape.reading_id = document.reading_id",
    _OF_DOCUMENT,
    "bigint",
    order="table_shape.number",
)
_LAST = chr(0x10FFFF)  # sorts after every character


class SqlIndex:
    """Implements the port Index on SQL."""

    database: Database

    def totals(self, *, now: datetime) -> Totals:
        """Return the state of the whole house in numbers."""
        things = (source, host, problem)
        with self.database.reading() as connection:
            kept = counts_of(connection, [HOUSE])[HOUSE]
            sources, hosts, problems = (
                connection.execute(select(func.count()).select_from(thing)).scalar_one() for thing in things
            )
            due, work = count_due(connection, now), count_work(connection)
        states, whole = those_under(kept, "state:"), those_under(kept, "")
        return Totals(
            sources=sources,
            hosts=hosts,
            resources=sum(states.values()),
            waiting=due,
            visits=whole.get("visits", 0),
            versions=whole.get("versions", 0),
            documents=whole.get("documents", 0),
            entities=those_under(kept, "kind:"),
            mentions=whole.get("mentions", 0),
            bytes_seen=whole.get("bytes", 0),
            problems=problems,
            to_read=work.pop("read", 0),
            to_describe=sum(work.values()),
            outcomes=states,
            media_types=those_under(kept, "type:"),
            languages=those_under(kept, "language:"),
            recipes=those_under(kept, "recipe:"),
        )

    def holdings(self, *, limit: int) -> Holdings:
        """Return what the archive holds, in all and by type and host; at most ``limit`` of each, the largest first."""
        return self.database.read(lambda connection: add_up_holdings(connection, limit))

    def documents(self, where: DocumentFilter, page: Page) -> tuple[Sequence[DocumentRow], int]:
        """Return a page of resources in the order of their URLs, and how many match in all."""
        rows = _ROWS.order_by(self.database.dialect.url_order)
        with self.database.reading() as connection:
            if where == DocumentFilter():
                total = sum(those_under(counts_of(connection, [HOUSE])[HOUSE], "state:").values())
                rows = rows.limit(page.limit).offset(page.offset)
            else:
                ids, total = self._find(connection, where, page)
                rows = rows.where(resource.c.id.in_(ids))
            return [_to_row(row) for row in connection.execute(rows)], total

    def _find(self, connection: Connection, where: DocumentFilter, page: Page) -> tuple[Sequence[int], int]:
        """Return a page of the resources that match, and how many do in all: what is looked through is so only once."""
        matching = self._matching(where)
        query = matching.add_columns(func.count().over().label("total")).order_by(self.database.dialect.url_order)
        rows = connection.execute(query.limit(page.limit).offset(page.offset)).all()
        if rows or not page.offset:
            return [row.id for row in rows], rows[0].total if rows else 0
        return [], connection.execute(select(func.count()).select_from(matching.subquery())).scalar_one()

    def _matching(self, where: DocumentFilter) -> Select[Any]:
        query = select(resource.c.id)
        holds = self.database.dialect.holds
        if where.media_type or where.language:
            query = query.outerjoin(document, document.c.resource_id == resource.c.id)
            query = query.outerjoin(reading, reading.c.id == document.c.reading_id)
        if where.host:
            named = select(host.c.id).where(holds(host.c.name, storable(where.host).lower()))
            query = query.where(resource.c.host_id.in_(named))
        if where.media_type:
            query = query.where(_media_type == storable(where.media_type))
        if where.language:
            query = query.where(reading.c.language == storable(where.language))
        if where.text:
            needle = storable(where.text).casefold()
            # Each table by itself, the URLs in their index: over the joined tables it took twice as long.
            titles = select(reading.c.id).where(holds(reading.c.searched, needle))
            titled = select(document.c.resource_id).where(document.c.reading_id.in_(titles))
            query = query.where(or_(holds(func.lower(resource.c.url), needle), resource.c.id.in_(titled)))
        if where.source_id is not None:
            query = query.where(has_source([where.source_id]))
        if where.entity is not None:
            who = (
                select(func.coalesce(entity.c.merged_into, entity.c.id))
                .where(entity.c.key == key_of(where.entity.kind, where.entity.path))
                .scalar_subquery()
            )
            query = query.where(resource.c.id.in_(_showing(mention.c.entity_id == who, mention.c.reading_id)))
        for wanted in where.terms:
            has = (term.c.field == storable(wanted.field)) & (term.c.folded == folded(wanted.value))
            query = query.where(resource.c.id.in_(_showing(has, term.c.reading_id)))
        return query

    def document(self, which: int | str) -> DocumentRow:
        """Return the resource with an id or a URL; NotFound if there is none."""
        by_id = isinstance(which, int)
        with self.database.reading() as connection:
            rows = (
                _BY_ID.run(connection, [which])
                if isinstance(which, int)
                else _BY_URL.run(connection, [storable(which)])
            )
        if not rows:
            raise NotFound(f"there is no document {which}" if by_id else f"{which} is not known here")
        return _to_row(rows[0])

    def outline(self, resource_id: int) -> Outline:
        """Return the entities, parts and tables of the document that a resource shows; none if it shows none."""
        shown = [resource_id]
        with self.database.reading() as connection:
            return Outline(
                names=tuple(
                    NameOnPage(key=EntityKey(row.kind, row.slug, row.sense), name=row.name, count=row.times)
                    for row in _NAMES.run(connection, shown)
                ),
                parts=tuple(
                    Part(kind=row.kind, title=row.title, media_type=row.media_type, start=row.start_at, end=row.end_at)
                    for row in _PARTS.run(connection, shown)
                ),
                tables=tuple(to_table(orjson.loads(row.data)) for row in _TABLES.run(connection, shown)),
            )

    def find_entities(self, name: str, page: Page, *, kind: str = "") -> Sequence[EntityRow]:
        """Return entities of a kind, or of all, of which a name or lemma begins so, in any case, the most mentioned first."""
        query = select(entity).where(entity.c.documents > 0, entity.c.merged_into.is_(None))
        if kind:
            query = query.where(entity.c.kind == storable(kind))
        if prefix := folded(name):
            begins = (form.c.folded >= prefix) & (form.c.folded < prefix + _LAST) & (form.c.documents > 0)
            query = query.where(entity.c.id.in_(select(form.c.entity_id).where(begins)))
        query = query.order_by(entity.c.documents.desc(), entity.c.slug, entity.c.kind, entity.c.sense)
        query = query.limit(page.limit).offset(page.offset)
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return [
            EntityRow(id=row.id, key=EntityKey(row.kind, row.slug, row.sense), name=row.name, documents=row.documents)
            for row in rows
        ]

    def hosts(self, name: str, page: Page) -> tuple[Sequence[HostRow], int]:
        """Return hosts with this in their names, those in trouble first, and how many there are in all."""
        return self.database.read(lambda connection: list_hosts(connection, self.database.dialect, name, page))

    def host(self, name: str, *, now: datetime) -> Sequence[HostFacts]:
        """Return all that is known of the origins of a host (http and https, other ports); NotFound if there is none."""
        facts = self.database.read(lambda connection: find_host(connection, name, now=now))
        if not facts:
            raise NotFound(f"there is no host {name}")
        return facts

    def problems(
        self, *, stage: Stage | None, code: str = "", page: Page
    ) -> tuple[Sequence[Problem], Sequence[ProblemClass]]:
        """Return problems of a room, a code or all, the newest first, and how many the room has, or all, of each code."""
        with self.database.reading() as connection:
            problems = list_problems(connection, stage=stage, code=code, page=page)
            return problems, count_problems(connection, stage=stage)


def _showing(condition: ColumnElement[bool], reading_id: ColumnElement[int]) -> Select[Any]:
    """Return a query for the resources that show a reading for which the condition holds."""
    return select(document.c.resource_id).where(document.c.reading_id == reading_id, condition)


def _to_row(row: Any) -> DocumentRow:
    return DocumentRow(
        resource_id=row.id,
        url=row.url,
        host=row.host,
        state=row.state,
        status=row.status,
        title=row.title or "",
        media_type=row.media_type,
        language=row.language or "",
        versions=row.versions,
        names=row.names or 0,
        visited_at=from_micros(row.visited_at),
        changed_at=from_micros(row.changed_at),
        redirect_to=row.redirect_url or "",
    )

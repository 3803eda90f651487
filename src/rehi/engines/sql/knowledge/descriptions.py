"""Descriptions: all that the graph is told of resources and entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from rehi.engines.sql.database import Database
from rehi.engines.sql.knowledge.entities import LEMMA
from rehi.engines.sql.knowledge.readings import READING_COLUMNS, to_facts
from rehi.engines.sql.ledger.bodies import VERSIONS, to_version
from rehi.engines.sql.statements.driver import select_in_chunks
from rehi.engines.sql.statements.values import from_micros
from rehi.engines.sql.tables import document, entity, facet, file, form, identifier, mention, reading, resource, version
from rehi.model.entity import Entity, EntityKey, Identifier
from rehi.model.version import Version
from rehi.model.work import FacetBrief, ReadingFacts, ResourceDescription


class SqlDescriptions:
    """The methods of the port Knowledge that describe resources and entities for the graph."""

    database: Database

    def resource_ids(self, *, after: int, limit: int) -> Sequence[int]:
        """Return the ids of resources that have versions, in their order, after one of them."""
        query = select(resource.c.id).where(resource.c.id > after, resource.c.versions > 0)
        query = query.order_by(resource.c.id).limit(limit)
        return self.database.read(lambda connection: connection.execute(query).scalars().all())

    def entity_ids(self, *, after: int, limit: int) -> Sequence[int]:
        """Return the ids of entities, in their order, after one of them."""
        query = select(entity.c.id).where(entity.c.id > after).order_by(entity.c.id).limit(limit)
        return self.database.read(lambda connection: connection.execute(query).scalars().all())

    def describe_resources(self, ids: Iterable[int]) -> Sequence[ResourceDescription]:
        """Return resources with their versions, documents, aliases, mentions and facets."""
        wanted = sorted(set(ids))
        query = select(resource.c.id, resource.c.url, resource.c.redirect_to, resource.c.gone_at)
        query = query.order_by(resource.c.id)
        with self.database.reading() as connection:
            rows = select_in_chunks(connection, wanted, lambda part: query.where(resource.c.id.in_(part)))
            versions, documents = _versions(connection, wanted), _documents(connection, wanted)
            # What redirects to a resource that itself redirects is an alias of where that one leads.
            aliases = _aliases(connection, [row.id for row in rows if row.redirect_to is None])
            mentions, briefs = _mentions(connection, wanted), _briefs(connection, wanted)
        return [
            ResourceDescription(
                resource_id=row.id,
                url=row.url,
                versions=tuple(versions[row.id]),
                document=documents.get(row.id),
                aliases=tuple(sorted(aliases[row.id])),
                gone_at=from_micros(row.gone_at),
                mentions=tuple(sorted(mentions[row.id])),
                briefs=tuple(briefs[row.id]),
            )
            for row in rows
        ]

    def describe_entities(self, ids: Iterable[int]) -> Sequence[Entity]:
        """Return entities as all documents together describe them; no document mentions one that was merged into another."""
        wanted = sorted(set(ids))
        query = select(entity).order_by(entity.c.id)
        known = select(identifier.c.entity_id, identifier.c.iri, identifier.c.score)
        forms = select(form.c.entity_id, form.c.text).where(form.c.what == LEMMA, form.c.documents > 0)
        lemmas: defaultdict[int, list[str]] = defaultdict(list)
        records: defaultdict[int, list[Identifier]] = defaultdict(list)
        with self.database.reading() as connection:
            rows = select_in_chunks(connection, wanted, lambda part: query.where(entity.c.id.in_(part)))
            for row in select_in_chunks(connection, wanted, lambda part: forms.where(form.c.entity_id.in_(part))):
                lemmas[row.entity_id].append(row.text)
            for row in select_in_chunks(connection, wanted, lambda part: known.where(identifier.c.entity_id.in_(part))):
                records[row.entity_id].append(Identifier(row.iri, row.score))
        return [to_entity(row, lemmas[row.id], records[row.id]) for row in rows]


def to_entity(row: Any, lemmas: Iterable[str], identifiers: Iterable[Identifier]) -> Entity:
    """Return an entity's row with its lemmas and identifiers."""
    return Entity(
        id=row.id,
        key=EntityKey(row.kind, row.slug, row.sense),
        name=row.name,
        given=row.given,
        family=row.family,
        lemmas=tuple(sorted(lemmas)),
        documents=row.documents if row.merged_into is None else 0,
        identifiers=tuple(sorted(identifiers)),
    )


def _versions(connection: Connection, ids: list[int]) -> defaultdict[int, list[Version]]:
    versions: defaultdict[int, list[Version]] = defaultdict(list)
    for row in select_in_chunks(connection, ids, lambda part: VERSIONS.where(version.c.resource_id.in_(part))):
        versions[row.resource_id].append(to_version(row))
    return versions


def _documents(connection: Connection, ids: list[int]) -> dict[int, ReadingFacts]:
    query = select(document.c.resource_id, *READING_COLUMNS).join(reading, reading.c.id == document.c.reading_id)
    query = query.outerjoin(file, file.c.id == reading.c.file_id)
    rows = select_in_chunks(connection, ids, lambda part: query.where(document.c.resource_id.in_(part)))
    return {row.resource_id: to_facts(row) for row in rows}


def _briefs(connection: Connection, ids: list[int]) -> defaultdict[int, list[FacetBrief]]:
    briefs: defaultdict[int, list[FacetBrief]] = defaultdict(list)
    query = select(document.c.resource_id, facet.c.name, facet.c.version, facet.c.data)
    query = query.join(facet, facet.c.reading_id == document.c.reading_id).order_by(facet.c.name)
    for row in select_in_chunks(connection, ids, lambda part: query.where(document.c.resource_id.in_(part))):
        briefs[row.resource_id].append(FacetBrief(name=row.name, version=row.version, data=bytes(row.data)))
    return briefs


def _aliases(connection: Connection, ids: list[int]) -> defaultdict[int, list[str]]:
    """Return the URLs that redirect here, directly or by others: level by level, from the ends."""
    aliases: defaultdict[int, list[str]] = defaultdict(list)
    end_of = {row: row for row in ids}
    level = ids
    query = select(resource.c.id, resource.c.url, resource.c.redirect_to)
    while level:
        rows = select_in_chunks(connection, level, lambda part: query.where(resource.c.redirect_to.in_(part)))
        for row in rows:
            end_of[row.id] = end_of[row.redirect_to]
            aliases[end_of[row.id]].append(row.url)
        level = [row.id for row in rows]
    return aliases


def _mentions(connection: Connection, ids: list[int]) -> defaultdict[int, list[EntityKey]]:
    mentions: defaultdict[int, list[EntityKey]] = defaultdict(list)
    query = select(document.c.resource_id, entity.c.kind, entity.c.slug, entity.c.sense)
    query = query.join(mention, mention.c.reading_id == document.c.reading_id).join(
        entity, entity.c.id == mention.c.entity_id
    )
    for row in select_in_chunks(connection, ids, lambda part: query.where(document.c.resource_id.in_(part))):
        mentions[row.resource_id].append(EntityKey(row.kind, row.slug, row.sense))
    return mentions

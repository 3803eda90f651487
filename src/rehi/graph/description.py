"""A description: the triples about a document or an entity, each in one named graph only, by the topics that rehi brings."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import orjson
from pyoxigraph import Literal, NamedNode, Triple

from rehi.builtin import load_all
from rehi.errors import FacetFailed, RehiError
from rehi.graph import vocabulary as v
from rehi.graph.identifiers import (
    document_iri,
    entities_graph,
    entity_iri,
    mint,
    resource_graph,
    version_iri,
)
from rehi.model.entity import Entity
from rehi.model.kinds import EntityKind
from rehi.model.work import ResourceDescription
from rehi.ports import GraphChange, GraphContext, ReplaceGraph, ReplaceSubject

_log = logging.getLogger(__name__)

_TYPE = NamedNode(v.RDF + "type")
_DOCUMENT = NamedNode(v.FOAF + "Document")
_TITLE = NamedNode(v.DCTERMS + "title")
_MEDIA_TYPE = NamedNode(v.DCAT + "mediaType")
_HAS_VERSION = NamedNode(v.DCTERMS + "hasVersion")
_IDENTIFIER = NamedNode(v.DCTERMS + "identifier")
_ISSUED = NamedNode(v.DCTERMS + "issued")
_BYTE_SIZE = NamedNode(v.DCAT + "byteSize")
_REVISION_OF = NamedNode(v.PROV + "wasRevisionOf")
_GONE_AT = NamedNode(v.PROV + "invalidatedAtTime")
_REDIRECTS_TO = NamedNode(v.REHI + "redirectsTo")
_NAME = NamedNode(v.FOAF + "name")
_GIVEN = NamedNode(v.FOAF + "givenName")
_FAMILY = NamedNode(v.FOAF + "familyName")
_LEMMA = NamedNode(v.NER + "lemma")
_SAME_AS = NamedNode(v.OWL + "sameAs")
_CLOSE_MATCH = NamedNode(v.SKOS + "closeMatch")
_DATE_TIME = NamedNode(v.XSD + "dateTime")
_INTEGER = NamedNode(v.XSD + "integer")

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # not XML, so not in RDF/XML either


class ResourceTopic:
    """Documents: their metadata, versions, mentions and what facets state, each in a graph of its own."""

    follows = ""

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        """Return the ids of resources that have versions."""
        return context.catalogue.resource_ids(after=after, limit=limit)

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Return the changes that bring the graphs of resources up to date; a facet that fails costs only what it states."""
        changes: dict[int, list[GraphChange]] = {}
        for resource in context.catalogue.describe_resources(subjects):
            graph = resource_graph(context.base, resource.resource_id)
            triples = tuple(dict.fromkeys(_describe_resource(resource, context)))
            changes[resource.resource_id] = [ReplaceGraph(graph, triples)]
        return changes


class EntityTopic:
    """Entities: their kinds, names and forms, all in one graph."""

    follows = ""

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        """Return the ids of entities."""
        return context.catalogue.entity_ids(after=after, limit=limit)

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Return the changes that bring the descriptions of entities up to date; what no document mentions is gone."""
        graph = entities_graph(context.base)
        changes: dict[int, list[GraphChange]] = {}
        for entity in context.catalogue.describe_entities(subjects):
            subject = entity_iri(context.base, entity.key)
            triples = tuple(dict.fromkeys(_describe_entity(entity, subject))) if entity.documents > 0 else ()
            changes[entity.id] = [ReplaceSubject(graph, subject, triples)]
        return changes


RESOURCES = ResourceTopic()
ENTITIES = EntityTopic()


def _describe_resource(resource: ResourceDescription, context: GraphContext) -> Iterator[Triple]:
    if not resource.versions and resource.document is None:
        return  # nothing was ever kept of it, so there is nothing to describe
    page = document_iri(resource.url)
    if page is None:
        _log.warning("resource %d is left out of the graph: %r can't be an IRI", resource.resource_id, resource.url)
        return
    yield Triple(page, _TYPE, _DOCUMENT)
    if (facts := resource.document) is not None:
        if title := _writable(facts.title):
            yield Triple(page, _TITLE, Literal(title))
        if facts.media_type:
            yield Triple(page, _MEDIA_TYPE, Literal(_writable(facts.media_type)))
    if resource.gone_at is not None:
        yield Triple(page, _GONE_AT, Literal(_timestamp(resource.gone_at), datatype=_DATE_TIME))
    yield from _describe_versions(resource, page, context.base)
    for alias in resource.aliases:
        if (other := document_iri(alias)) is not None and other != page:
            yield Triple(other, _REDIRECTS_TO, page)
    yield from _describe_facets(PageContext(page, resource, partial(mint, context.base)), context.note)


@dataclass(frozen=True, slots=True)
class PageContext:
    """The port DescribedPage: a page while facets state what they know of it."""

    iri: NamedNode
    description: ResourceDescription
    mint: Callable[..., NamedNode]  # the IRI of segments under the public base


def _describe_facets(page: PageContext, note: Callable[[str, RehiError], None]) -> Iterator[Triple]:
    """State what every facet that is installed says of a page; what is kept of one that isn't stays unsaid."""
    briefs = {brief.name: brief for brief in page.description.briefs}
    for name, facet in load_all("facet").items():
        brief = briefs.get(name)
        try:
            yield from tuple(facet.state(orjson.loads(brief.data) if brief else None, page))
        except Exception as error:  # an outsider's facet may raise whatever it likes
            note(f"facet {name}", FacetFailed(f"{page.description.url}: {type(error).__name__}: {error}"))


def _describe_versions(resource: ResourceDescription, page: NamedNode, base: str) -> Iterator[Triple]:
    before: NamedNode | None = None
    for version in sorted(resource.versions, key=lambda version: (version.taken_at, version.number)):
        node = version_iri(base, resource.resource_id, version.number)
        yield Triple(page, _HAS_VERSION, node)
        yield Triple(node, _IDENTIFIER, Literal(version.digest))
        yield Triple(node, _ISSUED, Literal(_timestamp(version.taken_at), datatype=_DATE_TIME))
        yield Triple(node, _BYTE_SIZE, Literal(str(version.size), datatype=_INTEGER))
        if before is not None:
            yield Triple(node, _REVISION_OF, before)
        before = node


def _describe_entity(entity: Entity, subject: NamedNode) -> Iterator[Triple]:
    name = _writable(entity.name)
    kind: EntityKind | None = load_all("entity_kind").get(entity.key.kind)  # None if its package is installed no more
    yield Triple(subject, _NAME, Literal(name))
    if kind is not None:
        yield Triple(subject, _TYPE, NamedNode(kind.class_iri))
        if kind.name_iri:
            yield Triple(subject, NamedNode(kind.name_iri), Literal(name))
    if given := _writable(entity.given):
        yield Triple(subject, _GIVEN, Literal(given))
    if family := _writable(entity.family):
        yield Triple(subject, _FAMILY, Literal(family))
    for lemma in entity.lemmas:
        yield Triple(subject, _LEMMA, Literal(_writable(lemma)))
    for known in entity.identifiers:
        if (record := document_iri(known.iri)) is not None:
            yield Triple(subject, _SAME_AS if known.score >= 1 else _CLOSE_MATCH, record)


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("", text)


def _timestamp(moment: datetime) -> str:
    """Return a moment in UTC as Oxigraph writes it: a literal that the store respells would look like a change each time."""
    text = moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    return f"{text.rstrip('0') if '.' in text else text}Z"

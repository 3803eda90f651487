"""A description: the triples about a document or an entity, each of them in one named graph only."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Triple

from rehi.graph import vocabulary as v
from rehi.graph.identifiers import (
    document_iri,
    entities_graph,
    entity_iri,
    resource_graph,
    version_iri,
    vocabulary_graph,
)
from rehi.graph.ontology import describe_ontology
from rehi.model.document import NameKind
from rehi.model.entity import Entity
from rehi.model.version import Version
from rehi.model.work import GraphWork, ResourceDescription
from rehi.ports import GraphChange, ReplaceGraph, ReplaceSubject

_log = logging.getLogger(__name__)

_TYPE = NamedNode(v.RDF + "type")
_DOCUMENT = NamedNode(v.FOAF + "Document")
_TITLE = NamedNode(v.DCTERMS + "title")
_LANGUAGE = NamedNode(v.DCTERMS + "language")
_MEDIA_TYPE = NamedNode(v.DCAT + "mediaType")
_HAS_VERSION = NamedNode(v.DCTERMS + "hasVersion")
_IDENTIFIER = NamedNode(v.DCTERMS + "identifier")
_ISSUED = NamedNode(v.DCTERMS + "issued")
_BYTE_SIZE = NamedNode(v.DCAT + "byteSize")
_REVISION_OF = NamedNode(v.PROV + "wasRevisionOf")
_GONE_AT = NamedNode(v.PROV + "invalidatedAtTime")
_REDIRECTS_TO = NamedNode(v.REHI + "redirectsTo")
_MENTIONED = NamedNode(v.NER + "mentionedAtSite")
_NAME = NamedNode(v.FOAF + "name")
_GIVEN = NamedNode(v.FOAF + "givenName")
_FAMILY = NamedNode(v.FOAF + "familyName")
_LEMMA = NamedNode(v.NER + "lemma")
_DATE_TIME = NamedNode(v.XSD + "dateTime")
_INTEGER = NamedNode(v.XSD + "integer")

_CLASS = {
    NameKind.PERSON: NamedNode(v.NERD + "Person"),
    NameKind.ORGANISATION: NamedNode(v.NERD + "Organization"),
    NameKind.PLACE: NamedNode(v.NERD + "Location"),
}
_KIND_NAME = {
    NameKind.ORGANISATION: NamedNode(v.NER + "orgName"),
    NameKind.PLACE: NamedNode(v.NER + "locationName"),
}
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # not XML, so not in RDF/XML either


def describe(work: GraphWork, base: str) -> tuple[list[GraphChange], dict[int, int]]:
    """Return the changes that bring the graph up to date, and the number of triples by resource id."""
    entities = entities_graph(base)
    changes: list[GraphChange] = []
    counts: dict[int, int] = {}
    for resource in work.resources:
        triples = tuple(dict.fromkeys(_describe_resource(resource, base)))
        changes.append(ReplaceGraph(resource_graph(base, resource.resource_id), triples))
        counts[resource.resource_id] = len(triples)
    for entity in work.entities:
        subject = entity_iri(base, entity.key)
        changes.append(ReplaceSubject(entities, subject, tuple(dict.fromkeys(_describe_entity(entity, subject)))))
    changes.extend(ReplaceSubject(entities, entity_iri(base, key), ()) for key in work.vanished)
    return changes, counts


def describe_vocabulary(base: str) -> ReplaceGraph:
    """Return the change that writes the graph of the vocabulary."""
    return ReplaceGraph(vocabulary_graph(base), tuple(describe_ontology()))


def _describe_resource(resource: ResourceDescription, base: str) -> Iterator[Triple]:
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
        if facts.language and facts.language != "und":
            yield Triple(page, _LANGUAGE, Literal(_writable(facts.language)))
        if facts.media_type:
            yield Triple(page, _MEDIA_TYPE, Literal(_writable(facts.media_type)))
    if resource.gone_at is not None:
        yield Triple(page, _GONE_AT, Literal(_timestamp(resource.gone_at), datatype=_DATE_TIME))
    yield from _describe_versions(resource, page, base)
    for alias in resource.aliases:
        if (other := document_iri(alias)) is not None and other != page:
            yield Triple(other, _REDIRECTS_TO, page)
    for key in resource.mentions:
        yield Triple(entity_iri(base, key), _MENTIONED, page)


def _describe_versions(resource: ResourceDescription, page: NamedNode, base: str) -> Iterator[Triple]:
    before: NamedNode | None = None
    for version in sorted(resource.versions, key=lambda version: (version.taken_at, version.number)):
        node = version_iri(base, resource.resource_id, version.number)
        yield Triple(page, _HAS_VERSION, node)
        yield from _describe_version(version, node)
        if before is not None:
            yield Triple(node, _REVISION_OF, before)
        before = node


def _describe_version(version: Version, node: NamedNode) -> Iterator[Triple]:
    yield Triple(node, _IDENTIFIER, Literal(version.digest))
    yield Triple(node, _ISSUED, Literal(_timestamp(version.taken_at), datatype=_DATE_TIME))
    yield Triple(node, _BYTE_SIZE, Literal(str(version.size), datatype=_INTEGER))


def _describe_entity(entity: Entity, subject: NamedNode) -> Iterator[Triple]:
    kind, name = entity.key.kind, _writable(entity.name)
    yield Triple(subject, _TYPE, _CLASS[kind])
    yield Triple(subject, _NAME, Literal(name))
    if kind in _KIND_NAME:
        yield Triple(subject, _KIND_NAME[kind], Literal(name))
    if given := _writable(entity.given):
        yield Triple(subject, _GIVEN, Literal(given))
    if family := _writable(entity.family):
        yield Triple(subject, _FAMILY, Literal(family))
    for lemma in entity.lemmas:
        yield Triple(subject, _LEMMA, Literal(_writable(lemma)))


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("", text)


def _timestamp(moment: datetime) -> str:
    """Return a moment in UTC as Oxigraph writes it: a literal that the store respells would look like a change each time."""
    text = moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    return f"{text.rstrip('0') if '.' in text else text}Z"

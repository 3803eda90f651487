"""The graph of the query benchmark: made-up entities and the pages that mention them, in the thesis's shape.

People, organisations and places with their names and lemmas in one graph, and a graph for each page with its metadata and
mentions. A few entities are mentioned on many pages and most on a few, as in a real harvest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from pyoxigraph import Literal, NamedNode, Triple

from rehi.graph import vocabulary as v
from rehi.graph.identifiers import entities_graph, entity_iri, resource_graph
from rehi.model.entity import EntityKey
from rehi.ports import GraphChange, ReplaceGraph, ReplaceSubject

_KINDS = ("person", "organisation", "place")
_CLASSES = {"person": "Person", "organisation": "Organization", "place": "Location"}
_NAMES = {"organisation": NamedNode(v.NER + "orgName"), "place": NamedNode(v.NER + "locationName")}
_TYPE = NamedNode(v.RDF + "type")
_LEMMA = NamedNode(v.NER + "lemma")
_MENTIONED = NamedNode(v.NER + "mentionedAtSite")
_SYLLABLES = ("ka", "ri", "ta", "mi", "lo", "se", "va", "ne", "ju", "ha", "re", "ki", "po", "lu", "ma", "to")
_MENTIONS = (
    14  # on a page, about: with 5 entities for 2 pages the thesis's harvest has about as many statements of each kind
)
_ENTITIES_PER_PAGE = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What there is to ask for: a name of each kind, and a page."""

    names: dict[str, str]
    page: str


def changes(statements: int, base: str) -> Iterator[GraphChange]:
    """Yield changes that make a graph of at least so many statements, the same each time."""
    random, made, known = Random(7), 0, list[NamedNode]()  # noqa: S311 - not for secrets
    for number in count():
        if made >= statements:
            return
        while len(known) < (number + 1) * _ENTITIES_PER_PAGE:
            entity = describe_entity(len(known), base)
            known.append(entity.subject)
            made += len(entity.triples)
            yield entity
        triples = tuple(dict.fromkeys(_describe_page(number, known, random)))
        made += len(triples)
        yield ReplaceGraph(resource_graph(base, number + 1), triples)


def named() -> Named:
    """Return the name of the first entity of each kind, which is mentioned often, and a page."""
    return Named(names={kind: _name(number, kind) for number, kind in enumerate(_KINDS)}, page=_url(40))


def describe_entity(number: int, base: str) -> ReplaceSubject:
    """Return what is said of one entity."""
    kind = _KINDS[number % 3]
    name = _name(number, kind)
    subject = entity_iri(base, EntityKey(kind, f"{name.lower().replace(' ', '-')}-{number}"))
    triples = [
        Triple(subject, _TYPE, NamedNode(v.NERD + _CLASSES[kind])),
        Triple(subject, NamedNode(v.FOAF + "name"), Literal(name)),
        Triple(subject, _LEMMA, Literal(name)),
        Triple(subject, _LEMMA, Literal(name.lower())),
    ]
    if kind in _NAMES:
        triples.append(Triple(subject, _NAMES[kind], Literal(name)))
    else:
        given, _, family = name.partition(" ")
        triples.append(Triple(subject, NamedNode(v.FOAF + "givenName"), Literal(given)))
        triples.append(Triple(subject, NamedNode(v.FOAF + "familyName"), Literal(family)))
    return ReplaceSubject(entities_graph(base), subject, tuple(triples))


def _describe_page(number: int, known: list[NamedNode], random: Random) -> Iterator[Triple]:
    page = NamedNode(_url(number))
    yield Triple(page, _TYPE, NamedNode(v.FOAF + "Document"))
    yield Triple(page, NamedNode(v.DCTERMS + "title"), Literal(f"Leht {number}"))
    yield Triple(page, NamedNode(v.DCTERMS + "language"), Literal("et"))
    yield Triple(page, NamedNode(v.DCAT + "mediaType"), Literal("text/html"))
    for first in known[:3]:  # whoever is asked for is on every twentieth page
        if number % 20 == 0:
            yield Triple(first, _MENTIONED, page)
    for _ in range(_MENTIONS):
        # Squaring makes the first entities frequent and the last rare.
        yield Triple(known[int(random.random() ** 2 * len(known))], _MENTIONED, page)


def _name(number: int, kind: str) -> str:
    parts = [_SYLLABLES[number >> shift & 15] for shift in (0, 4, 8, 12, 16)]
    first, second = "".join(parts[:2]).capitalize(), "".join(parts[2:]).capitalize()
    return {"person": f"{first} {second}", "organisation": f"{first}{second} AS"}.get(kind, f"{first}{second}")


def _url(number: int) -> str:
    return f"http://www.asutus{number % 300}.ee/lehed/{number}.html"

"""The ontology: describes the properties that no common vocabulary has, in the graph itself."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode, Triple

from rehi.graph import vocabulary as v

_ONTOLOGIES = {
    v.NER: ("Names on pages", "Names of people, organisations and places, and the pages on which they were found."),
    v.REHI: ("rehi", "What rehi says of harvested documents and no common vocabulary has a word for."),
}
_LITERALS = {
    v.NER + "orgName": ("organisation name", "The name of an organisation as it was recognised in a text."),
    v.NER + "locationName": ("place name", "The name of a place as it was recognised in a text."),
    v.NER + "lemma": (
        "basic form",
        "A basic form under which the entity can be looked up: its name, other readings of it, and each in lower case.",
    ),
}
_LINKS = {
    v.NER + "mentionedAtSite": ("is mentioned at", "A document in which the entity is mentioned now."),
    v.REHI + "redirectsTo": ("redirects to", "The document to which the server sends those who ask for this address."),
}


def describe_ontology() -> Iterator[Triple]:
    """Yield the triples that describe the ontologies and their properties."""
    for name, words in _ONTOLOGIES.items():
        yield from _describe(name, v.OWL + "Ontology", v.DC + "title", words)
    for name, words in _LITERALS.items():
        yield from _describe(name, v.OWL + "DatatypeProperty", v.RDFS + "label", words)
    for name, words in _LINKS.items():
        yield from _describe(name, v.OWL + "ObjectProperty", v.RDFS + "label", words)


def _describe(name: str, kind: str, title_property: str, words: tuple[str, str]) -> Iterator[Triple]:
    subject, (title, text) = NamedNode(name), words
    yield Triple(subject, NamedNode(v.RDF + "type"), NamedNode(kind))
    yield Triple(subject, NamedNode(title_property), Literal(title, language="en"))
    yield Triple(subject, NamedNode(v.DC + "description"), Literal(text, language="en"))

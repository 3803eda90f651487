"""The ontology: describes the properties that no common vocabulary has, in the graph itself."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Triple

from rehi.graph import vocabulary as v
from rehi.graph.identifiers import mint
from rehi.ports import ReplaceGraph

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
    v.REHI + "generation": ("generation", "Which graph this is: drawn by lot when it was begun."),
    v.REHI + "batch": ("batch", "How many times something was written to this graph."),
}
_LINKS = {
    v.NER + "mentionedAtSite": ("is mentioned at", "A document in which the entity is mentioned now."),
    v.REHI + "redirectsTo": ("redirects to", "The document to which the server sends those who ask for this address."),
}


def describe_vocabulary(base: str) -> ReplaceGraph:
    """Return the change that writes the graph of the vocabulary: the ontologies and their properties."""
    triples: list[Triple] = []
    for described, kind, called in (
        (_ONTOLOGIES, v.OWL + "Ontology", v.DC + "title"),
        (_LITERALS, v.OWL + "DatatypeProperty", v.RDFS + "label"),
        (_LINKS, v.OWL + "ObjectProperty", v.RDFS + "label"),
    ):
        for iri, (title, text) in described.items():
            subject = NamedNode(iri)
            triples += (
                Triple(subject, NamedNode(v.RDF + "type"), NamedNode(kind)),
                Triple(subject, NamedNode(called), Literal(title, language="en")),
                Triple(subject, NamedNode(v.DC + "description"), Literal(text, language="en")),
            )
    return ReplaceGraph(mint(base, "graph", "vocabulary"), tuple(triples))

"""Graph: describes documents and entities as RDF triples, and checks SPARQL queries over them."""

from __future__ import annotations

from rehi.graph.ontology import describe_vocabulary
from rehi.graph.query import QueryKind, prepare_query, query_kind
from rehi.graph.results import choose_media_type, media_type_for

__all__ = [
    "QueryKind",
    "choose_media_type",
    "describe_vocabulary",
    "media_type_for",
    "prepare_query",
    "query_kind",
]

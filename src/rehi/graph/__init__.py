"""Graph: describes documents and entities as RDF triples, and checks SPARQL queries over them."""

from __future__ import annotations

from rehi.graph.comparison import read_statements
from rehi.graph.identifiers import entities_graph, mint
from rehi.graph.mark import compare_marks, describe_mark, find_gap, mark_graph, read_mark
from rehi.graph.ontology import describe_vocabulary
from rehi.graph.query import PreparedQuery, QueryKind, prepare_query
from rehi.graph.results import choose_media_type, media_type_for
from rehi.graph.topics import ALL, GraphTopic, load_topics, put_all, rewritten_kinds

__all__ = [
    "ALL",
    "GraphTopic",
    "PreparedQuery",
    "QueryKind",
    "choose_media_type",
    "compare_marks",
    "describe_mark",
    "describe_vocabulary",
    "entities_graph",
    "find_gap",
    "load_topics",
    "mark_graph",
    "media_type_for",
    "mint",
    "prepare_query",
    "put_all",
    "read_mark",
    "read_statements",
    "rewritten_kinds",
]

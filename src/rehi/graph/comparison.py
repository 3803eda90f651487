"""A comparison: reads what the graph says, at one moment, wherever some changes would write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set

from pyoxigraph import NamedNode, QueryResultsFormat, QuerySolutions, Triple, parse_query_results

from rehi.graph.mark import mark_graph, read_mark
from rehi.model.generation import GraphMark
from rehi.ports import Graph, GraphChange, QueryLimits, ReplaceGraph

_JSON = "application/sparql-results+json"


def read_statements(
    graph: Graph, base: str, changes: Sequence[GraphChange], *, limits: QueryLimits
) -> tuple[GraphMark | None, Mapping[GraphChange, Set[Triple]]]:
    """Return what the published graph says where changes would write, and the mark that it bore then."""
    mark = mark_graph(base)
    whole = [mark, *(change.graph for change in changes if isinstance(change, ReplaceGraph))]
    pairs = [(change.graph, change.subject) for change in changes if not isinstance(change, ReplaceGraph)]
    parts = [f"{{ VALUES ?g {{ {' '.join(map(str, whole))} }} GRAPH ?g {{ ?s ?p ?o }} }}"]
    if pairs:
        rows = " ".join(f"({name} {subject})" for name, subject in pairs)
        parts.append(f"{{ VALUES (?g ?s) {{ {rows} }} GRAPH ?g {{ ?s ?p ?o }} }}")
    answer = graph.query(f"SELECT ?g ?s ?p ?o {{ {' UNION '.join(parts)} }}", media_type=_JSON, limits=limits)
    solutions = parse_query_results(b"".join(answer.chunks), QueryResultsFormat.JSON)
    assert isinstance(solutions, QuerySolutions)
    by_graph: defaultdict[object, set[Triple]] = defaultdict(set)
    by_subject: defaultdict[object, set[Triple]] = defaultdict(set)
    for name, subject, predicate, value in solutions:
        assert isinstance(predicate, NamedNode)
        triple = Triple(subject, predicate, value)
        by_graph[name].add(triple)
        by_subject[name, subject].add(triple)
    statements: dict[GraphChange, Set[Triple]] = {
        change: by_graph[change.graph] if isinstance(change, ReplaceGraph) else by_subject[change.graph, change.subject]
        for change in changes
    }
    return read_mark(by_graph[mark]), statements

"""The mark: two statements in a graph of their own, by which the catalogue knows which graph it is and what was written."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Triple

from rehi.errors import Busy, GraphDamaged, QueryError
from rehi.graph import vocabulary as v
from rehi.graph.identifiers import mint
from rehi.model.generation import GraphCondition, GraphMark, GraphRecord
from rehi.ports import Graph, ReplaceGraph

GENERATION = NamedNode(v.REHI + "generation")
BATCH = NamedNode(v.REHI + "batch")
_INTEGER = NamedNode(v.XSD + "integer")


def mark_graph(base: str) -> NamedNode:
    """Return the IRI of the graph that holds the mark; it is what the mark is about, too."""
    return mint(base, "graph", "mark")


def describe_mark(base: str, mark: GraphMark) -> ReplaceGraph:
    """Return the change that writes the mark; it goes with the batch that it counts, in one transaction."""
    graph = mark_graph(base)
    batch = Literal(str(mark.batch), datatype=_INTEGER)
    return ReplaceGraph(
        graph, (Triple(graph, GENERATION, Literal(mark.generation)), Triple(graph, BATCH, batch))
    )  # fmt: skip


def compare_marks(record: GraphRecord, mark: GraphMark | None, *, size: int, shared: bool) -> GraphCondition:
    """Return in which condition a graph with this mark and size is, by what the catalogue knows of it.

    Each batch is written to the graph first, so that the graph may be one batch ahead, and never behind. Where several
    workers write to one graph, only its generation tells something.
    """
    known = record.mark
    if known is None:
        if mark is not None and mark.batch:
            return GraphCondition.OTHER
        return GraphCondition.WHOLE if size >= record.statements else GraphCondition.MISSING
    if mark is None:
        return GraphCondition.MISSING
    if mark.generation != known.generation:
        return GraphCondition.OTHER
    if shared or known.batch <= mark.batch <= known.batch + 1:
        return GraphCondition.WHOLE
    return GraphCondition.OLDER if mark.batch < known.batch else GraphCondition.OTHER


def find_gap(record: GraphRecord, graph: Graph, base: str) -> str:
    """Return why the graph does not say all that the catalogue has had written; empty if it does, or if it can't be told now."""
    if record.rewriting:
        return f"The graph is being written again from the catalogue: {record.rewriting}."
    if record.mark is None:
        return ""
    try:
        mark = read_mark(graph.read(mark_graph(base)))
    except GraphDamaged:
        return "The graph can't be read; the next harvest writes it again."
    except (QueryError, Busy):
        return ""
    if mark is None or mark.generation != record.mark.generation:
        return "The graph is not the one that the catalogue has written; the next harvest writes it again."
    return ""


def read_mark(triples: Iterable[Triple]) -> GraphMark | None:
    """Return the mark that a graph bears; None if it bears none, or half of one."""
    values = {
        triple.predicate: triple.object.value for triple in triples if isinstance(triple.object, Literal)
    }  # fmt: skip
    generation, batch = values.get(GENERATION, ""), values.get(BATCH, "")
    return GraphMark(generation=generation, batch=int(batch)) if generation and batch.isdecimal() else None

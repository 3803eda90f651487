"""What is in the graph and of nothing that the catalogue knows is found, removed and kept beside it; what is not ours stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Store

from rehi.app import House
from rehi.operations.health import HousePart, examine_house, mend
from rehi.testing.snapshot import take_snapshot
from tests.health.conftest import settings_of

SAYS = NamedNode("http://planted.test/says")
NODE = NamedNode("http://planted.test/node")


def base_of(data: Path) -> str:
    return settings_of(data).base.rstrip("/")


def plant(data: Path, quads: Sequence[Quad]) -> None:
    """Write statements into the store itself, as no harvest does."""
    store = Store(str(data / "graph" / "store"))
    store.extend(quads)
    store.flush()
    del store


def look(data: Path) -> tuple[str, list[str]]:
    with House(settings_of(data)) as house:
        (graph,) = [seen for seen in examine_house(house, deep=True) if seen.part is HousePart.GRAPH]
    return graph.seen, [ailment.why for ailment in graph.ailments]


def quad(graph: str, *, subject: NamedNode | BlankNode = NODE, value: str = "planted") -> Quad:
    return Quad(subject, SAYS, Literal(value), NamedNode(graph))


WAYS = {
    "a graph of a document that never was": lambda base: [quad(f"{base}/graph/resource/999999")],
    "a graph whose name is no number": lambda base: [
        quad(f"{base}/graph/resource/one", value=str(n)) for n in range(3)
    ],
    "a graph of another kind": lambda base: [quad(f"{base}/graph/left/over")],
    "an entity that never was": lambda base: [
        quad(f"{base}/graph/entities", subject=NamedNode(f"{base}/entity/person/nobody"))
    ],
    "a node without a name among entities": lambda base: [quad(f"{base}/graph/entities", subject=BlankNode())],
    "a statement in the vocabulary": lambda base: [quad(f"{base}/graph/vocabulary")],
    "a statement beside the mark": lambda base: [quad(f"{base}/graph/mark")],
    "a statement in a document's graph": lambda base: [quad(f"{base}/graph/resource/1")],
    "many of them": lambda base: [quad(f"{base}/graph/resource/{n}") for n in range(10_000, 10_250)],
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_stray_is_found_and_removed(data: Path, way: str) -> None:
    with House(settings_of(data)) as house:
        before = take_snapshot(house)
    planted = WAYS[way](base_of(data))
    plant(data, planted)
    _, why = look(data)
    assert why
    assert mend(settings_of(data)).done
    assert look(data)[1] == []
    with House(settings_of(data)) as house:
        assert take_snapshot(house) == before
    aside = data / "graph-strays.nq"
    assert list(data.glob("graph-aside-*")) or all(f"{one} .".encode() in aside.read_bytes() for one in planted)
    assert mend(settings_of(data)).done == []


def test_how_many_and_some_of_them_are_named(data: Path) -> None:
    plant(data, WAYS["many of them"](base_of(data)))
    (why,) = look(data)[1]
    assert why.startswith("250 descriptions are of nothing that the catalogue knows: ")
    assert f"<{base_of(data)}/graph/resource/10" in why


def test_graphs_that_are_not_ours_are_named_and_left_alone(data: Path) -> None:
    base = base_of(data)
    others = [quad("http://other.test/graph"), Quad(NODE, SAYS, Literal("loose"), DefaultGraph())]
    plant(data, [*others, quad(f"{base}/graph/resource/777")])
    seen, why = look(data)
    assert len(why) == 1
    assert "2 graphs are not ours and left alone" in seen
    assert "<http://other.test/graph>" in seen
    assert "the default graph with 1 statements" in seen
    mend(settings_of(data))
    seen, why = look(data)
    assert why == []
    assert "<http://other.test/graph>" in seen
    store = Store.read_only(str(data / "graph" / "store"))
    assert all(one in store for one in others)

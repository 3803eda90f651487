"""The graph's contract: what every engine behind the Graph port must do."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from rehi.errors import QueryError, QueryTimeout
from rehi.ports import Graph, GraphChange, QueryLimits, ReplaceGraph, ReplaceSubject
from rehi.testing.waiting import PATIENCE

JSON = "application/sparql-results+json"
LIMITS = QueryLimits(seconds=PATIENCE)
COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


def node(name: str) -> NamedNode:
    """Return a node for tests."""
    return NamedNode(f"http://nodes.test/{name}")


def says(subject: str, predicate: str, text: str) -> Triple:
    """Return a statement for tests."""
    return Triple(node(subject), node(predicate), Literal(text))


def tell(graph: Graph, *changes: GraphChange) -> None:
    """Write and publish."""
    graph.write(changes)
    graph.publish()


def ask(graph: Graph, text: str, *, media_type: str = "text/csv", limits: QueryLimits = LIMITS) -> str:
    """Return the whole answer as text."""
    answer = graph.query(text, media_type=media_type, limits=limits)
    assert answer.media_type == media_type
    return b"".join(answer.chunks).decode()


def values(graph: Graph, text: str) -> list[str]:
    """Return the values of a query for one variable, sorted."""
    bindings: list[dict[str, Any]] = json.loads(ask(graph, text, media_type=JSON))["results"]["bindings"]
    return sorted(value["value"] for row in bindings for value in row.values())


class GraphContract:
    """The specification of the Graph port; a subclass gives the fixture ``graph``, an empty one each time."""

    def test_an_empty_graph_answers(self, graph: Graph) -> None:
        assert values(graph, COUNT) == ["0"]
        assert graph.size() == 0

    def test_what_was_written_is_answered_once_it_is_published(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("võru", "name", 'Võru "linn"\n\t\\ õäöü €🌾'),)))
        assert values(graph, "SELECT ?o { ?s ?p ?o }") == ['Võru "linn"\n\t\\ õäöü €🌾']
        assert graph.size() == 1

    def test_a_replaced_graph_no_longer_says_what_it_said(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "old"), says("a", "p", "both"))))
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "both"), says("b", "p", "new"))))
        assert values(graph, "SELECT ?o { ?s ?p ?o }") == ["both", "new"]

    def test_other_graphs_stay_when_one_is_replaced(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"),)), ReplaceGraph(node("h"), (says("a", "p", "2"),)))
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "3"),)))
        assert values(graph, "SELECT ?o { ?s ?p ?o }") == ["2", "3"]

    def test_an_empty_description_drops_the_graph(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"),)))
        tell(graph, ReplaceGraph(node("g"), ()))
        assert values(graph, COUNT) == ["0"]
        assert values(graph, "SELECT DISTINCT ?g { GRAPH ?g { } }") == []

    def test_a_replaced_subject_leaves_the_others_alone(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"), says("b", "p", "2"))))
        tell(graph, ReplaceSubject(node("g"), node("a"), (says("a", "p", "3"), says("a", "q", "4"))))
        assert values(graph, "SELECT ?o { ?s ?p ?o }") == ["2", "3", "4"]

    def test_a_subject_of_which_nothing_is_said_is_gone(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"), says("b", "p", "2"))))
        tell(graph, ReplaceSubject(node("g"), node("a"), ()))
        assert values(graph, "SELECT ?s { ?s ?p ?o }") == [node("b").value]

    def test_the_last_change_in_a_batch_wins(self, graph: Graph) -> None:
        tell(
            graph,
            ReplaceSubject(node("g"), node("b"), (says("b", "p", "lost"),)),
            ReplaceGraph(node("g"), (says("a", "p", "1"), says("c", "p", "kept"))),
            ReplaceSubject(node("g"), node("a"), (says("a", "p", "2"),)),
        )
        assert values(graph, "SELECT ?o { ?s ?p ?o }") == ["2", "kept"]

    def test_saying_the_same_again_changes_nothing(self, graph: Graph) -> None:
        change = ReplaceGraph(node("g"), (says("a", "p", "1"), says("a", "p", "2")))
        tell(graph, change)
        tell(graph, change, change)
        assert graph.size() == 2
        assert values(graph, COUNT) == ["2"]

    def test_an_empty_batch_is_welcome(self, graph: Graph) -> None:
        tell(graph)
        assert graph.size() == 0

    def test_the_union_of_all_graphs_counts_each_statement_once(self, graph: Graph) -> None:
        tell(
            graph,
            *(ReplaceGraph(node(f"g{i}"), (says("a", "p", str(i)), says("a", "q", "x" + str(i)))) for i in range(5)),
        )
        assert values(graph, COUNT) == ["10"]
        assert values(graph, f"SELECT (COUNT(*) AS ?n) {{ ?s {node('p')} ?o . ?s {node('q')} ?x }}") == ["25"]

    def test_graphs_can_be_asked_one_by_one(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"),)), ReplaceGraph(node("h"), (says("a", "p", "2"),)))
        assert values(graph, f"SELECT ?o {{ GRAPH {node('h')} {{ ?s ?p ?o }} }}") == ["2"]
        assert values(graph, f"SELECT ?o FROM {node('g')} {{ ?s ?p ?o }}") == ["1"]  # noqa: S608  SPARQL

    def test_tables_come_in_four_formats(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "üks, kaks"),)))
        query = "SELECT ?o { ?s ?p ?o }"
        assert json.loads(ask(graph, query, media_type=JSON))["head"]["vars"] == ["o"]
        assert "<literal>üks, kaks</literal>" in ask(graph, query, media_type="application/sparql-results+xml")
        assert ask(graph, query, media_type="text/csv").splitlines() == ["o", '"üks, kaks"']
        assert ask(graph, query, media_type="text/tab-separated-values").splitlines() == ["?o", '"üks, kaks"']

    def test_yes_or_no_is_an_answer(self, graph: Graph) -> None:
        assert json.loads(ask(graph, "ASK { ?s ?p ?o }", media_type=JSON))["boolean"] is False

    @pytest.mark.parametrize("media_type", ["text/turtle", "application/n-triples", "application/rdf+xml"])
    def test_statements_can_be_constructed(self, graph: Graph, media_type: str) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "üks"),)))
        assert "üks" in ask(graph, "CONSTRUCT WHERE { ?s ?p ?o }", media_type=media_type)

    def test_a_table_is_no_graph(self, graph: Graph) -> None:
        with pytest.raises(QueryError):
            ask(graph, "SELECT * { ?s ?p ?o }", media_type="text/turtle")

    def test_no_more_rows_come_than_are_wanted(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), tuple(says("a", "p", f"{i:02}\t") for i in range(50))))
        limits = QueryLimits(seconds=20, rows=3)
        answer = json.loads(ask(graph, "SELECT ?o { ?s ?p ?o } ORDER BY ?o", media_type=JSON, limits=limits))
        assert [row["o"]["value"] for row in answer["results"]["bindings"]] == ["00\t", "01\t", "02\t"]
        lines = ask(graph, "CONSTRUCT WHERE { ?s ?p ?o }", media_type="application/n-triples", limits=limits)
        assert len(lines.splitlines()) == 3

    def test_an_answer_can_be_left_half_taken(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), tuple(says(str(i), "p", "x" * 200) for i in range(2000))))
        for _ in range(5):
            answer = graph.query("SELECT * { ?s ?p ?o }", media_type=JSON, limits=LIMITS)
            assert next(answer.chunks)
            answer.chunks.close()  # type: ignore[attr-defined]
        assert values(graph, COUNT) == ["2000"]

    def test_a_query_that_can_not_be_read_is_an_error(self, graph: Graph) -> None:
        with pytest.raises(QueryError, match=r"can't be read.* line 2"):
            ask(graph, "SELECT *\n{ ?s ?p }")

    @pytest.mark.parametrize("update", ["DROP ALL", "DELETE WHERE { ?s ?p ?o }", "INSERT DATA { <a:a> <a:b> 1 }"])
    def test_a_query_changes_nothing(self, graph: Graph, update: str) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"),)))
        with pytest.raises(QueryError):
            ask(graph, update)
        assert values(graph, COUNT) == ["1"]

    def test_a_query_that_takes_too_long_is_ended_and_the_next_is_answered(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), tuple(says(str(i), "p", str(i)) for i in range(1000))))
        began = time.monotonic()
        with pytest.raises(QueryTimeout, match=r"longer than 1 s"):
            ask(graph, "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?i ?f", limits=QueryLimits(seconds=1))
        assert time.monotonic() - began < PATIENCE / 4  # a busy machine is late, but a query without end is ended
        assert values(graph, COUNT) == ["1000"]

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT * { SERVICE <http://127.0.0.1:%d/> { ?s ?p ?o } }",
            "SELECT * { SERVICE SILENT <http://127.0.0.1:%d/> { ?s ?p ?o } }",
            "PREFIX : <http://127.0.0.1:%d/> SELECT * { SERVICE:a { ?s ?p ?o } }",
            "PREFIX : <http://127.0.0.1:%d/> SELECT * { ?s ?p ?o FILTER(?s!=?p)SERVICE:a { ?s ?p ?o } }",
            "SELECT * FROM <http://127.0.0.1:%d/> { ?s ?p ?o }",
        ],
    )
    def test_no_query_reaches_out(self, graph: Graph, query: str) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"),)))
        with socket.create_server(("127.0.0.1", 0)) as server:
            with suppress(QueryError):
                ask(graph, query % server.getsockname()[1], limits=QueryLimits(seconds=10))
            server.settimeout(0.05)
            with pytest.raises(TimeoutError):  # a visitor would stand in the queue by now
                server.accept()

    def test_what_was_written_can_be_read_by_its_graph(self, graph: Graph) -> None:
        graph.write([ReplaceGraph(node("g"), (says("a", "p", "1"),)), ReplaceGraph(node("h"), (says("a", "p", "2"),))])
        assert graph.read(node("g")) == {says("a", "p", "1")}
        assert graph.read(node("nothing")) == set()

    def test_a_graph_that_is_renewed_says_nothing_and_can_be_written(self, graph: Graph) -> None:
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "1"),)))
        assert graph.find_damage() == ""
        assert graph.renew()
        assert graph.find_damage() == ""
        assert values(graph, COUNT) == ["0"]
        tell(graph, ReplaceGraph(node("g"), (says("a", "p", "2"),)))
        assert values(graph, "SELECT ?o { ?s ?p ?o }") == ["2"]

    def test_the_engine_says_what_it_is(self, graph: Graph) -> None:
        assert graph.check()

"""/sparql speaks the SPARQL 1.1 query protocol."""

from __future__ import annotations

import csv
import io
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

import pytest

from tests.serve.conftest import Ask

PEOPLE = "SELECT ?name WHERE { ?who a nerd:Person ; foaf:name ?name } ORDER BY ?name LIMIT 5"


def names(ask: Ask) -> list[str]:
    answer = ask(f"/sparql?query={quote(PEOPLE)}", Accept="application/sparql-results+json").json
    return [row["name"]["value"] for row in answer["results"]["bindings"]]


def test_a_query_in_the_address_is_answered_in_json(ask: Ask) -> None:
    assert len(names(ask)) == 5


def test_a_query_can_be_posted_as_a_form_or_as_it_is(ask: Ask) -> None:
    form = ask("/sparql", body=urlencode({"query": PEOPLE}).encode(), Accept="text/csv")
    plain = ask("/sparql", body=PEOPLE.encode(), Content_Type="application/sparql-query", Accept="text/csv")
    assert form.status == plain.status == 200
    assert form.body == plain.body
    assert [row["name"] for row in csv.DictReader(io.StringIO(form.text))] == names(ask)


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/sparql-results+json", "application/sparql-results+json"),
        ("application/sparql-results+xml", "application/sparql-results+xml"),
        ("text/csv", "text/csv"),
        ("text/tab-separated-values", "text/tab-separated-values"),
        ("*/*", "application/sparql-results+json"),
        ("text/csv;q=0.5, application/sparql-results+xml", "application/sparql-results+xml"),
    ],
)
def test_the_answer_comes_as_the_client_likes_it(ask: Ask, accept: str, media_type: str) -> None:
    answer = ask(f"/sparql?query={quote(PEOPLE)}", Accept=accept)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith(media_type)


def test_xml_is_well_formed_and_holds_the_same_names(ask: Ask) -> None:
    answer = ask(f"/sparql?query={quote(PEOPLE)}&format=xml")
    space = "{http://www.w3.org/2005/sparql-results#}"
    assert [item.text for item in ElementTree.fromstring(answer.text).iter(f"{space}literal")] == names(ask)


def test_a_graph_can_be_constructed(ask: Ask) -> None:
    query = "CONSTRUCT { ?who foaf:name ?name } WHERE { ?who foaf:name ?name } LIMIT 3"
    answer = ask(f"/sparql?query={quote(query)}", Accept="application/n-triples")
    assert answer.headers["content-type"].startswith("application/n-triples")
    assert len(answer.text.strip().splitlines()) == 3


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/sparql?query=SELEKT", 400, "SELEKT"),
        ("/sparql?query=" + quote("SELECT * WHERE { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"), 400, "SERVICE"),
        ("/sparql?query=" + quote("DROP ALL"), 400, ""),
        ("/sparql", 400, "no query"),
        ("/sparql?query=ASK%7B%7D&default-graph-uri=http://a.test", 400, "default-graph-uri"),
    ],
)
def test_what_can_not_be_answered_gets_one_clear_sentence(ask: Ask, path: str, status: int, said: str) -> None:
    answer = ask(path, Accept="application/sparql-results+json")
    assert answer.status == status
    assert said in answer.json["detail"]
    assert "Traceback" not in answer.text


def test_a_type_that_we_do_not_speak_is_refused(ask: Ask) -> None:
    assert ask(f"/sparql?query={quote(PEOPLE)}", Accept="image/png").status == 406


def test_an_update_is_refused(ask: Ask) -> None:
    answer = ask("/sparql", body=urlencode({"update": "DROP ALL"}).encode())
    assert answer.status == 400
    answer = ask("/sparql", body=b"DROP ALL", Content_Type="application/sparql-update")
    assert answer.status == 415

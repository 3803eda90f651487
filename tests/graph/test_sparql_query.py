"""Queries, made ready."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Store

from rehi.errors import QueryError
from rehi.graph.query import LONGEST, QueryKind, prepare_query
from rehi.graph.tokens import tokenise
from rehi.graph.vocabulary import PREFIXES


def test_well_known_prefixes_are_declared_when_they_are_used() -> None:
    query = 'SELECT * { ?who a nerd:Person ; foaf:name "Katrin Paio" }'
    made = prepare_query(query).text
    assert made.endswith(query)
    assert made.count("PREFIX") == 2
    Store().query(made)


def test_a_declared_prefix_is_left_as_it_is() -> None:
    query = "PREFIX foaf: <http://elsewhere.test/>\nprefix ner:<http://n.test/>\nASK { ?who foaf:name ?name ; ner:lemma ?x }"
    assert prepare_query(query).text == query


def test_lines_stay_where_they_are() -> None:
    assert prepare_query("# one\nSELECT *\n{ ?s ner:lemma ?o }").text.count("\n") == 2


@pytest.mark.parametrize(
    "query",
    [
        'SELECT * { ?s ?p "foaf:name" }',
        "SELECT * { ?s ?p '''it's \"foaf:name\" and nerd:Person''' }",
        'SELECT * { ?s ?p """a "" foaf:name \\""" ner:lemma""" }',
        "SELECT * { ?s ?p <http://x.test/foaf:name#skos:a> }",
        "SELECT * { ?s ?p ?o } # foaf:name",
        "SELECT * { ?s ?p _:foaf }",
        "SELECT ?a { ?a ?p ?b FILTER(?a<?b && ?b>?a) }",
    ],
)
def test_what_only_looks_like_a_prefix_needs_none(query: str) -> None:
    assert prepare_query(query).text == query
    Store().query(query)


def test_an_unknown_prefix_is_named_with_its_place() -> None:
    with pytest.raises(QueryError, match=r"the prefix 'foo:' at line 2, column 6 is not declared"):
        prepare_query("SELECT *\n{ ?s foo:bar ?o }")


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("select * {}", QueryKind.SOLUTIONS),
        ("# SELECT\nASK {}", QueryKind.BOOLEAN),
        ("BASE <http://x.test/> PREFIX a: <b#> CONSTRUCT WHERE {}", QueryKind.TRIPLES),
        ("DESCRIBE <http://x.test/>", QueryKind.TRIPLES),
        ("\ufeffSELECT * {}", QueryKind.SOLUTIONS),
    ],
)
def test_the_kind_is_that_of_the_first_word(query: str, kind: QueryKind) -> None:
    assert prepare_query(query).kind is kind


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "the query is empty"),
        ("PREFIX a: <b:c>", "the query is empty"),
        ("SELEC * {}", "not with 'SELEC'"),
        ("PREFIX a: <b:c>\nINSERT DATA { a:a a:b 1 }", "INSERT at line 2, column 1 is an update"),
        ("load <http://x.test/>", "LOAD at line 1, column 1 is an update"),
        ("DROP ALL", "is an update"),
        ("WITH <a:b> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "is an update"),
        ('SELECT * { ?s ?p "open }', "the string that begins at line 1, column 18 does not end"),
        ("SELECT * { ?s ?p '''open' }", "does not end"),
        ("SELECT * { ?s ?p ?o } #" + "x" * LONGEST, "bytes long"),
        ("SELECT \ud800", "half a character"),
    ],
)
def test_what_is_no_query_is_refused_in_a_sentence(query: str, sentence: str) -> None:
    with pytest.raises(QueryError, match=sentence):
        prepare_query(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <http://x.test/> { ?s ?p ?o } }",
        "SELECT * { service silent ?x { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o }SERVICE<http://x.test/>{ ?s ?p ?o }",
        "PREFIX : <http://x.test/> SELECT * { SERVICE:a { ?s ?p ?o } }",
        "PREFIX : <http://x.test/> SELECT * { SERVICESILENT:a { ?s ?p ?o } }",
        "SELECT * { ?s ?p 1SERVICE <http://x.test/> { ?s ?p ?o } }",
        "SELECT * { ?s ?p trueSERVICE <http://x.test/> { ?s ?p ?o } }",
        "SELECT * { ?s ?p 'x'SERVICE <http://x.test/> { ?s ?p ?o } }",
        "SELECT * { ?s ?p 'x'@en--ltrSERVICE <http://x.test/> { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o FILTER(?o<5)SERVICE#>\n<http://x.test/> { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o FILTER(?o<?s)SERVICE#>\n<http://x.test/> { ?s ?p ?o } }",
        "SELECT * { { SELECT * { SERVICE <http://x.test/> { ?s ?p ?o } } } }",
    ],
)
def test_no_query_may_ask_other_servers(query: str) -> None:
    with pytest.raises(QueryError, match="can't ask other servers"):
        prepare_query(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?service { ?s dcat:accessService ?service { ?service a dcat:DataService } }",
        'SELECT * { ?s ner:lemma "SERVICE <http://x.test/> {" }',
        "SELECT ?name { ?obj ner:mentionedAtSite <http://www.wws.ee/service/cruise/essentials/> ; ner:locationName ?name }",
        "# SERVICE <x> {\nASK {}",
    ],
)
def test_the_word_service_may_stand_elsewhere(query: str) -> None:
    Store().query(prepare_query(query).text)


@pytest.mark.parametrize(
    "wild",
    [
        "a.",
        "a-",
        '"""\\',
        '"\\',
        "'",
        "?a<",
        "<a",
        ":%",
        "@a-",
        "1e",
        "<)",
        "a:",
        "_:a.",
        "\\",
        "PREFIX a: <b:c> ",
        "# \n",
    ],
)
def test_a_wild_text_is_refused_or_passed_in_little_time(wild: str) -> None:
    query = "SELECT * {" + wild * ((LONGEST - 20) // len(wild))
    began = time.process_time()
    with suppress(QueryError):
        prepare_query(query)
    assert time.process_time() - began < 3


@given(
    st.text(alphabet=st.sampled_from("SELECT{}?$ab:<>\"'#\\/.@_-1 \n\tserviceõ"), max_size=80) | st.text(max_size=80)
)
def test_tokens_leave_nothing_out(text: str) -> None:
    assert "".join(token.text for token in tokenise(text)) == text


def test_every_prefix_is_a_namespace() -> None:
    assert all(namespace.endswith(("#", "/")) for namespace in PREFIXES.values())

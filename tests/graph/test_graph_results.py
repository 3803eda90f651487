"""Media types of results."""

from __future__ import annotations

import pytest

from rehi.errors import QueryError
from rehi.graph.query import QueryKind
from rehi.graph.results import FORMATS, choose_media_type, media_type_for

JSON, XML, CSV = FORMATS[QueryKind.SOLUTIONS]["json"], FORMATS[QueryKind.SOLUTIONS]["xml"], "text/csv"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("application/json", JSON),
        ("application/sparql-results+xml", XML),
        ("application/xml", XML),
        ("text/csv;q=0.5, application/sparql-results+json;q=0.4", CSV),
        ("text/*", CSV),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", XML),
        ("text/html, */*;q=0.1", JSON),
        ("*/*, application/sparql-results+json;q=0, application/json;q=0", XML),
        ("TEXT/CSV; Q=1", CSV),
        ("text/html", None),
        ("text/csv;q=0", None),
        ("text/csv;q=much", None),
        (",;,;q=,", JSON),
        ("text/turtle", None),
    ],
)
def test_a_table_comes_in_the_type_that_is_liked_best(accept: str, chosen: str | None) -> None:
    assert choose_media_type(accept, QueryKind.SOLUTIONS) == chosen
    assert choose_media_type(accept, QueryKind.BOOLEAN) == chosen


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", "text/turtle"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("application/ld+json", "application/ld+json"),
        ("text/plain", "application/n-triples"),
        ("application/sparql-results+json", None),
    ],
)
def test_statements_come_in_the_type_that_is_liked_best(accept: str, chosen: str | None) -> None:
    assert choose_media_type(accept, QueryKind.TRIPLES) == chosen


@pytest.mark.parametrize(
    ("form", "kind", "media_type"),
    [
        ("table", QueryKind.SOLUTIONS, JSON),
        ("tsv", QueryKind.BOOLEAN, "text/tab-separated-values"),
        ("xml", QueryKind.TRIPLES, "application/rdf+xml"),
        ("table", QueryKind.TRIPLES, "text/turtle"),
        ("nt", QueryKind.TRIPLES, "application/n-triples"),
    ],
)
def test_a_short_name_stands_for_a_media_type(form: str, kind: QueryKind, media_type: str) -> None:
    assert media_type_for(form, kind) == media_type


def test_a_format_that_does_not_suit_names_those_that_do() -> None:
    with pytest.raises(QueryError, match="can't be answered as ttl; there are json, xml, csv, tsv"):
        media_type_for("ttl", QueryKind.SOLUTIONS)

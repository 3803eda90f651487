"""Identifiers."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store

from rehi.graph.identifiers import (
    document_iri,
    entities_graph,
    entity_iri,
    resource_graph,
    version_iri,
)
from rehi.graph.ontology import describe_vocabulary
from rehi.languages.kinds import NameKind
from rehi.model.entity import EntityKey

BASE = "http://rehi.localhost"


def test_the_kind_stands_in_the_path() -> None:
    assert entity_iri(BASE, EntityKey(NameKind.PERSON, "katrin-paio")).value == f"{BASE}/entity/person/katrin-paio"
    assert entity_iri(BASE, EntityKey(NameKind.PERSON, "katrin-paio", 2)).value == f"{BASE}/entity/person/katrin-paio/2"
    assert entity_iri(BASE + "/", EntityKey(NameKind.PLACE, "võru")).value == f"{BASE}/entity/place/võru"
    assert entities_graph(BASE).value == f"{BASE}/graph/entities"
    assert resource_graph(BASE, 8127).value == f"{BASE}/graph/resource/8127"
    assert version_iri(BASE, 8127, 3).value == f"{BASE}/version/8127/3"
    assert describe_vocabulary(BASE).graph.value == f"{BASE}/graph/vocabulary"


@pytest.mark.parametrize(
    ("url", "iri"),
    [
        ("http://online.le.ee/2014/02/", "http://online.le.ee/2014/02/"),
        ("http://x.ee/õ?a=ä#ü", "http://x.ee/õ?a=ä#ü"),
        ('http://x.ee/a b|c<d>{e}"f\\g^h`i', "http://x.ee/a%20b%7Cc%3Cd%3E%7Be%7D%22f%5Cg%5Eh%60i"),
        ("http://x.ee/100%", "http://x.ee/100%25"),
        ("http://x.ee/%zz%20", "http://x.ee/%25zz%20"),
        ("http://x.ee/[1]?a[]=b#c[d]#e", "http://x.ee/%5B1%5D?a%5B%5D=b#c%5Bd%5D%23e"),
        ("http://[::1]:80/[a]", "http://[::1]:80/%5Ba%5D"),
        ("http://x.ee/\ue000?\ue001", "http://x.ee/%EE%80%80?%EE%80%81"),
        ("http://x.ee/\ud800", "http://x.ee/%3F"),
    ],
)
def test_what_iris_forbid_is_encoded_and_all_else_stays(url: str, iri: str) -> None:
    assert document_iri(url) == NamedNode(iri)


@pytest.mark.parametrize("url", ["", "no scheme", "http://x.ee:port/", "http://[zz]/", "://x"])
def test_what_can_not_be_an_iri_is_left_out(url: str) -> None:
    assert document_iri(url) is None


@given(st.text(max_size=60).map("http://x.ee/".__add__) | st.text(max_size=60))
@example("http://a]b/")
def test_any_url_is_a_valid_iri_or_none(url: str) -> None:
    iri = document_iri(url)
    if url.startswith("http://x.ee/"):
        assert iri is not None
    if iri is not None:
        store = Store()
        store.update(f"INSERT DATA {{ {iri} {iri} 'x' }}")
        assert list(store) == [Quad(iri, iri, Literal("x"))]

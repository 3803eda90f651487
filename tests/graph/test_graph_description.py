"""Descriptions: the shape of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import orjson
import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from rehi.graph import describe_vocabulary
from rehi.graph import vocabulary as v
from rehi.languages.kinds import NameKind
from rehi.model.entity import Entity, EntityKey, Identifier
from rehi.model.version import Digest, RecordRef, Version
from rehi.model.work import FacetBrief, ReadingFacts, ResourceDescription
from rehi.ports import ReplaceGraph, ReplaceSubject
from tests.graph.knowledge import describe

BASE = "http://rehi.localhost"
AT = datetime(2026, 3, 1, 12, 30, 0, 500_000, tzinfo=UTC)
REF = RecordRef("a.warc.gz", 0, 100)
KATRIN = EntityKey(NameKind.PERSON, "katrin-paio")
PAGE = "http://online.le.ee/2014/02/"


def version(number: int, *, at: datetime = AT) -> Version:
    return Version(
        id=number, resource_id=8127, number=number, taken_at=at, digest=Digest(f"sha256:{number:064x}"), size=12642,
        media_type="text/html", status=200, record=REF, body=REF,
    )  # fmt: skip


FACTS = ReadingFacts(media_type="text/html", title="Mis juhtus", language="et", characters=10, derived=None)
RESOURCE = ResourceDescription(
    resource_id=8127, url=PAGE, versions=(version(1),), document=FACTS, aliases=("http://le.ee/x",), mentions=(KATRIN,)
)  # fmt: skip
ENTITY = Entity(
    id=1, key=KATRIN, name="Katrin Paio", given="Katrin", family="Paio", lemmas=("Katrin Paio", "katrin paio"), documents=1
)  # fmt: skip


def quads(*resources: ResourceDescription, entities: Sequence[Entity] = ()) -> str:
    """All that the changes say, as N-Quads in order."""
    changes = describe(BASE, resources=resources, entities=entities)
    described = [Quad(t.subject, t.predicate, t.object, change.graph) for change in changes for t in change.triples]
    store = Store()
    store.extend(described)
    assert len(store) == len(described), "a statement was made twice"
    dumped = store.dump(format=RdfFormat.N_QUADS)
    assert dumped is not None
    return "\n".join(sorted(dumped.decode().splitlines()))


def expected(turtle: str) -> str:
    store = Store()
    prefixes = "".join(f"@prefix {name}: <{space}> .\n" for name, space in v.PREFIXES.items())
    store.load((prefixes + turtle.replace("{base}", BASE)).encode(), RdfFormat.TRIG)
    dumped = store.dump(format=RdfFormat.N_QUADS)
    assert dumped is not None
    return "\n".join(sorted(dumped.decode().splitlines()))


def test_a_page_that_is_gone_says_since_when() -> None:
    gone = "<http://www.w3.org/ns/prov#invalidatedAtTime>"
    assert gone not in quads(RESOURCE)
    described = quads(replace(RESOURCE, gone_at=AT))
    assert f'<{PAGE}> {gone} "2026-03-01T12:30:00.5Z"' in described


def test_a_document_is_described_in_its_own_graph_and_an_entity_in_that_of_all() -> None:
    described = quads(RESOURCE, entities=[ENTITY])
    assert described == expected(
        """
        <{base}/graph/entities> {
            <{base}/entity/person/katrin-paio> a nerd:Person ; foaf:name "Katrin Paio" ; foaf:givenName "Katrin" ;
                foaf:familyName "Paio" ; ner:lemma "Katrin Paio", "katrin paio" .
        }
        <{base}/graph/resource/8127> {
            <{base}/entity/person/katrin-paio> ner:mentionedAtSite <http://online.le.ee/2014/02/> .
            <http://online.le.ee/2014/02/> a foaf:Document ; dcterms:title "Mis juhtus" ; dcterms:language "et" ;
                dcat:mediaType "text/html" ; dcterms:hasVersion <{base}/version/8127/1> .
            <{base}/version/8127/1> dcterms:issued "2026-03-01T12:30:00.5Z"^^xsd:dateTime ; dcat:byteSize 12642 ;
                dcterms:identifier "sha256:0000000000000000000000000000000000000000000000000000000000000001" .
            <http://le.ee/x> rehi:redirectsTo <http://online.le.ee/2014/02/> .
        }
        """
    )


def test_organisations_and_places_have_names_of_their_kind() -> None:
    bmw = Entity(id=1, key=EntityKey(NameKind.ORGANISATION, "bmw"), name="Bmw", lemmas=("Bmw", "bmw"), documents=1)
    place = Entity(id=2, key=EntityKey(NameKind.PLACE, "sillamäe"), name="Sillamäe", lemmas=("Sillamäe",), documents=1)
    assert quads(entities=[bmw, place]) == expected(
        """
        <{base}/graph/entities> {
            <{base}/entity/organisation/bmw> a nerd:Organization ; foaf:name "Bmw" ; ner:orgName "Bmw" ;
                ner:lemma "Bmw", "bmw" .
            <{base}/entity/place/sillamäe> a nerd:Location ; foaf:name "Sillamäe" ; ner:locationName "Sillamäe" ;
                ner:lemma "Sillamäe" .
        }
        """
    )


def test_an_entity_is_the_same_as_what_an_authority_is_sure_of_and_close_to_what_it_is_not() -> None:
    second, records = replace(KATRIN, sense=2), (Identifier("http://a.test/7"), Identifier("http://b.test/8", 0.5))
    other = Entity(id=3, key=second, name="Katrin Paio", documents=1, identifiers=(*records, Identifier("no IRI", 1.0)))
    assert quads(entities=[other]) == expected(
        """
        <{base}/graph/entities> {
            <{base}/entity/person/katrin-paio/2> a nerd:Person ; foaf:name "Katrin Paio" ; owl:sameAs <http://a.test/7> ;
                skos:closeMatch <http://b.test/8> .
        }
        """
    )


def test_a_document_is_one_change_with_all_its_statements() -> None:
    (change,) = describe(BASE, resources=[RESOURCE])
    assert len(change.triples) == 10


def test_versions_follow_one_another() -> None:
    described = quads(replace(RESOURCE, versions=(version(3), version(1))))
    line = f"<{BASE}/version/8127/3> <{v.PROV}wasRevisionOf> <{BASE}/version/8127/1>"
    assert described.count("wasRevisionOf") == 1
    assert line in described


def test_times_are_told_in_utc_as_the_store_writes_them() -> None:
    summer = timezone(timedelta(hours=3))
    for at, text in [(AT, "12:30:00.5Z"), (datetime(2026, 3, 1, 15, 30, tzinfo=summer), "12:30:00Z")]:
        changes = describe(BASE, resources=[replace(RESOURCE, versions=(version(1, at=at),))])
        assert f"2026-03-01T{text}" in {t.object.value for t in changes[0].triples if isinstance(t.object, Literal)}
        store = Store()
        store.extend(Quad(t.subject, t.predicate, t.object) for t in changes[0].triples)
        assert {quad.triple for quad in store} == set(changes[0].triples)


@pytest.mark.parametrize(
    "resource",
    [
        replace(RESOURCE, versions=(), document=None),
        replace(RESOURCE, url="no address at all"),
    ],
)
def test_a_document_of_which_nothing_can_be_said_has_an_empty_graph(resource: ResourceDescription) -> None:
    changes = describe(BASE, resources=[resource])
    assert changes == [ReplaceGraph(NamedNode(f"{BASE}/graph/resource/8127"), ())]


def test_an_address_that_can_not_be_told_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    describe(BASE, resources=[replace(RESOURCE, url="no address")])
    assert "resource 8127 is left out of the graph: 'no address' can't be an IRI" in caplog.text


def test_a_document_that_was_not_read_has_its_versions() -> None:
    described = quads(replace(RESOURCE, document=None, mentions=(), aliases=()))
    assert "hasVersion" in described
    assert "title" not in described


def test_a_vanished_entity_is_taken_from_the_graph() -> None:
    changes = describe(BASE, entities=[replace(ENTITY, documents=0)])
    assert changes == [
        ReplaceSubject(NamedNode(f"{BASE}/graph/entities"), NamedNode(f"{BASE}/entity/person/katrin-paio"), ())
    ]


def test_an_unknown_language_and_an_empty_title_are_not_told() -> None:
    facts = replace(FACTS, title="", language="und")
    described = quads(replace(RESOURCE, document=facts))
    assert "title" not in described
    assert "language" not in described


def test_characters_that_xml_forbids_are_not_written() -> None:
    facts = replace(FACTS, title="Mis\x00 juhtus\ud800\ufffe?")
    changes = describe(BASE, resources=[replace(RESOURCE, document=facts)])
    assert Literal("Mis juhtus?") in {triple.object for triple in changes[0].triples}


def test_the_same_mention_or_alias_twice_is_said_once() -> None:
    twice = replace(RESOURCE, mentions=(KATRIN, KATRIN), aliases=("http://le.ee/x", "http://le.ee/x", PAGE))
    assert quads(twice) == quads(RESOURCE)


def test_the_vocabulary_explains_each_property_of_ours() -> None:
    change = describe_vocabulary(BASE)
    assert change.graph == NamedNode(f"{BASE}/graph/vocabulary")
    explained = {t.subject.value for t in change.triples if t.predicate.value == v.DC + "description"}  # type: ignore[union-attr]
    changes = describe(BASE, resources=[RESOURCE], entities=[ENTITY])
    used = {t.predicate.value for made in changes for t in made.triples}
    assert {name for name in used if name.startswith((v.NER, v.REHI))} <= explained
    assert {v.NER, v.REHI, v.NER + "orgName", v.NER + "locationName"} <= explained


def test_what_a_document_says_of_itself_is_stated_and_dates_where_they_can_be_read() -> None:
    told = {"author": "Mary Smith", "description": "News", "date": "2014-02-03", "modified": "2014-02-04T10:00:00+0200"}
    brief = FacetBrief(name="metadata", version=1, data=orjson.dumps(told))
    stated = quads(replace(RESOURCE, briefs=(brief,)))
    assert f'<{PAGE}> <http://purl.org/dc/terms/creator> "Mary Smith" ' in stated
    assert f'<{PAGE}> <http://purl.org/dc/terms/description> "News" ' in stated
    assert '<http://purl.org/dc/terms/date> "2014-02-03"^^<http://www.w3.org/2001/XMLSchema#date> ' in stated
    assert '"2014-02-04T10:00:00+02:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> ' in stated
    unclear = FacetBrief(name="metadata", version=1, data=orjson.dumps({"date": "last spring", "later": "x"}))
    assert quads(replace(RESOURCE, briefs=(unclear,))) == quads(RESOURCE)

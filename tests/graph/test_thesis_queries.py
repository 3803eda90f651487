"""The queries of the Estonian thesis (chapters 6.8.3 and 7.2.4), without prefixes as they are printed there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from rehi.engines.oxigraph.store import OxigraphStore
from rehi.graph import describe_vocabulary, prepare_query
from rehi.languages.kinds import NameKind
from rehi.model.entity import Entity, EntityKey
from rehi.model.version import Digest, RecordRef, Version
from rehi.model.work import ReadingFacts, ResourceDescription
from rehi.ports import QueryLimits
from tests.graph.knowledge import describe

BASE = "http://rehi.localhost"
JSON = "application/sparql-results+json"
DOCUMENTS, ENTITIES, MENTIONS = 6_000, 3_000, 22  # some 200,000 statements
BATCH = 500

ORGANISATION = """
SELECT DISTINCT *
WHERE
{
{{?obj ner:orgName "Bmw"} UNION {?obj ner:lemma "Bmw"}}.
?obj ner:mentionedAtSite ?webpage
}
ORDER BY ?webpage
"""
PLACE = ORGANISATION.replace("ner:orgName", "ner:locationName").replace("Bmw", "Sillamäe")
PERSON = """
SELECT DISTINCT *
WHERE
{
{{?obj foaf:givenName "Angelica"} UNION {?obj ner:lemma "Angelica"}}.
{{?obj foaf:familyName "Udeküll"} UNION {?obj ner:lemma "Udeküll"}}.
?obj ner:mentionedAtSite ?webpage
}
ORDER BY ?webpage
"""
FAMILY = """
SELECT DISTINCT *
WHERE
{
{{?obj foaf:givenName ?gname} UNION {?obj ner:lemma ?gname}}.
{{?obj foaf:familyName "Udeküll"} UNION {?obj ner:lemma "Udeküll"}}.
?obj ner:mentionedAtSite ?webpage
}
ORDER BY ?gname ?webpage
"""
GIVEN = """
SELECT DISTINCT *
WHERE
{
{{?obj foaf:givenName "Angelica"} UNION {?obj ner:lemma "Angelica"}}.
{{?obj foaf:familyName ?fname} UNION {?obj ner:lemma ?fname}}.
?obj ner:mentionedAtSite ?webpage
}
ORDER BY ?fname ?webpage
"""
PLACES_ON_PAGE = """
SELECT ?name
WHERE
{
    ?obj ner:mentionedAtSite <http://online.le.ee/> .
    ?obj ner:locationName ?name .
}
"""
ORGANISATIONS_ON_PAGE = PLACES_ON_PAGE.replace("ner:locationName", "ner:orgName")
PEOPLE_ON_PAGE = """
SELECT ?gname ?fname
WHERE
{
     ?obj foaf:givenName ?gname .
     ?obj foaf:familyName ?fname .
     ?obj ner:mentionedAtSite <http://online.le.ee/>
}
"""
ALL_PLACES = """
SELECT DISTINCT *
WHERE
{
    ?obj ner:locationName ?name .
    ?obj ner:mentionedAtSite ?webpage
}
ORDER BY ?name ?webpage
"""

KINDS = list(NameKind)
AT = datetime(2026, 3, 1, tzinfo=UTC)
REF = RecordRef("a.warc.gz", 0, 1)
KNOWN = {
    0: Entity(
        id=0, documents=1,
        key=EntityKey(NameKind.PERSON, "angelica-udeküll"), name="Angelica Udeküll", given="Angelica", family="Udeküll",
        lemmas=("Angelica Udeküll", "angelica udeküll"),
    ),
    1: Entity(id=1, documents=1, key=EntityKey(NameKind.ORGANISATION, "bmw"), name="Bmw", lemmas=("Bmw", "bmw")),
    2: Entity(id=2, documents=1, key=EntityKey(NameKind.PLACE, "sillamäe"), name="Sillamäe", lemmas=("Sillamäe", "sillamäe")),
}  # fmt: skip


def entity(number: int) -> Entity:
    if number in KNOWN:
        return KNOWN[number]
    kind = KINDS[number % 3]
    given, family = (f"Eesnimi{number % 97}", f"Perenimi{number}") if kind is NameKind.PERSON else ("", "")
    name = f"{given} {family}" if given else f"{kind.value.title()} {number}"
    return Entity(
        id=number, documents=1, key=EntityKey(kind, name.lower().replace(" ", "-")), name=name, given=given, family=family,
        lemmas=(name, name.lower(), f"{name}i"),
    )  # fmt: skip


def mentioned(document: int) -> list[int]:
    """Which entities a document names: the three known ones on the first page and on every hundredth."""
    some = [(document * 7 + i * 131) % ENTITIES for i in range(MENTIONS)]
    return [0, 1, 2, *some] if document % 100 == 0 else [number for number in some if number > 2]


def resource(number: int) -> ResourceDescription:
    url = "http://online.le.ee/" if number == 0 else f"http://h{number % 50}.ee/page/{number:05}"
    version = Version(
        id=number, resource_id=number, number=1, taken_at=AT, digest=Digest(f"sha256:{number:064x}"), size=number,
        media_type="text/html", status=200, record=REF, body=REF,
    )  # fmt: skip
    facts = ReadingFacts(media_type="text/html", title=f"Leht {number}", language="et", characters=1, derived=None)
    keys = tuple(dict.fromkeys(entity(i).key for i in mentioned(number)))
    return ResourceDescription(resource_id=number, url=url, versions=(version,), document=facts, mentions=keys)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OxigraphStore]:
    store = OxigraphStore(tmp_path_factory.mktemp("thesis"), base=BASE)
    store.write([describe_vocabulary(BASE)])
    for start in range(0, ENTITIES, BATCH):
        store.write(describe(BASE, entities=[entity(i) for i in range(start, start + BATCH)]))
    for start in range(0, DOCUMENTS, BATCH):
        store.write(describe(BASE, resources=[resource(i) for i in range(start, start + BATCH)]))
    store.publish()
    yield store
    store.close()


def rows(store: OxigraphStore, query: str) -> list[dict[str, str]]:
    answer = store.query(prepare_query(query).text, media_type=JSON, limits=QueryLimits())
    bindings = json.loads(b"".join(answer.chunks))["results"]["bindings"]
    return [{name: value["value"] for name, value in row.items()} for row in bindings]


def test_the_store_has_two_hundred_thousand_statements(store: OxigraphStore) -> None:
    assert 190_000 < store.size() < 220_000


@pytest.mark.parametrize(
    ("query", "iri"),
    [
        pytest.param(ORGANISATION, f"{BASE}/entity/organisation/bmw", id="organisation"),
        pytest.param(PLACE, f"{BASE}/entity/place/sillamäe", id="place"),
        pytest.param(PERSON, f"{BASE}/entity/person/angelica-udeküll", id="person"),
    ],
)
def test_one_entity_is_found_on_its_pages_in_order(store: OxigraphStore, query: str, iri: str) -> None:
    solutions = rows(store, query)
    pages = [resource(i).url for i in range(0, DOCUMENTS, 100)]
    assert solutions == [{"obj": iri, "webpage": page} for page in sorted(pages)]


def test_a_person_is_found_by_one_of_two_names(store: OxigraphStore) -> None:
    by_family = {(row["gname"], row["webpage"]) for row in rows(store, FAMILY)}
    by_given = {(row["fname"], row["webpage"]) for row in rows(store, GIVEN)}
    assert ("Angelica", "http://online.le.ee/") in by_family
    assert ("Udeküll", "http://online.le.ee/") in by_given
    assert len(by_family) == len(by_given) == 60 * 3  # the other name, and two lemmas


def test_the_names_on_a_page_are_those_that_it_mentions(store: OxigraphStore) -> None:
    on_page = [entity(i) for i in dict.fromkeys(mentioned(0))]

    def names(kind: NameKind) -> list[str]:
        return sorted(entity.name for entity in on_page if entity.key.kind is kind)

    assert sorted(row["name"] for row in rows(store, PLACES_ON_PAGE)) == names(NameKind.PLACE)
    assert sorted(row["name"] for row in rows(store, ORGANISATIONS_ON_PAGE)) == names(NameKind.ORGANISATION)
    people = sorted(f"{row['gname']} {row['fname']}" for row in rows(store, PEOPLE_ON_PAGE))
    assert people == names(NameKind.PERSON)


def test_all_of_a_kind_are_listed_each_mention_once(store: OxigraphStore) -> None:
    solutions = rows(store, ALL_PLACES)
    expected = sum(key.kind == NameKind.PLACE for i in range(DOCUMENTS) for key in resource(i).mentions)
    assert len(solutions) == expected
    assert solutions == sorted(solutions, key=lambda row: (row["name"], row["webpage"]))


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(query, id=name)
        for name, query in {
            "organisation": ORGANISATION, "place": PLACE, "person": PERSON, "family name": FAMILY, "given name": GIVEN,
            "places on a page": PLACES_ON_PAGE, "organisations on a page": ORGANISATIONS_ON_PAGE,
            "people on a page": PEOPLE_ON_PAGE,
        }.items()
    ],
)  # fmt: skip
def test_a_question_about_one_thing_is_answered_at_once(
    store: OxigraphStore, query: str, record_property: Callable[[str, object], None]
) -> None:
    rows(store, query)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        rows(store, query)
        times.append(time.perf_counter() - began)
    record_property("milliseconds", round(min(times) * 1000, 2))
    print(f"{min(times) * 1000:.2f} ms")
    assert min(times) < 10  # `make bench NAME=query` holds it to 0.1 s, on a machine that does nothing else


def test_what_a_document_no_longer_mentions_is_gone(store: OxigraphStore) -> None:
    changed = resource(0)
    without = ResourceDescription(
        resource_id=0, url=changed.url, versions=changed.versions, document=changed.document,
        mentions=tuple(key for key in changed.mentions if key.slug != "sillamäe"),
    )  # fmt: skip
    store.write(describe(BASE, resources=[without]))
    store.publish()
    try:
        assert "http://online.le.ee/" not in {row["webpage"] for row in rows(store, PLACE)}
        assert "http://online.le.ee/" in {row["webpage"] for row in rows(store, ORGANISATION)}
    finally:
        store.write(describe(BASE, resources=[changed]))
        store.publish()
    assert "http://online.le.ee/" in {row["webpage"] for row in rows(store, PLACE)}

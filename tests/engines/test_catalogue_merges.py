"""An entity that was merged into another is that other one, whoever asks: there is room for merges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import update

from rehi.engines.sql import SqlCatalogue, open_catalogue
from rehi.engines.sql.tables import entity
from rehi.link import resolve
from rehi.model.entity import EntityKey
from rehi.model.listing import DocumentFilter, Page
from rehi.testing.contracts.catalogue_samples import (
    READ_RULES,
    bring,
    claim_descriptions,
    drain,
    entity_of,
    place,
    says,
)

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"
TARTU, DORPAT = EntityKey("place", "tartu"), EntityKey("place", "dorpat")


@pytest.fixture
def catalogue(catalogue_uri: str) -> Iterator[SqlCatalogue]:
    catalogue = open_catalogue(catalogue_uri)
    bring(catalogue, A, "one", place("Tartu"), when=1)
    bring(catalogue, B, "two", place("Dorpat", 3), when=2)
    drain(catalogue)
    yield catalogue
    catalogue.close()


def ids(catalogue: SqlCatalogue) -> dict[EntityKey, int]:
    found = catalogue.find_candidates([TARTU, DORPAT])
    return {key: candidate.id for key, some in found.items() for candidate in some}


def merge(catalogue: SqlCatalogue, old: int, goal: int) -> None:
    """Merge an entity into another."""
    (known,) = catalogue.describe_entities([goal])
    catalogue.relink(old, known.key, rules=READ_RULES)
    drain(catalogue)


def test_a_merged_entity_is_the_other_one_everywhere(catalogue: SqlCatalogue) -> None:
    before = ids(catalogue)
    old, goal = before[DORPAT], before[TARTU]
    merge(catalogue, old, goal)
    assert ids(catalogue) == {TARTU: goal, DORPAT: goal}
    for name in ("", "tartu", "dorpat"):
        rows = catalogue.find_entities(name, Page())
        assert [(row.id, row.key, row.documents) for row in rows] == [(goal, TARTU, 2)]
    assert entity_of(catalogue, DORPAT) == entity_of(catalogue, TARTU)
    assert "Dorpat" in entity_of(catalogue, TARTU).lemmas
    for key in (TARTU, DORPAT):
        documents, total = catalogue.documents(DocumentFilter(entity=key), Page())
        assert ([one.url for one in documents], total) == ([A, B], 2)
    page = catalogue.document(B).resource_id
    assert [(name.key, name.count) for name in catalogue.outline(page).names] == [(TARTU, 3)]


def test_the_graph_says_nothing_of_a_merged_entity_and_its_pages_mention_the_other_one(catalogue: SqlCatalogue) -> None:
    before = ids(catalogue)
    merge(catalogue, before[DORPAT], before[TARTU])
    catalogue.put("resource", catalogue.resource_ids(after=0, limit=9))
    catalogue.put("entity", catalogue.entity_ids(after=0, limit=9))
    told = claim_descriptions(catalogue, 5)
    assert [described.mentions for described in told.resources] == [(TARTU,), (TARTU,)]
    assert {one.key: one.documents for one in told.entities} == {TARTU: 2, DORPAT: 0}


def test_what_names_a_merged_entity_later_mentions_the_other_one(catalogue: SqlCatalogue) -> None:
    before = ids(catalogue)
    merge(catalogue, before[DORPAT], before[TARTU])
    bring(catalogue, C, "three", place("Dorpat"), when=3)  # by a reader that knew of neither
    said = says("Dorpat", key=DORPAT)
    (linked,) = resolve([said], catalogue.find_candidates([DORPAT]))
    assert linked.entity_id == before[TARTU]
    assert entity_of(catalogue, DORPAT).documents == 3
    assert [row.key for row in catalogue.find_entities("", Page())] == [TARTU]


def test_a_merged_entity_is_not_shown_even_if_a_page_still_mentions_it(catalogue: SqlCatalogue) -> None:
    before = ids(catalogue)
    goal = {"merged_into": before[TARTU]}
    catalogue.database.write(lambda c: c.execute(update(entity).where(entity.c.id == before[DORPAT]).values(goal)))
    assert [row.key for row in catalogue.find_entities("", Page())] == [TARTU]
    assert entity_of(catalogue, DORPAT).key == TARTU
    assert [one.documents for one in catalogue.describe_entities([before[DORPAT]])] == [0]

"""What the catalogue promises of entities: several of one name, two that are one, and one that is two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rehi.model.entity import EntityKey, Identifier, Identity, LinkedIdentity
from rehi.model.listing import DocumentFilter, Page
from rehi.model.work import NewReading
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    PAIO,
    READ_RULES,
    at,
    bring,
    claim,
    claim_descriptions,
    drain,
    entity_of,
    fetched,
    place,
    record,
    record_reads,
    says,
    understood,
)

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"
OTHER_PAIO = EntityKey("person", "katrin-paio", 2)
TARTU, DORPAT = EntityKey("place", "tartu"), EntityKey("place", "dorpat")
RECORD = "http://authority.test/katrin-paio"


def bring_linked(catalogue: Catalogue, url: str, body: str, *linked: LinkedIdentity, when: float = 0) -> int:
    """Visit a URL, record what was read there with what it was linked to, and return the resource's id."""
    record(catalogue, [fetched(url, body, when)], [], worker="one", now=at(when))
    (task,) = claim(catalogue, when)
    result = understood(task)
    assert isinstance(result.reading, NewReading)
    record_reads(catalogue, replace(result, reading=replace(result.reading, identities=linked)), when=when)
    return task.resource_id


def another(identity: Identity) -> LinkedIdentity:
    """Return an identity as that of the second of its name."""
    return LinkedIdentity(identity=replace(identity, key=replace(identity.key, sense=2)))


def id_of(catalogue: Catalogue, key: EntityKey) -> int:
    """Return the id of the entity that a key leads to."""
    return next(one.id for one in catalogue.find_candidates([key])[key] if one.sense == key.sense)


def pages_of(catalogue: Catalogue, key: EntityKey) -> list[str]:
    """Return the URLs of the documents that mention an entity."""
    return [row.url for row in catalogue.documents(DocumentFilter(entity=key), Page())[0]]


def shown(catalogue: Catalogue, *resources: int) -> Sequence[int]:
    """Return the readings that resources show."""
    return [catalogue.shown_reading(one).facts.id for one in resources]


class EntitiesContract:
    """What the port Knowledge promises of entities."""

    def test_two_of_one_kind_and_name_stay_apart(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", says("Katrin Paio"), when=1)
        page = bring_linked(catalogue, B, "two", another(says("KATRIN PAIO", count=3)), when=2)
        known = catalogue.find_candidates([PAIO])[PAIO]
        assert [(one.key, one.sense, one.name) for one in known] == [
            (PAIO, 1, "Katrin Paio"), (OTHER_PAIO, 2, "KATRIN PAIO"),
        ]  # fmt: skip
        assert catalogue.find_candidates([OTHER_PAIO]) == {OTHER_PAIO: known}, "whichever one is asked for"
        assert [str(row.key) for row in catalogue.find_entities("katrin", Page())] == [
            "person/katrin-paio", "person/katrin-paio/2",
        ]  # fmt: skip
        assert (pages_of(catalogue, PAIO), pages_of(catalogue, OTHER_PAIO)) == ([A], [B])
        assert [(name.key, name.count) for name in catalogue.outline(page).names] == [(OTHER_PAIO, 3)]
        described = claim_descriptions(catalogue, 3)
        assert [one.mentions for one in described.resources] == [(PAIO,), (OTHER_PAIO,)]
        assert [(one.key, one.documents, one.lemmas[0]) for one in described.entities] == [
            (PAIO, 1, "Katrin Paio"), (OTHER_PAIO, 1, "KATRIN PAIO"),
        ]  # fmt: skip
        assert catalogue.totals(now=at(3)).entities["person"] == 2

    def test_another_one_of_a_name_is_the_same_whoever_enters_it(self, catalogue: Catalogue) -> None:
        for when, url in enumerate((A, B), start=1):
            bring_linked(catalogue, url, url, another(says("Katrin Paio")), when=when)
        (known,) = catalogue.find_candidates([PAIO])[PAIO]
        assert (known.key, known.sense, entity_of(catalogue, OTHER_PAIO).documents) == (OTHER_PAIO, 2, 2)

    def test_what_authorities_call_an_entity_is_kept_and_told(self, catalogue: Catalogue) -> None:
        sure, unsure = Identifier(RECORD), Identifier("http://other.test/7", 0.5)
        bring(catalogue, A, "one", says("Katrin Paio"), when=1)
        drain(catalogue)
        known = id_of(catalogue, PAIO)
        linked = LinkedIdentity(identity=says("Katrin Paio"), entity_id=known, identifiers=(unsure, sure))
        bring_linked(catalogue, B, "two", linked, when=2)
        (described,) = claim_descriptions(catalogue, 3).entities
        assert described.identifiers == (sure, unsure)
        drain(catalogue)
        bring_linked(catalogue, C, "three", linked, when=3)
        assert claim_descriptions(catalogue, 4).entities == [], "that was known"
        again = replace(linked, identifiers=(replace(unsure, score=1.0),))
        bring_linked(catalogue, C, "four", again, when=5)
        assert entity_of(catalogue, PAIO).identifiers == (sure, replace(unsure, score=1.0))

    def test_two_entities_that_are_one_are_one_everywhere(self, catalogue: Catalogue) -> None:
        pages = [
            bring(catalogue, A, "one", place("Tartu"), when=1),
            bring(catalogue, B, "two", place("Dorpat", 3), when=2),
            bring(catalogue, C, "three", place("Tartu", 2), place("Dorpat", 5), when=3),
        ]
        drain(catalogue)
        old, goal = id_of(catalogue, DORPAT), id_of(catalogue, TARTU)
        assert catalogue.relink(old, TARTU, rules=READ_RULES) == goal
        assert (id_of(catalogue, TARTU), id_of(catalogue, DORPAT)) == (goal, goal)
        assert [(row.id, row.documents) for row in catalogue.find_entities("", Page())] == [(goal, 3)]
        assert pages_of(catalogue, DORPAT) == pages_of(catalogue, TARTU) == [A, B, C]
        counts = [[(name.key, name.count) for name in catalogue.outline(one).names] for one in pages]
        assert counts == [[(TARTU, 1)], [(TARTU, 3)], [(TARTU, 7)]]
        assert {"Tartu", "Dorpat"} <= set(entity_of(catalogue, TARTU).lemmas)
        assert catalogue.totals(now=at(4)).entities["place"] == 1
        described = claim_descriptions(catalogue, 4)
        assert {one.url for one in described.resources} == {B, C}, "whose mentions have changed"
        assert {one.key: one.documents for one in described.entities} == {TARTU: 3, DORPAT: 0}

    def test_what_names_a_merged_entity_later_names_the_other_one(self, catalogue: Catalogue) -> None:
        third = EntityKey("place", "jurjev")
        for when, (url, name) in enumerate(((A, "Tartu"), (B, "Dorpat"), (C, "Jurjev")), start=1):
            bring(catalogue, url, name, place(name), when=when)
        goal = id_of(catalogue, TARTU)
        catalogue.relink(id_of(catalogue, third), DORPAT, rules=READ_RULES)
        assert catalogue.relink(id_of(catalogue, DORPAT), TARTU, rules=READ_RULES) == goal
        assert [id_of(catalogue, key) for key in (TARTU, DORPAT, third)] == [goal] * 3
        bring(catalogue, A, "four", place("Jurjev"), when=4)
        assert entity_of(catalogue, TARTU).documents == 3

    def test_one_entity_that_is_two_is_divided_by_its_readings(self, catalogue: Catalogue) -> None:
        mine = bring(catalogue, A, "one", says("Katrin Paio", count=2), place("Tartu"), when=1)
        theirs = bring(catalogue, B, "two", says("KATRIN PAIO", count=3), place("Tartu"), when=2)
        drain(catalogue)
        first = id_of(catalogue, PAIO)
        second = catalogue.relink(first, OTHER_PAIO, readings=shown(catalogue, theirs), rules=READ_RULES)
        assert second != first == id_of(catalogue, PAIO)
        one, other = entity_of(catalogue, PAIO), entity_of(catalogue, OTHER_PAIO)
        assert (one.documents, one.name, other.documents, other.name) == (1, "Katrin Paio", 1, "KATRIN PAIO")
        assert "KATRIN PAIO" not in one.lemmas
        counts = [[(name.key, name.count) for name in catalogue.outline(page).names] for page in (mine, theirs)]
        assert counts == [[(PAIO, 2), (TARTU, 1)], [(OTHER_PAIO, 3), (TARTU, 1)]]
        assert entity_of(catalogue, TARTU).documents == 2
        described = claim_descriptions(catalogue, 3)
        assert [one.url for one in described.resources] == [B]
        assert {PAIO, OTHER_PAIO} <= {one.key for one in described.entities}

    def test_a_merger_can_be_undone(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", place("Tartu"), when=1)
        page = bring(catalogue, B, "two", place("Dorpat"), when=2)
        old, goal = id_of(catalogue, DORPAT), id_of(catalogue, TARTU)
        catalogue.relink(old, TARTU, rules=READ_RULES)
        assert catalogue.relink(goal, DORPAT, readings=shown(catalogue, page), rules=READ_RULES) == old
        assert (id_of(catalogue, DORPAT), pages_of(catalogue, DORPAT), pages_of(catalogue, TARTU)) == (old, [B], [A])

    def test_an_entity_that_no_document_shows_any_more_can_be_given_away_too(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", place("Dorpat"), when=1)
        bring(catalogue, A, "two", place("Tartu"), when=2)
        catalogue.relink(id_of(catalogue, DORPAT), TARTU, rules=READ_RULES)
        bring(catalogue, A, "one", place("Dorpat"), when=3)
        assert pages_of(catalogue, TARTU) == [A]

"""Identities from mentions."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rehi.languages.kinds import NameKind
from rehi.link import link, resolve
from rehi.model.document import Mention
from rehi.model.entity import Candidate, EntityKey, Identity, LinkedIdentity


def person(name: str, *lemmas: str) -> Mention:
    *given, family = name.split()
    return Mention(
        kind=NameKind.PERSON,
        start=0,
        end=len(name),
        surface=name,
        name=name,
        lemmas=lemmas,
        given=" ".join(given),
        family=family if given else "",
    )


def other(kind: NameKind, name: str, *lemmas: str) -> Mention:
    return Mention(kind=kind, start=0, end=len(name), surface=name, name=name, lemmas=lemmas)


def identities(*mentions: Mention) -> tuple[Identity, ...]:
    return link(mentions)


def test_mentions_of_one_name_are_one_identity() -> None:
    (one,) = identities(person("Katrin Paio"), person("Katrin Paio"), person("KATRIN PAIO"))
    assert one == Identity(
        key=EntityKey(NameKind.PERSON, "katrin-paio"),
        name="Katrin Paio",
        given="Katrin",
        family="Paio",
        lemmas=("KATRIN PAIO", "Katrin Paio", "katrin paio"),
        count=3,
    )


def test_a_name_in_capitals_is_shown_so_only_when_it_is_never_written_otherwise() -> None:
    capitals = other(NameKind.ORGANISATION, "NATO")
    assert identities(capitals, capitals)[0].name == "NATO"
    assert identities(capitals, capitals, other(NameKind.ORGANISATION, "Nato"))[0].name == "Nato"


def test_a_person_and_a_place_of_one_name_stay_apart() -> None:
    found = identities(person("Paide"), other(NameKind.PLACE, "Paide"))
    assert [str(one.key) for one in found] == ["person/paide", "place/paide"]


def test_lemmas_hold_every_form_and_its_lower_case() -> None:
    (one,) = identities(other(NameKind.ORGANISATION, "Megastar", "Megastari", "Megastarile"))
    assert one.lemmas == ("Megastar", "Megastari", "Megastarile", "megastar", "megastari", "megastarile")


def test_a_surname_alone_is_counted_to_the_person_who_bears_it() -> None:
    (one,) = identities(person("Katrin Paio"), person("Paio"), person("Paio"), person("PAIO"))
    assert one.name == "Katrin Paio"
    assert one.count == 4
    assert one.lemmas == ("Katrin Paio", "katrin paio")


def test_a_surname_that_two_bear_stays_by_itself() -> None:
    found = identities(person("Katrin Paio"), person("Jaan Paio"), person("Paio"))
    assert [(one.name, one.count) for one in found] == [("Jaan Paio", 1), ("Katrin Paio", 1), ("Paio", 1)]


def test_a_surname_that_nobody_bears_stays_by_itself() -> None:
    found = identities(person("Katrin Paio"), person("Udeküll"), other(NameKind.PLACE, "Paio"))
    assert [(str(one.key), one.count) for one in found] == [
        ("person/katrin-paio", 1),
        ("person/udeküll", 1),
        ("place/paio", 1),
    ]


def test_names_without_letters_are_dropped() -> None:
    assert identities(person("…"), other(NameKind.PLACE, "—")) == ()


def test_only_people_have_given_and_family_names() -> None:
    odd = Mention(kind=NameKind.PLACE, start=0, end=4, surface="Võru", name="Võru", given="Võ", family="ru")
    assert (identities(odd)[0].given, identities(odd)[0].family) == ("", "")


names = st.sampled_from(
    [
        "Katrin Paio",
        "KATRIN PAIO",
        "katrin paio",
        "Paio",
        "PAIO",
        "Jaan Tamm",
        "Mari Tamm",
        "Tamm",
        "Võru",
        "NATO",
        "Nato",
        "…",
    ]
)
mentions = st.lists(
    st.builds(
        lambda kind, name: person(name) if kind is NameKind.PERSON else other(kind, name),
        st.sampled_from(NameKind),
        names,
    )
)


@given(mentions, st.randoms(use_true_random=False))
def test_the_order_of_mentions_does_not_matter_and_none_is_lost(found: list[Mention], chance: random.Random) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)
    first = identities(*found)
    assert first == identities(*shuffled)
    assert sum(one.count for one in first) == sum(mention.name != "…" for mention in found)
    assert all({one.name, one.name.lower()} <= set(one.lemmas) for one in first)


def test_an_identity_is_the_entity_that_is_known_under_its_key_or_a_new_one() -> None:
    paio, tartu = identities(person("Katrin Paio"), other(NameKind.PLACE, "Tartu"))
    known = {paio.key: [Candidate(7, paio.key, "Katrin Paio")]}
    assert resolve([paio, tartu], known) == (
        LinkedIdentity(identity=paio, entity_id=7),
        LinkedIdentity(identity=tartu, entity_id=None),
    )
    assert resolve([], known) == ()


def test_an_identity_goes_to_what_its_entity_was_merged_into() -> None:
    (paio,) = identities(person("Kati Paio"))
    merged = Candidate(9, EntityKey(NameKind.PERSON, "katrin-paio"), "Katrin Paio")
    (linked,) = resolve([paio], {paio.key: [merged]})
    assert (linked.identity.key, linked.entity_id) == (paio.key, 9)


def test_of_several_of_one_name_the_one_that_the_page_mentioned_before_is_taken() -> None:
    (paio,) = identities(person("Katrin Paio"))
    second = EntityKey(NameKind.PERSON, "katrin-paio", 2)
    known = {paio.key: [Candidate(3, paio.key, "Katrin Paio"), Candidate(4, second, "Katrin Paio", 2)]}
    (linked,) = resolve([paio], known, [second])
    assert linked.entity_id == 4
    (linked,) = resolve([paio], known, [EntityKey(NameKind.PERSON, "jaan-tamm")])
    assert linked.entity_id == 3


def test_the_first_of_several_candidates_is_taken_and_those_of_other_keys_are_not() -> None:
    (paio,) = identities(person("Katrin Paio"))
    several = [Candidate(3, paio.key, "Katrin Paio"), Candidate(4, paio.key, "KATRIN PAIO")]
    assert [one.entity_id for one in resolve([paio], {paio.key: several})] == [3]
    elsewhere = EntityKey(NameKind.PLACE, paio.key.slug)
    assert [one.entity_id for one in resolve([paio], {elsewhere: several, paio.key: []})] == [None]

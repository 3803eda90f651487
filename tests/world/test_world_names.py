"""Names: every inflected form of the practice web is one that an Estonian analyser knows for that name."""

from __future__ import annotations

import re

from rehi.languages.kinds import NameKind
from rehi.testing.world import english, estonian
from rehi.testing.world.names import SPECIAL, Name, Population
from rehi.testing.world.texts import ROLES

_CASES = {
    "gen": "sg g", "all": "sg all", "ad": "sg ad", "abl": "sg abl", "kom": "sg kom", "el": "sg el", "in": "sg in",
    "ill": "sg ill",
}  # fmt: skip


def declined(population: Population) -> list[Name]:
    """All names whose last word is inflected; companies inflect their legal form instead."""
    roles = (names for role, names in population.roles.items() if role != "company")
    return [*(name for names in roles for name in names), *SPECIAL.values()]


def test_vabamorf_knows_every_form() -> None:
    from estnltk.vabamorf.morf import Vabamorf

    analyser = Vabamorf.instance()
    for name in declined(Population(1)):
        last = name.base.split()[-1].lower()
        for case, form in _CASES.items():
            word = name.forms[case].split()[-1]
            analyses = analyser.analyze([word], propername=True, guess=True, disambiguate=False)[0]["analysis"]
            known = {(analysis["lemma"].lower(), analysis["form"]) for analysis in analyses}
            assert (last, form) in known, (name.base, case, word)


def test_there_are_many_people_and_some_share_a_surname() -> None:
    people = Population(1).roles["person"]
    families = [name.family for name in people]
    assert len({name.base for name in people}) == len(people) >= 150
    assert len(set(families)) < len(families)


def test_no_two_names_of_one_kind_are_the_same() -> None:
    names = [name for names in Population(1).roles.values() for name in names]
    assert len({name.key("et") for name in names}) == len(names)
    assert len({name.key("en") for name in names}) == len(names)


def test_a_company_inflects_its_legal_form() -> None:
    company = next(name for name in Population(1).roles["company"] if name.base == "OÜ Merepiim")
    assert company.kind is NameKind.ORGANISATION
    assert company.form("all", "et") == "OÜ-le Merepiim"
    assert company.form("all", "en") == "OÜ Merepiim"


def test_there_are_enough_sentences_and_none_is_there_twice() -> None:
    for language, least in ((estonian, 60), (english, 40)):
        sentences = [s for group in language.SENTENCES.values() for s in group]
        sentences += [*language.GENERAL, *language.TRAPS, *language.FOLLOWING]
        assert len(set(sentences)) == len(sentences) >= least
        assert set(language.TITLES) == {*language.SENTENCES, "traps"}


def test_every_slot_has_a_role() -> None:
    amounts = {"number", "year", "money", "month", "monthgen", "date", "surname"}
    for language in (estonian, english):
        groups = [*language.SENTENCES.values(), *language.TITLES.values(), language.TRAPS, language.FOLLOWING]
        for sentence in (s for group in groups for s in group):
            for role, _, case in re.findall(r"\{([a-z]+)(\d?)(?::([a-z]+))?\}", sentence):
                assert role in amounts or role in ROLES or role in SPECIAL, sentence
                assert not case or case in {*_CASES, "nom", "loc", "lat", "sep"}, sentence
                assert not case or language is estonian, sentence

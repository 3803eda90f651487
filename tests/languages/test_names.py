"""Names in Estonian and English, on sentences of our own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rehi.builtin import BUILTIN
from rehi.languages import language
from rehi.languages.kinds import NameKind
from rehi.model.document import Mention
from rehi.testing.waiting import PATIENCE

P, O, L = NameKind.PERSON, NameKind.ORGANISATION, NameKind.PLACE  # noqa: E741


def names(code: str, text: str) -> list[Mention]:
    speaker = language(code)
    assert speaker is not None
    return speaker.mentions(text)


def found(code: str, text: str) -> set[tuple[str, str]]:
    return {(mention.kind, mention.name) for mention in names(code, text)}


ESTONIAN = [
    ("Eile anti auhind Katrin Paiole.", {(P, "Katrin Paio")}),
    ("Tallinna Linnavalitsuses arutati uut eelarvet.", {(O, "Tallinna Linnavalitsus")}),
    ("Võrus ja Sillamäel sadas kogu päeva vihma.", {(L, "Võru"), (L, "Sillamäe")}),
    ("A. H. Tammsaare sündis Albus.", {(P, "A. H. Tammsaare"), (L, "Albu")}),
    ("AS Rehemaa Meierei juhataja on Jüri Ratas.", {(O, "AS Rehemaa Meierei"), (P, "Jüri Ratas")}),
    ("Lepingu sõlmis OÜ Valge Klaar.", {(O, "OÜ Valge Klaar")}),
    ("Keskkonnaministeeriumi asekantsler Kaarel Kuusk-Sepp vastas kirjale.",
     {(O, "Keskkonnaministeerium"), (P, "Kaarel Kuusk-Sepp")}),
    ("Koosolekul osalesid Anna-Liisa Kivi ja Toomas Uibopuu.", {(P, "Anna-Liisa Kivi"), (P, "Toomas Uibopuu")}),
    ("Ludwig van Beethoveni teoseid mängiti Tartus.", {(P, "Ludwig van Beethoven"), (L, "Tartu")}),
    ("Elva linnapea Eva Kams avas muuseumi.", {(L, "Elva"), (P, "Eva Kams")}),
    ("Buss sõitis Viljandist Pärnusse.", {(L, "Viljandi"), (L, "Pärnu")}),
    ("MTÜ Vanad Laevad ootab külalisi Haapsallu.", {(O, "MTÜ Vanad Laevad")}),
    ("Tartu Ülikooli rektor kohtus president Lennart Meriga.", {(O, "Tartu Ülikool"), (P, "Lennart Meri")}),
    ("Hundiküla Vallavalitsus kuulutas välja hanke.", {(O, "Hundiküla Vallavalitsus")}),
    ("Raamatut esitles Mari Liivapuu Kaldaveere Linnavalitsusest.",
     {(P, "Mari Liivapuu"), (O, "Kaldaveere Linnavalitsus")}),
    ("Töö võttis vastu Riina Tomingas.", {(P, "Riina Tomingas")}),
    ("Peaminister sõitis Brüsselisse ja sealt Pariisi.", {(L, "Brüssel"), (L, "Pariis")}),
    ("Eesti Panga andmetel hinnad tõusid.", {(O, "Eesti Pank")}),
]  # fmt: skip

ENGLISH = [
    ("Katrin Paio, the mayor of Rehemaa, opened the library.", {(P, "Katrin Paio"), (L, "Rehemaa")}),
    ("The Ministry of Culture thanked Peeter Kask.", {(O, "Ministry of Culture"), (P, "Peeter Kask")}),
    ("Dr. Mary O'Neill's report was published by the University of Sheffield.",
     {(P, "Mary O'Neill"), (O, "University of Sheffield")}),
    ("Northern Dairy Ltd employs 40 people in Leeds.", {(O, "Northern Dairy Ltd"), (L, "Leeds")}),
    ("The contract was awarded to OÜ Valge Klaar.", {(O, "OÜ Valge Klaar")}),
    ("The ferry between Virtsu and Kuivastu was late.", {(L, "Virtsu"), (L, "Kuivastu")}),
    ("President Kersti Kaljulaid met Angela Merkel in Berlin.",
     {(P, "Kersti Kaljulaid"), (P, "Angela Merkel"), (L, "Berlin")}),
    ("The choir of Lepaoja Basic School will sing in Tartu.", {(O, "Lepaoja Basic School"), (L, "Tartu")}),
    ("Rehemaa Town Council met on Monday.", {(O, "Rehemaa Town Council")}),
    ("Old maps were given to Hundiküla Library by John Smith.", {(O, "Hundiküla Library"), (P, "John Smith")}),
    ("People from Estonia and the United States took part.", {(L, "Estonia"), (L, "United States")}),
    ("A. H. Tammsaare was born in Albu.", {(P, "A. H. Tammsaare"), (L, "Albu")}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "gold"), [("et", ESTONIAN), ("en", ENGLISH)])
def test_nine_names_in_ten_are_found_in_their_basic_form(
    code: str, gold: list[tuple[str, set[tuple[str, str]]]]
) -> None:
    missed = [(text, expected - found(code, text)) for text, expected in gold if expected - found(code, text)]
    total = sum(len(expected) for _, expected in gold)
    assert sum(len(each) for _, each in missed) <= total * 0.1, missed


def test_an_inflected_name_has_the_name_its_text_shows_elsewhere() -> None:
    text = "Mari Tamme sõnul on kõik korras. Hiljem andis Mari Tamm lepingu üle. Mari Tammele maksti kohe."
    assert {mention.name for mention in names("et", text)} == {"Mari Tamm"}


def test_other_readings_of_a_name_are_kept_as_lemmas() -> None:
    (mention,) = names("et", "Eile kohtus ta Mari Tammega.")
    both = {mention.name, *mention.lemmas}
    assert {"Mari Tamm", "Mari Tamme"} <= both


def test_a_family_name_alone_is_found_again_in_any_case() -> None:
    text = "Auhinna sai Katrin Paio. Žürii kinkis Paiole ka raamatu."
    assert [(mention.surface, mention.name, mention.family) for mention in names("et", text)] == [
        ("Katrin Paio", "Katrin Paio", "Paio"),
        ("Paiole", "Paio", "Paio"),
    ]


@pytest.mark.parametrize(
    ("code", "text", "given_name", "family"),
    [
        ("et", "Kohale tuli Anna-Liisa Kivi.", "Anna-Liisa", "Kivi"),
        ("et", "Mängiti Ludwig van Beethoveni teoseid.", "Ludwig", "van Beethoven"),
        ("et", "Raamatu kirjutas A. H. Tammsaare.", "A. H.", "Tammsaare"),
        ("en", "The mayor thanked Mary Smith for her work.", "Mary", "Smith"),
    ],
)
def test_people_have_given_and_family_names(code: str, text: str, given_name: str, family: str) -> None:
    people = [mention for mention in names(code, text) if mention.kind == NameKind.PERSON]
    assert [(mention.given, mention.family) for mention in people] == [(given_name, family)]


def test_a_person_whose_name_holds_a_legal_form_is_no_company() -> None:
    text = "Linnapea Kaspar Saar ütles, et töö jätkub. Kaspar Saarega oli päri ka Oskar Asmäe."
    kinds = {mention.kind for mention in names("et", text)}
    assert kinds == {NameKind.PERSON}


def test_a_possessive_is_no_part_of_a_name() -> None:
    assert (P, "Mary Smith") in found("en", "Mary Smith's letter reached Leeds in March.")


def test_a_month_is_no_place() -> None:
    assert (L, "May") not in found("en", "The road will be finished in May, said the mayor of Leeds.")


def test_a_name_across_a_line_break_is_whole() -> None:
    text = "Raamatukogu avamisel peeti kõnesid ja sellele vaatas pealt ka Katrin\nPaio, kes oli tulnud linnast."
    people = [mention for mention in names("et", text) if mention.kind == NameKind.PERSON]
    assert [(mention.surface, mention.name) for mention in people] == [("Katrin\nPaio", "Katrin Paio")]


@pytest.mark.parametrize("code", BUILTIN["language"])
def test_in_a_text_in_capitals_names_stay_on_their_lines(code: str) -> None:
    mentions = names(code, "VOLIKOGU ISTUNGI KOKKUVÕTE\nTHE MINUTES OF THE COUNCIL\nKATRIN PAIO\n" * 5)
    assert [mention.surface for mention in mentions if mention.kind == P] == ["KATRIN PAIO"] * 5
    assert [mention.surface for mention in mentions if "\n" in mention.surface] == []


def test_an_unknown_language_has_no_names() -> None:
    assert language("fi") is None
    assert language("") is None


WORDS = st.sampled_from(
    ["Katrin", "Paio", "Paiole", "AS", "OÜ", "Tallinna", "linnavalitsus", "ja", ",", ".", "„", "“", '"', "'s", "von", "dr.",
     "A.", "Võrus", "Mari-Liis", "-", "the", "Ministry", "of", "Leeds", "in", "\n", "\n\n", "1.", "mail", "&", "\ud800",
     "\x00", "\x07", "\u200b", "İ", "ǅ", "ß", "𝔘", "Ülo", "_", "=", "+", "<", "~", "?", "]"]
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.text(st.characters(), max_size=200), st.lists(WORDS, max_size=60).map(" ".join)))
def test_any_text_gives_ordered_mentions_that_stand_in_it(text: str) -> None:
    for code in BUILTIN["language"]:
        last = 0
        for mention in names(code, text):
            assert mention.start >= last
            assert mention.end > mention.start
            assert mention.surface == text[mention.start : mention.end]
            assert mention.name.strip()
            last = mention.end


def test_estonian_needs_no_import_of_the_whole_estnltk_also_in_a_fresh_process() -> None:
    code = (
        "import sys; from rehi.languages import language; "
        "print([m.name for m in language('et').mentions('Eile tuli Katrin Paio.')], 'estnltk' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.strip() == "['Katrin Paio'] False"


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("et", "Eile käis linnas Andres …", ["Andres"]),
        ("et", "Andmed kogus Liis ...", ["Liis"]),
        ("en", "Mr John Smith; Tallinn; 4", ["John Smith", "Tallinn"]),
    ],
)
def test_a_name_ends_where_a_cell_ends_or_a_text_was_cut(code: str, text: str, expected: list[str]) -> None:
    assert [mention.name for mention in names(code, text)] == expected

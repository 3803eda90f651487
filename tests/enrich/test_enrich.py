"""Enrich: what is understood of a document's text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.enrich import enrich
from rehi.enrich.language import identify
from rehi.enrich.names import BLOCK, MAX_MENTIONS, find_names
from rehi.languages.kinds import NameKind
from rehi.model.document import Document

ESTONIAN = "Tallinna linnavalitsus otsustas eile, et uus raamatukogu avatakse mais. Katrin Paio oli rõõmus."
ENGLISH = "The mayor of Leeds, Mary Smith, said yesterday that the new library would open in the spring."


def document(text: str, declared: str = "") -> Document:
    return Document(media_type="text/plain", text=text, language=declared)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (ESTONIAN, "et"),
        (ENGLISH, "en"),
        ("Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.", "fi"),
        ("Все люди рождаются свободными и равными в своем достоинстве и правах.", "ru"),
        ("Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās.", "lv"),
    ],
)
def test_a_text_shows_its_language(text: str, code: str) -> None:
    assert identify(text) == code


def test_the_text_counts_more_than_what_it_declares() -> None:
    assert identify(ESTONIAN, "en-GB") == "et"


@pytest.mark.parametrize(("declared", "code"), [("et-EE", "et"), ("en_US", "en"), ("", "und"), ("<script>", "und")])
def test_a_short_text_is_in_the_language_it_declares(declared: str, code: str) -> None:
    assert identify("Tere!", declared) == code


def test_numbers_have_no_language() -> None:
    assert identify("12 345 " * 200) == "und"


def test_a_document_gets_its_language_and_its_names() -> None:
    facets = enrich(document(ESTONIAN))
    assert facets["language"] == "et"
    assert (NameKind.PERSON, "Katrin Paio") in {(mention.kind, mention.name) for mention in facets["names"]}


def test_a_document_in_another_language_gets_no_names() -> None:
    facets = enrich(document("Helsingin kaupunginhallitus päätti eilen, että uusi kirjasto avataan toukokuussa."))
    assert facets["language"] == "fi"
    assert facets["names"] == ()


def test_a_passage_in_the_other_language_is_read_in_it() -> None:
    text = f"{ESTONIAN * 6}\n\n{ENGLISH * 3}\n\n{ESTONIAN * 3}"
    facets = enrich(document(text))
    found = {(mention.kind, mention.name) for mention in facets["names"]}
    assert facets["language"] == "et"
    assert {(NameKind.PERSON, "Mary Smith"), (NameKind.PLACE, "Leeds"), (NameKind.PERSON, "Katrin Paio")} <= found
    assert all(text[mention.start : mention.end] == mention.surface for mention in facets["names"])


def test_a_text_of_many_blocks_keeps_its_offsets() -> None:
    line = "The report was written by Mary Smith in Leeds.\n"
    text = line * (2 * BLOCK // len(line) + 10)
    mentions = find_names(text, "en")
    assert len(mentions) > 2 * BLOCK // len(line)
    assert all(text[mention.start : mention.end] == mention.surface for mention in mentions)


def test_mentions_are_capped() -> None:
    assert len(find_names("Mary Smith met John Brown in Leeds.\n" * 9_000, "en")) == MAX_MENTIONS


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=400), st.text(max_size=10))
def test_any_document_can_be_enriched(text: str, declared: str) -> None:
    facets = enrich(document(text, declared))
    assert facets["language"]
    assert all(text[mention.start : mention.end] == mention.surface for mention in facets["names"])

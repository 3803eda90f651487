"""Sentences: a text cut into sentences of tokens that know their place."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.languages.sentences import MAX_TOKENS, sentences


def cut(text: str) -> list[list[str]]:
    return [[token.text for token in sentence] for sentence in sentences(text)]


def test_a_full_stop_before_a_capital_ends_a_sentence() -> None:
    assert cut("Ta tuli. Siis läks.") == [["Ta", "tuli", "."], ["Siis", "läks", "."]]


def test_initials_keep_their_dots_and_their_name() -> None:
    assert cut("A. H. Tammsaare sündis Albus.") == [["A.", "H.", "Tammsaare", "sündis", "Albus", "."]]


def test_ordinals_and_dates_do_not_end_a_sentence() -> None:
    assert cut("Sündis 30. jaanuaril 1878. aastal.") == [["Sündis", "30.", "jaanuaril", "1878.", "aastal", "."]]
    assert cut("Aasta oli 1998. Siis tuli sõda.")[0] == ["Aasta", "oli", "1998", "."]
    assert cut("kell 12.30 ja 1.12.2014") == [["kell", "12.30", "ja", "1.12.2014"]]


def test_abbreviations_do_not_end_a_sentence() -> None:
    assert len(cut("See on nn. proov, vt. lk. 5 jne. ja edasi.")) == 1
    assert cut("Mr. Smith and Dr. Jones left.") == [["Mr.", "Smith", "and", "Dr.", "Jones", "left", "."]]


def test_addresses_are_one_token_without_the_full_stop_after_them() -> None:
    assert cut("Vt https://www.rehemaa.test/a?b=1. Kirjuta mari@rehemaa.test!") == [
        ["Vt", "https://www.rehemaa.test/a?b=1", "."],
        ["Kirjuta", "mari@rehemaa.test", "!"],
    ]


def test_hyphenated_names_are_one_token() -> None:
    assert cut("Mari-Liis Tamm-Kask elab Uue-Kauksis")[0] == ["Mari-Liis", "Tamm-Kask", "elab", "Uue-Kauksis"]


def test_estonian_quotes_close_with_their_sentence() -> None:
    assert cut("„Tule koju.“ Ema ootas.") == [["„", "Tule", "koju", ".", "“"], ["Ema", "ootas", "."]]


def test_a_possessive_is_a_token_of_its_own() -> None:
    assert cut("Mary's and Smith’s")[0] == ["Mary", "'s", "and", "Smith", "’s"]


def test_a_line_break_ends_a_sentence() -> None:
    assert cut("Pealkiri\nKatrin Paio tuli") == [["Pealkiri"], ["Katrin", "Paio", "tuli"]]


def test_the_soft_wrap_of_a_typeset_line_does_not() -> None:
    wrapped = "Raamatukogu avamisel peeti kõnesid ja sellele vaatas pealt ka Katrin\nPaio, kes oli tulnud linnast."
    assert len(cut(wrapped)) == 1


def test_a_blank_line_ends_a_sentence_even_after_a_long_line() -> None:
    assert len(cut("Raamatukogu avamisel peeti kõnesid ja sellele vaatas pealt ka\n\nkatrin")) == 2


def test_a_sentence_without_end_is_cut() -> None:
    assert max(len(sentence) for sentence in cut("sõna " * 5_000)) == MAX_TOKENS


def test_hostile_runs_take_linear_time() -> None:
    begun = time.process_time()
    for text in (
        "a.a" * 40_000,
        "a-" * 60_000,
        "@" * 100_000,
        "1." * 60_000,
        "www." * 30_000,
        "x" * 200_000,
        "'s" * 60_000,
    ):
        list(sentences(text))
    assert time.process_time() - begun < 15


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=300))
def test_every_token_is_what_stands_at_its_place(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        assert sentence
        for token in sentence:
            assert token.start >= last
            assert len(token.text) == token.end - token.start
            assert token.text.replace("\ufffd", "") in (text[token.start : token.end], token.text.replace("\ufffd", ""))
            last = token.end

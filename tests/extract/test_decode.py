"""Bytes become text, whatever their charset is or claims to be."""

from __future__ import annotations

import pytest

from rehi.extract.characters import clean, one_line
from rehi.extract.decode import charset_inside, decode, repair

ESTONIAN = (
    "Jõgeva vallavanem Jüri Mäe ütles, et Õnne Köster ja Ülle Šmidt said žürii preemia. "
    "Žanna Tšernova käis öösel Võrus, kus ärimees Põder sõi šokolaadi ja vaatas näitust."
)
LATVIAN = "Rīgas mērs Jānis Bērziņš teica, ka šodien būs ļoti skaista diena, un Ķekavas iedzīvotāji čakli strādā."
RUSSIAN = "Мэр города сказал, что сегодня будет хорошая погода, и все жители пойдут в парк." * 2
WITHOUT_CARONS = ESTONIAN.translate(str.maketrans("šžŠŽ", "szSZ"))
QUOTED = "Näidend „JÄÄ“ linastus Võrus, „PÖÖ“ Tartus."


@pytest.mark.parametrize("declared", ["", "utf-8", "iso-8859-1", "windows-1257", "nonsense", "hex", "utf-7"])
@pytest.mark.parametrize("actual", ["cp1252", "iso8859-15", "cp1257", "iso8859-13", "iso8859-4", "utf-8"])
def test_estonian_is_read_in_any_encoding_under_any_label(actual: str, declared: str) -> None:
    assert decode(ESTONIAN.encode(actual), declared=declared).text == ESTONIAN


@pytest.mark.parametrize("declared", ["", "iso-8859-1"])
@pytest.mark.parametrize("actual", ["cp1257", "iso8859-13", "iso8859-4"])
def test_latvian_is_read_in_its_encodings(actual: str, declared: str) -> None:
    assert decode(LATVIAN.encode(actual), declared=declared).text == LATVIAN


@pytest.mark.parametrize("declared", ["", "iso-8859-1", "windows-1251"])
def test_russian_is_read_even_when_it_is_called_latin(declared: str) -> None:
    assert decode(RUSSIAN.encode("cp1251"), declared=declared).text == RUSSIAN


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_wide_encodings_are_told_by_their_marks_or_zeros(charset: str) -> None:
    assert decode(ESTONIAN.encode(charset)).text == ESTONIAN


def test_a_declared_charset_that_fits_is_believed() -> None:
    assert decode(WITHOUT_CARONS.encode("iso8859-15"), declared="iso-8859-15").charset == "iso-8859-15"
    assert decode("日本語のテキスト".encode("shift_jis"), declared="shift_jis").text == "日本語のテキスト"


def test_the_charset_has_the_name_that_the_web_uses() -> None:
    assert decode(ESTONIAN.encode("cp1257")).charset == "windows-1257"


def test_a_text_cut_within_a_letter_is_still_utf_8() -> None:
    assert decode("Jõõ".encode()[:-1]).text == "Jõ"


def test_a_few_foreign_bytes_do_not_spoil_utf_8() -> None:
    damaged = (ESTONIAN * 5).encode() + "õ".encode("cp1252") + ESTONIAN.encode()
    assert decode(damaged).text == ESTONIAN * 5 + "õ" + ESTONIAN


def test_markup_declares_its_charset_inside() -> None:
    assert charset_inside(b'<html><meta http-equiv="x" content="text/html; charset=ISO-8859-15">') == "iso-8859-15"
    assert charset_inside(b"<meta charset='windows-1257'>") == "windows-1257"
    assert charset_inside(b'<?xml version="1.0" encoding="ISO-8859-4"?>') == "iso-8859-4"
    assert charset_inside(b"<p>charset=none</p>") == ""


def misread(text: str, charset: str) -> str:
    """UTF-8 read as something else, with C1 controls where that has no character."""
    return "".join(bytes([byte]).decode(charset, "ignore") or chr(byte) for byte in text.encode())


@pytest.mark.parametrize("text", [ESTONIAN, QUOTED])
@pytest.mark.parametrize("charset", ["latin-1", "cp1252", "iso8859-15", "cp1257", "iso8859-4"])
def test_mojibake_is_repaired(text: str, charset: str) -> None:
    assert repair(misread(text, charset)) == text


def test_double_mojibake_is_repaired() -> None:
    assert repair(misread(misread(ESTONIAN, "cp1252"), "cp1252")) == ESTONIAN
    assert repair(misread(misread(ESTONIAN, "cp1252"), "latin-1")) == ESTONIAN


def test_half_a_page_of_mojibake_is_repaired_and_the_other_half_left() -> None:
    assert repair(f"{ESTONIAN}\n{misread(ESTONIAN, 'cp1252')}") == f"{ESTONIAN}\n{ESTONIAN}"


def test_russian_mojibake_is_repaired() -> None:
    assert repair(misread(RUSSIAN, "cp1252")) == RUSSIAN


@pytest.mark.parametrize(
    "text", [ESTONIAN, QUOTED, LATVIAN, RUSSIAN, "NÃO é São João, PÃO", "Å“ ja „ÄÄ“ Â», 5 Å²", "Ã ja Ã", "Ünikood ¼ ½"]
)
def test_what_is_right_stays_as_it_is(text: str) -> None:
    assert repair(text) == text


def test_forbidden_characters_go_and_lines_end_in_one_way() -> None:
    dirty = "\ufeffJaa\x00n\x0b\ud800 Ta\u00admm\r\nMa\u200bri\ufffe\U0001fffe\rKask\u2028õ o\u0303\x85.\x1f\ufdd0"
    assert clean(dirty) == "Jaan\n Tamm\nMari\nKask\nõ õ\n."


def test_a_title_is_one_short_line() -> None:
    assert one_line("  Rehe \n\t maa " + "x" * 1000, 20) == "Rehe maa xxxxxxxxxxx"

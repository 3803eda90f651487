"""Tests of lists of URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.model.source import Finding, Malformed, Rejected
from rehi.sources.url_list import read_url_list

PAGE = "http://www.example.ee/uudis"


@pytest.mark.parametrize(
    ("line", "url"),
    [
        (PAGE, PAGE),
        (f"  {PAGE}\r", PAGE),
        (f"\ufeff{PAGE}", PAGE),
        ("HTTPS://www.example.ee", "https://www.example.ee/"),
        ("http://www.example.ee/a,b;c.html", "http://www.example.ee/a,b;c.html"),
        ("www.example.ee/uudis", PAGE),
        ("example.ee", "http://example.ee/"),
        ("example.ee:8080/x", "http://example.ee:8080/x"),
        ("õ.ee", "http://xn--mda.ee/"),
        ("wp.pl", "http://wp.pl/"),
        ("1,example.ee", "http://example.ee/"),
        ("17;http://www.example.ee/uudis", PAGE),
        (f"{PAGE}\tpealkiri", PAGE),
        (f"{PAGE}, uudis ja pilt", PAGE),
        (f'"{PAGE}","uudis"', PAGE),
        (f"uudis,{PAGE},2014", PAGE),
        (f"uudis, {PAGE}, 2014", PAGE),
        (f"<{PAGE}>", PAGE),
        ("http://www.example.ee/pilt.jpg", "http://www.example.ee/pilt.jpg"),
    ],
)
def test_the_url_of_a_line_is_found(line: str, url: str) -> None:
    assert list(read_url_list([line.encode()])) == [Finding(url)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [("", "blank"), ("# eile", "comment"), ("\ufeff#", "comment"), ("ftp://example.ee/x", "scheme"), ("mailto:a@b.ee", "scheme"),
     ("dns:example.ee", "dns"), ("javascript:alert(1)", "scheme")],
)  # fmt: skip
def test_a_line_without_a_page_is_rejected_with_its_reason(line: str, reason: str) -> None:
    assert list(read_url_list([line.encode()])) == [Rejected(reason)]


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "http://",
        "minu fail.txt",
        "fail.txt",
        "see on lause. Ja teine.",
        "e.g. example.ee",
        f"vaata {PAGE} homme",
        "12",
        "x" * 70_000,
    ],
)
def test_a_line_that_is_none_is_reported(line: str) -> None:
    (one,) = read_url_list([line.encode()])
    assert isinstance(one, Malformed)
    assert one.where == 1


@pytest.mark.parametrize(
    "line",
    [
        "url",
        "\ufeffURL\r",
        "nr;aadress;pealkiri",
        "GlobalRank,TldRank,Domain,TLD",
        '"title"\t"Link"',
        "Veebiaadress | Asutus",
    ],
)
def test_a_first_line_with_the_names_of_columns_is_a_header(line: str) -> None:
    lines = [b"", b"# made by hand", line.encode(), PAGE.encode(), line.encode()]
    *before, last = read_url_list(lines)
    assert before == [Rejected("blank"), Rejected("comment"), Rejected("header"), Finding(PAGE)]
    assert isinstance(last, Malformed)
    (after_others,) = read_url_list([line.encode()], 40_000)
    assert isinstance(after_others, Malformed)


def test_reading_goes_on_after_the_lines_that_were_taken_in() -> None:
    lines = [b"http://a.ee/", b"hello", b"http://b.ee/", b"hello"]
    assert list(read_url_list(lines[2:], 2)) == [Finding("http://b.ee/"), Malformed(4, "hello", "no URL in this line")]


@given(st.lists(st.one_of(st.binary(max_size=200), st.text(alphabet="htp:/w.e ,;\"'1#õ", max_size=60).map(str.encode))))
def test_any_bytes_make_one_finding_a_line(lines: list[bytes]) -> None:
    assert len(list(read_url_list(lines))) == len(lines)

"""Parts and tables: where they are in the text, and what shape tables have."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.extract import hint_of, locate, read_bytes
from rehi.extract.characters import finish
from rehi.extract.csv import find_header
from rehi.model.document import Document, Part, TableDialect, TableShape
from tests.extract.conftest import Read


def test_a_table_says_its_shape(read: Read) -> None:
    document = read("nimi;aasta;summa\nVõru;2023;12,5\n\nTartu;2024;7\n", "text/csv")
    (table,) = document.tables
    assert (table.header, table.columns, table.rows, table.first_row) == (("nimi", "aasta", "summa"), 3, 2, 1)
    assert (table.dialect, table.complete, table.part) == (TableDialect(delimiter=";"), True, None)
    assert document.text[table.start : table.end] == document.text


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["name", "year"], ["Võru", "2023"]], ("name", "year")),
        ([["linn", "vald"], ["Võru", "Rõuge"], ["Tartu", "Nõo"]], ("linn", "vald")),
        ([["2023", "Võru"], ["2024", "Tartu"]], ()),
        ([["Võru", "Tartu"], ["Tartu", "Võru"]], ()),
        ([["a", "a"], ["1", "2"]], ()),
        ([["a", ""], ["1", "2"]], ()),
        ([["a", "b"]], ()),
        ([["2024-01-01", "12:30"], ["1", "2"]], ()),
    ],
)
def test_a_header_is_a_row_of_names(rows: list[list[str]], header: tuple[str, ...]) -> None:
    assert find_header(rows) == header


def test_a_table_that_was_cut_says_so(read: Read) -> None:
    document = read("a;b\n" + "1;2\n" * 5_000, "text/csv", max_text=2_000)
    (table,) = document.tables
    assert not table.complete
    assert table.rows < 5_000
    assert table.end == len(document.text)


def test_blank_lines_before_a_table_are_counted(read: Read) -> None:
    (table,) = read("\n\na,b\n1,2\n", "text/csv").tables
    assert (table.first_row, table.rows, table.header) == (3, 1, ("a", "b"))


def test_a_quote_that_is_never_closed_means_that_there_are_none(read: Read) -> None:
    lines = "a;b\n" + "x;2\n" * 60 + '"open;1\n' + "x;2\n" * 60
    (table,) = read(lines, "text/csv").tables
    assert (table.dialect, table.rows) == (TableDialect(delimiter=";", quote_char=""), 121)


def test_a_file_without_rows_has_no_table(read: Read) -> None:
    assert read("\n\n", "text/csv").tables == ()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=8), st.integers(1, 100))
def test_ranges_follow_the_text_whatever_is_cleaned_away(blocks: list[str], limit: int) -> None:
    text, parts, start = "".join(blocks), [], 0
    for block in blocks:
        parts.append(Part(kind="block", start=start, end=start + len(block)))
        start += len(block)
    tables = (TableShape(start=0, end=10**9), TableShape(start=-5, end=3))
    done = finish(Document(media_type="text/plain", text=text, parts=tuple(parts), tables=tables), limit)
    assert "".join(done.text[part.start : part.end] for part in done.parts) == done.text
    assert done.text == done.text.strip()
    assert all(0 <= part.start <= part.end <= len(done.text) for part in done.parts)
    assert all(0 <= table.start <= table.end <= len(done.text) for table in done.tables)
    assert (done.tables[0].start, done.tables[0].end) == (0, len(done.text))


def test_the_same_bytes_are_the_same_document_wherever_they_lie() -> None:
    raw = b"<base href='/sub/'><a href='x.html'>x</a><a href='//b.test/'>y</a><a href='mailto:a@b.c'>z</a>"
    document = read_bytes(io.BytesIO(raw), name="leht", media_type="text/html", size=len(raw), max_text=1_000)
    assert document.links == ("x.html", "//b.test/")
    assert locate(document, "http://a.test/1/leht").links == ("http://a.test/sub/x.html", "http://b.test/")
    assert locate(document, "https://c.test/leht").links == ("https://c.test/sub/x.html", "https://b.test/")


def test_of_an_address_only_the_name_of_the_file_is_used() -> None:
    same = {
        hint_of(url, media_type)
        for url in ("http://a.test/x/andmed.csv", "https://www.a.test/andmed.csv?v=2")
        for media_type in ("text/csv; charset=UTF-8", "Text/CSV;charset=utf-8")
    }
    assert same == {"andmed.csv text/csv utf-8"}

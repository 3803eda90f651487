"""A table: columns and rows, read from delimited text."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_CELLS = 2_500_000  # of one table; some 250 MB of memory, and 2 s to read
MOST_COLUMNS = 2_000
_MOST_BREAKS = 50  # lines in one cell; more means that a quote was never closed
_SAMPLE = 200  # rows that are compared with the first, to see whether it is a header
_NUMBER = re.compile(r"[-+]?[\d\s.,]*\d[\d.,]*\s*[%€$£]?|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ][\d:.+Z-]+)?")
_LONGEST_NUMBER = 40  # characters
_YEAR = re.compile(r"(?:19|20)\d\d")

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows that all have as many cells as there are columns; the columns' names are different from each other."""

    columns: Row
    rows: Sequence[Row]


class TableTooLarge(Exception):
    """A table has more cells than can be compared one by one."""


def to_table(rows: Sequence[Row], *, header: bool) -> Table:
    """Return rows as a table; without a header the columns are numbered. TableTooLarge if a long row widens all others too much."""
    width = max(map(len, rows), default=0)
    if width * len(rows) > 2 * MOST_CELLS:
        raise TableTooLarge
    names = _names(rows[0] if header and rows else (), width)
    body = rows[1:] if header else rows
    return Table(columns=names, rows=[row if len(row) == width else row + ("",) * (width - len(row)) for row in body])


def read_rows(text: str, delimiter: str) -> list[Row]:
    """Return the rows of a delimited text that are not empty; TableTooLarge if there are too many.

    If a quote is never closed, quotes are read as ordinary characters.
    """
    csv.field_size_limit(max(len(text), 131_072))  # the text is limited already
    try:
        return list(_rows(text, delimiter, quoted=True))
    except (_UnclosedQuote, csv.Error):
        return list(_rows(text, delimiter, quoted=False))


def has_header(rows: Sequence[Row]) -> bool:
    """Whether the first row is a header: its cells are of another kind than those below."""
    if len(rows) < 2:
        return bool(rows)
    first, body = rows[0], rows[1 : _SAMPLE + 1]
    if len(set(first)) < len(first) or not all(cell.strip() for cell in first[:1]):
        return False
    votes = sum(_vote(cell, [row[at] for row in body if at < len(row)]) for at, cell in enumerate(first[:50]))
    return votes >= 0


def both_headers(old: Sequence[Row], new: Sequence[Row]) -> tuple[bool, bool]:
    """Return for two versions of one table whether each has a header; if their first rows share half of the cells, both have."""
    first, second = has_header(old), has_header(new)
    if first != second and old and new:
        shared = len(set(old[0]) & set(new[0]))
        if 2 * shared >= max(len(old[0]), len(new[0])):
            return True, True
    return first, second


class _UnclosedQuote(Exception):
    """A quote is never closed, so that one cell would hold the rest of the file."""


def _rows(text: str, delimiter: str, *, quoted: bool) -> Iterator[Row]:
    lines = (line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    cells, seen = 0, 0
    reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    for row in reader:
        if reader.line_num - seen > _MOST_BREAKS and quoted:
            raise _UnclosedQuote
        seen = reader.line_num
        if not any(row):
            continue
        cells += len(row)
        if cells > MOST_CELLS or len(row) > MOST_COLUMNS:
            raise TableTooLarge
        yield tuple(row)


def _names(first: Row, width: int) -> Row:
    """Return the names of the columns, made different from each other; missing ones are numbered."""
    names: list[str] = []
    repeats: Counter[str] = Counter()
    for at in range(width):
        label = " ".join(first[at].split()) if at < len(first) else ""
        name = label = label or f"column {at + 1}"
        while name in names:
            repeats[label] += 1
            name = f"{label} ({repeats[label] + 1})"
        names.append(name)
    return tuple(names)


def _vote(cell: str, body: Sequence[str]) -> int:
    """Return how one column votes on whether the first row is a header: for it (+) or against it (-)."""
    filled = [value.strip() for value in body if value.strip()]
    looked = filled[:50]
    mostly = sum(map(_is_number, looked)) * 2 > len(looked)
    if _YEAR.fullmatch(cell.strip()) and not any(map(_YEAR.fullmatch, looked)):
        return 0
    if _is_number(cell.strip()):
        return -2 if mostly or not filled else -1
    if mostly:
        return 2
    return -1 if cell.strip() in filled else 0


def _is_number(value: str) -> bool:
    """Whether a value is a number or a date. Long values are not looked at: that would cost the square of their length."""
    return len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value) is not None

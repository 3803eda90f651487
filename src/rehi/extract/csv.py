"""CSV: tables in delimited text, whatever the delimiter."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rehi.errors import Unreadable
from rehi.extract.body import Body
from rehi.extract.characters import clean, one_line
from rehi.extract.decode import decode
from rehi.extract.paragraphs import join_blocks
from rehi.model.document import Document, TableDialect, TableShape

DELIMITERS = ",;\t|"

_LINES = 50  # looked at to find the delimiter
_AGREEMENT = 0.7  # of these that must have as many cells as most
_MAX_BREAKS = 50  # lines in one cell; more means that a quote was never closed
_MAX_COLUMNS = 5_000
_LONGEST_NUMBER = 40  # characters
_NUMBER = re.compile(r"[-+]?[\d\s.,:/%€$-]*\d[\d\s.,:/%€$TZ-]*")  # or a date, a time, a price


def read(body: Body) -> Document:
    """Read a table: one paragraph for a row, its cells parted by semicolons."""
    decoded = decode(body.raw[: body.max_text * 8], declared=body.charset)
    text = clean(decoded.text)
    delimiter = find_delimiter(text) or ","
    try:
        rows = _Rows(text, delimiter, quoted=True)
        joined = join_blocks(rows, body.max_text)
    except _OpenQuote:
        rows = _Rows(text, delimiter, quoted=False)
        joined = join_blocks(rows, body.max_text)
    return Document(
        media_type=body.media_type,
        text=joined,
        title=one_line(body.file_name),
        charset=decoded.charset,
        tables=rows.tables(len(joined), whole=len(body.raw) <= body.max_text * 8),
    )


class _OpenQuote(Exception):
    """A quote is never closed, so that one cell swallows the rest of the file."""


def find_delimiter(text: str) -> str:
    """Return the sign that parts the first lines into the same number of cells, two or more; "" if none does."""
    sample = text[:100_000].lstrip("\ufeff")
    best, best_score = "", 0.0
    for delimiter in DELIMITERS:
        if delimiter in sample:
            score = _consistency(sample, delimiter)
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _consistency(sample: str, delimiter: str) -> float:
    """Return how sure a delimiter is: the share of rows of the usual width, and a little for more columns."""
    lines = sample.split("\n", _LINES)[:_LINES]
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
    except csv.Error:
        return 0.0
    if not widths:
        return 0.0
    width, count = widths.most_common(1)[0]
    share = count / widths.total()
    return share + min(width, 100) / 1000 if width > 1 and share >= _AGREEMENT else 0.0


class _Rows:
    """The rows of a table as text, and the shape of the table when they have been read."""

    def __init__(self, text: str, delimiter: str, *, quoted: bool) -> None:
        self._text, self._quoted = text, quoted
        self._dialect = TableDialect(delimiter=delimiter, quote_char='"' if quoted else "")
        self._widths: Counter[int] = Counter()
        self._first: list[list[str]] = []  # rows with cells, for a look at what may be the header
        self._blank_before = self._number = 0
        self._ended = False

    def __iter__(self) -> Iterator[str]:
        csv.field_size_limit(max(len(self._text), 131_072))  # the text is limited already
        lines = (line + "\n" for line in self._text.split("\n"))
        reader = csv.reader(
            lines,
            delimiter=self._dialect.delimiter,
            quoting=csv.QUOTE_MINIMAL if self._quoted else csv.QUOTE_NONE,
        )
        try:
            for row in reader:
                yield self._take([" ".join(_checked(cell, quoted=self._quoted).split()) for cell in row[:_MAX_COLUMNS]])
        except csv.Error as error:
            if self._quoted:
                raise _OpenQuote from error
            raise Unreadable(f"line {reader.line_num} is no row of a table: {error}") from error
        self._ended = True

    def _take(self, cells: list[str]) -> str:
        self._number += 1
        if any(cells):
            if not self._first:
                self._blank_before = self._number - 1
            if len(self._first) < _LINES:
                self._first.append(cells)
            self._widths[len(cells)] += 1
        return "; ".join(cell for cell in cells if cell)

    def tables(self, end: int, *, whole: bool) -> tuple[TableShape, ...]:
        """Return the table, unless there was no row; ``end`` is the length of its text."""
        if not self._first:
            return ()
        header = find_header(self._first)
        shape = TableShape(
            header=header,
            columns=self._widths.most_common(1)[0][0],
            rows=self._widths.total() - bool(header),
            first_row=self._blank_before + bool(header),
            complete=self._ended and whole,
            dialect=self._dialect,
            end=end,
        )
        return (shape,)


def find_header(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the names of the columns if the first row holds them, else nothing.

    It does if its cells are different words of which none stands in a row below, or if there are numbers below.
    """
    first, below = rows[0], [cell for row in rows[1:] for cell in row]
    if not all(first) or len(set(first)) < len(first) or any(map(_is_number, first)):
        return ()
    if not below:
        return ()
    return tuple(first) if any(map(_is_number, below)) or set(below).isdisjoint(first) else ()


def _is_number(cell: str) -> bool:
    return len(cell) <= _LONGEST_NUMBER and _NUMBER.fullmatch(cell) is not None


def _checked(cell: str, *, quoted: bool) -> str:
    if quoted and cell.count("\n") > _MAX_BREAKS:
        raise _OpenQuote
    return cell

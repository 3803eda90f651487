"""CSV: rows of cells, whatever stands between them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

from rehi.errors import Unreadable
from rehi.extract.body import Body
from rehi.extract.characters import clean, one_line
from rehi.extract.decode import decode
from rehi.extract.paragraphs import join_blocks
from rehi.model.document import Document

DELIMITERS = ",;\t|"

_LINES = 50  # looked at to find the delimiter
_AGREEMENT = 0.7  # of these that must have as many cells as most
_MAX_BREAKS = 50  # lines in one cell; more means that a quote was never closed
_MAX_COLUMNS = 5_000


def read(body: Body) -> Document:
    """Read a table: one paragraph for a row, its cells parted by semicolons."""
    decoded = decode(body.raw[: body.max_text * 8], declared=body.charset)
    text = clean(decoded.text)
    delimiter = find_delimiter(text) or ","
    try:
        rows = join_blocks(_rows(text, delimiter, quoted=True), body.max_text)
    except _OpenQuote:
        rows = join_blocks(_rows(text, delimiter, quoted=False), body.max_text)
    return Document(media_type=body.media_type, text=rows, title=one_line(body.file_name), charset=decoded.charset)


class _OpenQuote(Exception):
    """A cell swallows the rest of the file."""


def find_delimiter(text: str) -> str:
    """The sign that parts the first lines into the same number of cells, two or more; "" if none does."""
    sample = text[:100_000].lstrip("\ufeff")
    best, best_score = "", 0.0
    for delimiter in DELIMITERS:
        if delimiter in sample:
            score = _consistency(sample, delimiter)
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _consistency(sample: str, delimiter: str) -> float:
    """How sure the delimiter is: the share of rows of the usual width, and a little for more columns."""
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


def _rows(text: str, delimiter: str, *, quoted: bool) -> Iterator[str]:
    csv.field_size_limit(max(len(text), 131_072))  # the text is limited already
    lines = (line + "\n" for line in text.split("\n"))
    reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    try:
        for row in reader:
            cells = [" ".join(_checked(cell, quoted=quoted).split()) for cell in row[:_MAX_COLUMNS]]
            yield "; ".join(cell for cell in cells if cell)
    except csv.Error as error:
        if quoted:
            raise _OpenQuote from error
        raise Unreadable(f"line {reader.line_num} is no row of a table: {error}") from error


def _checked(cell: str, *, quoted: bool) -> str:
    if quoted and cell.count("\n") > _MAX_BREAKS:
        raise _OpenQuote
    return cell

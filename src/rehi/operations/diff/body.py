"""A parsed body: a version's bytes as what they truly are, read in the ways that a comparison needs."""

from __future__ import annotations

import io
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from rehi.compare import read_rows
from rehi.errors import BodyPruned
from rehi.extract import extract, has_reader
from rehi.extract.body import charset_of
from rehi.extract.characters import clean
from rehi.extract.csv import find_delimiter
from rehi.extract.decode import decode, decode_markup
from rehi.extract.sniff import sniff
from rehi.model.document import Document
from rehi.model.media import Syntax, by_name
from rehi.model.version import Version

if TYPE_CHECKING:
    from rehi.archive import Archive

LARGEST = 64_000_000  # bytes that are compared as text; beyond, sizes and digests must do
LARGEST_TABLE = 32_000_000
LARGEST_TREE = 32_000_000
_TABLES = ("text/csv", "text/tab-separated-values")  # whose rows can be told apart by a delimiter


class DiffKind(StrEnum):
    """How bytes are compared."""

    TEXT = "text"
    TABLE = "table"
    JSON = "json"
    XML = "xml"
    BYTES = "bytes"


class ParsedBody:
    """The bytes of one version with their true type, decoded and read when that is needed."""

    def __init__(self, raw: bytes, *, url: str, version: Version, max_text: int) -> None:
        self.raw, self.url, self.version, self.max_text = raw, url, version, max_text
        self.true_type = sniff(raw, declared=version.media_type, url=url)

    @property
    def kind(self) -> DiffKind:
        """Return how the bytes are compared."""
        row = by_name(self.true_type)
        if self.version.size > LARGEST:
            return DiffKind.BYTES
        if row.name in _TABLES:
            return DiffKind.TABLE
        if row.syntax is Syntax.JSON:
            return DiffKind.JSON
        if row.syntax is Syntax.XML:
            return DiffKind.XML
        return DiffKind.TEXT if row.is_text or self.has_hidden_text else DiffKind.BYTES

    @property
    def has_hidden_text(self) -> bool:
        """Whether the text has to be dug out of the bytes, as out of a page or a PDF."""
        row = by_name(self.true_type)
        return row.syntax is Syntax.HTML or (not row.is_text and has_reader(self.true_type))

    @cached_property
    def document(self) -> Document:
        """The bytes as the harvest reads them; a ReadError if it can't."""
        return extract(
            io.BytesIO(self.raw),
            url=self.url,
            media_type=self.version.media_type,
            size=len(self.raw),
            max_text=self.max_text,
        )

    @cached_property
    def decoded(self) -> str:
        """The characters as they stand in the file."""
        read = decode_markup if self.kind is DiffKind.XML else decode
        return read(self.raw, declared=charset_of(self.version.media_type)).text

    @property
    def text(self) -> str:
        """What a person would read: the text of a document, or the file as it is."""
        return self.document.text if self.has_hidden_text else clean(self.decoded)

    @property
    def is_cut(self) -> bool:
        """Whether the text goes on beyond what was read of it."""
        return self.has_hidden_text and len(self.document.text) >= self.max_text - 2

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows of a table; TableTooLarge if there are too many."""
        text = clean(self.decoded)
        return read_rows(text, find_delimiter(text) or ",")


def read_body(archive: Archive, version: Version, *, url: str, max_text: int) -> ParsedBody:
    """Return the bytes from the archive, but not those of a body that is too large to be compared."""
    if version.dropped:
        raise BodyPruned(
            f"the bytes of version {version.number} were dropped by a rule; its digest and times are known"
        )
    pieces: list[bytes] = []
    wanted = version.size if version.size <= LARGEST else 65_536
    with archive.open_body(version.body) as body:
        while wanted > 0 and (piece := body.read(min(wanted, 1 << 20))):
            pieces.append(piece)
            wanted -= len(piece)
        if version.size <= LARGEST:
            body.read(1)  # at its end the archive says whether it was as it was written
    return ParsedBody(b"".join(pieces), url=url, version=version, max_text=max_text)

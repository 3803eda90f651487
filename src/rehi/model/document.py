"""A document: what was read from some bytes, and what was understood of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The text of some bytes, with what they say of themselves."""

    media_type: str  # the true one, found by looking
    text: str  # clean: no characters that XML forbids, NFC, "\n" ends lines
    title: str = ""
    charset: str = ""
    language: str = ""  # as the document declares it
    links: tuple[str, ...] = ()  # in order, without repeats; as written, and absolute once the URL is known
    base: str = ""  # to which links are relative, as the document declares it
    metadata: tuple[tuple[str, str], ...] = ()  # ("author", "…"), in order
    parts: tuple[Part, ...] = ()  # in the order of the text
    tables: tuple[TableShape, ...] = ()  # in the order of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a document: a sheet, a page, a member of a zip, an attachment."""

    kind: str  # "page", "sheet", "member" …
    title: str = ""
    media_type: str = ""  # its own, if it is a document by itself
    start: int = 0  # its range of the text, in characters, half-open
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDialect:
    """How the rows of a table are written, in the words of CSV on the Web."""

    delimiter: str = ","
    quote_char: str = '"'  # empty if cells are never quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """A table in a document: where it is and what shape it has. What its cells say is for a facet to tell."""

    part: int | None = None  # the number of the part that holds it, counted from 0; None if it is the whole document
    title: str = ""
    header: tuple[str, ...] = ()  # the names of the columns; empty if there is no row with them
    columns: int = 0
    rows: int = 0  # with data, as far as was read
    first_row: int = 0  # the number of the first of them, counted from 0 over all rows of the file or sheet
    complete: bool = True  # whether all rows were read
    dialect: TableDialect | None = None  # if it is written as text
    start: int = 0  # its range of the text, in characters, half-open
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name as it stands in a text."""

    kind: str  # an EntityKind's name
    start: int  # characters, half-open
    end: int
    surface: str
    name: str  # in its basic form: "Katrin Paio" for "Katrin Paiole"
    lemmas: tuple[str, ...] = ()  # further basic forms that the analysis allows
    given: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """Something by which a document can be found: a value of a field that a facet owns."""

    field: str  # "topic", "column" …; unique to its facet
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A document with all that was understood of it, and how long each took."""

    document: Document
    facets: Mapping[str, Any] = field(default_factory=dict)  # values by the facets' names
    failures: Mapping[str, str] = field(default_factory=dict)  # facets that failed, and why
    recipe: str = ""  # what made it, with versions
    seconds: tuple[tuple[str, float], ...] = ()  # ("extract", 0.004), ("enrich", 0.02)

    @property
    def language(self) -> str:
        """The language of the text, "und" when it can't be told."""
        return str(self.facets.get("language") or self.document.language or "und")

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The names in the text, with their places."""
        mentions: tuple[Mention, ...] = self.facets.get("names") or ()
        return mentions

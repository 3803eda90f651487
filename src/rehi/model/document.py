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
    links: tuple[str, ...] = ()  # absolute, in order, without repeats
    metadata: tuple[tuple[str, str], ...] = ()  # ("author", "…"), in order
    parts: tuple[Part, ...] = ()  # in the order of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a document: a sheet, a page, a member of a zip, an attachment."""

    kind: str
    title: str = ""
    media_type: str = ""  # its own, if it is a document by itself
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

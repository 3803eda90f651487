"""A document: what was read from a version's bytes, and what was understood of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


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


class NameKind(StrEnum):
    """What a name stands for. The value is the path segment in identifiers."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name as it stands in a text."""

    kind: NameKind
    start: int  # characters, half-open
    end: int
    surface: str
    name: str  # in its basic form: "Katrin Paio" for "Katrin Paiole"
    lemmas: tuple[str, ...] = ()  # further basic forms that the analysis allows
    given: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """What was understood of a text."""

    language: str  # "et", "en" …; "und" when it can't be told
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A document with its annotations, and how long each took."""

    document: Document
    annotations: Annotations
    seconds: tuple[tuple[str, float], ...] = field(default=())  # ("extract", 0.004), ("enrich", 0.02)

"""A charset: how the characters of a page become bytes, and what the page says about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_TYPOGRAPHY = str.maketrans({"„": '"', "“": '"', "”": '"', "–": "-", "’": "'", "…": "...", "€": "EUR"})


class Declared(StrEnum):
    """Where a page names its charset, and whether it tells the truth."""

    HEADER = "header"
    META = "meta"  # in the document itself
    MISSING = "missing"
    WRONG = "wrong"  # in the header


class Damage(StrEnum):
    """What happened to a page's characters before it was published."""

    NONE = ""
    LATIN = "latin"  # UTF-8 was read as ISO-8859-1 and encoded again
    WINDOWS = "windows"  # the same with windows-1252, as browsers read it


@dataclass(frozen=True, slots=True)
class Charset:
    """A charset and its declaration."""

    name: str = "utf-8"
    declared: Declared = Declared.HEADER
    damage: Damage = Damage.NONE

    @property
    def in_header(self) -> str:
        """What Content-Type says; empty when it says nothing."""
        if self.declared is Declared.WRONG:
            return "iso-8859-1" if self.name == "utf-8" else "utf-8"
        return self.name if self.declared is Declared.HEADER else ""

    @property
    def in_document(self) -> str:
        """What the document itself says; empty when it says nothing."""
        return self.name if self.declared is Declared.META else ""

    @property
    def plain(self) -> bool:
        """True if only what ISO-8859-1 can say may be written."""
        return self.name == "iso-8859-1"

    def encode(self, text: str) -> bytes:
        """The bytes that are served. Old charsets get plain quotes and dashes, as typists gave them."""
        if self.name != "utf-8" or self.damage:
            text = text.translate(_TYPOGRAPHY)
        if self.damage:
            read_as = "iso-8859-1" if self.damage is Damage.LATIN else "windows-1252"
            text = text.encode("utf-8").decode(read_as)
        return text.encode(self.name)


UTF8 = Charset()

"""A charset: how the characters of a page are encoded, and which charset the page declares."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_TYPOGRAPHY = str.maketrans({"„": '"', "“": '"', "”": '"', "–": "-", "’": "'", "…": "...", "€": "EUR"})


class Declared(StrEnum):
    """Where a page declares its charset, and whether that is true."""

    HEADER = "header"
    META = "meta"  # in the document itself
    MISSING = "missing"
    WRONG = "wrong"  # in the header


class Mojibake(StrEnum):
    """How a page's characters were garbled before it was published."""

    NONE = ""
    LATIN = "latin"  # UTF-8 was read as ISO-8859-1 and encoded again
    WINDOWS = "windows"  # the same with windows-1252, as browsers read it


@dataclass(frozen=True, slots=True)
class Charset:
    """A charset and its declaration."""

    name: str = "utf-8"
    declared: Declared = Declared.HEADER
    mojibake: Mojibake = Mojibake.NONE

    @property
    def in_header(self) -> str:
        """The charset in the Content-Type header; empty if there is none."""
        if self.declared is Declared.WRONG:
            return "iso-8859-1" if self.name == "utf-8" else "utf-8"
        return self.name if self.declared is Declared.HEADER else ""

    @property
    def in_document(self) -> str:
        """The charset in the document itself; empty if there is none."""
        return self.name if self.declared is Declared.META else ""

    @property
    def plain(self) -> bool:
        """Whether only characters of ISO-8859-1 may be used."""
        return self.name == "iso-8859-1"

    def encode(self, text: str) -> bytes:
        """Return the bytes that are served. Old charsets get plain quotes and dashes, as typists used."""
        if self.name != "utf-8" or self.mojibake:
            text = text.translate(_TYPOGRAPHY)
        if self.mojibake:
            read_as = "iso-8859-1" if self.mojibake is Mojibake.LATIN else "windows-1252"
            text = text.encode("utf-8").decode(read_as)
        return text.encode(self.name)


UTF8 = Charset()

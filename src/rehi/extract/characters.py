"""Characters: a text keeps those that may stand in it, and the ranges of a document's parts and tables follow it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from itertools import pairwise

from rehi.model.document import Document

_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# What XML forbids, C1 controls, lone surrogates, non-characters, and what is invisible and tears words apart:
# soft hyphens, zero-width spaces, byte order marks, bidirectional overrides.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]"
)
_ODD_SPACES = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # a name holds together with any space
_SPACES = re.compile(r"\s+")
_ORDINARY = bytes((*b"\t\n", *range(0x20, 0x7F)))
# Latin letters and punctuation, none of which ever melts with a neighbour; beyond them somebody has to look.
_MAY_COMPOSE = re.compile("[^\x00-\u02ff\u2010-\u20cf]")


def clean(text: str) -> str:
    """Return the text without forbidden characters, in NFC, with "\\n" as the only end of a line."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # All that has to go is unprintable. The expressions took 1.1 ms for a page of 14 KB, to look at every character
    # takes 0.12 ms, at those beyond ASCII alone 0.04 ms.
    special = text.encode("utf-8", "surrogatepass").translate(None, _ORDINARY).decode("utf-8", "surrogatepass")
    if not special.isprintable():
        text = "\n".join([line if line.isprintable() else _clean_line(line) for line in text.split("\n")])
    if _MAY_COMPOSE.search(special) is None or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def _clean_line(line: str) -> str:
    return _FORBIDDEN.sub("", _ODD_SPACES.sub(" ", _LINE_ENDS.sub("\n", line)))


def one_line(text: str, limit: int = 500) -> str:
    """Return the text cleaned, on one line, and no longer than ``limit``."""
    # Four times the limit leaves room for white space that goes, and keeps a title of a megabyte cheap.
    return _SPACES.sub(" ", clean(text[: limit * 4])).strip()[:limit].rstrip()


def finish(document: Document, max_text: int) -> Document:
    """Return a document with a clean text of no more than ``max_text`` characters; its ranges stay inside the text."""
    if not document.parts and not document.tables:
        return replace(document, text=clean(document.text[:max_text]).strip())
    raw = document.text[:max_text]
    ends = [(one.start, one.end) for one in document.parts] + [(one.start, one.end) for one in document.tables]
    bounds = sorted({0, len(raw), *(_within(at, len(raw)) for pair in ends for at in pair)})
    pieces = [clean(raw[start:end]) for start, end in pairwise(bounds)]
    moved, at = {bounds[0]: 0}, 0
    for bound, piece in zip(bounds[1:], pieces, strict=True):
        at += len(piece)
        moved[bound] = at
    whole = "".join(pieces)
    text, before = whole.strip(), len(whole) - len(whole.lstrip())

    def move(old: int) -> int:
        return _within(moved[_within(old, len(raw))] - before, len(text))

    return replace(
        document,
        text=text,
        parts=tuple(replace(part, start=move(part.start), end=move(part.end)) for part in document.parts),
        tables=tuple(replace(table, start=move(table.start), end=move(table.end)) for table in document.tables),
    )


def _within(at: int, length: int) -> int:
    return min(max(at, 0), length)

"""Ranges: a text is cleaned and cut, and the ranges of a document's parts and tables follow it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from rehi.extract.characters import clean
from rehi.model.document import Document


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

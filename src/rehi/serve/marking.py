"""Marking: a text cut into pieces, so that the names in it can be shown as links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rehi.link import slug
from rehi.model.document import Mention


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text: plain, or a name."""

    text: str
    kind: str = ""
    slug: str = ""


def mark_names(text: str, mentions: Sequence[Mention]) -> list[Piece]:
    """The text in order; pieces together are the text."""
    pieces: list[Piece] = []
    at = 0
    for mention in mentions:
        if mention.start < at or mention.end > len(text):
            continue
        if mention.start > at:
            pieces.append(Piece(text[at : mention.start]))
        pieces.append(Piece(text[mention.start : mention.end], mention.kind, slug(mention.name)))
        at = mention.end
    if at < len(text):
        pieces.append(Piece(text[at:]))
    return pieces

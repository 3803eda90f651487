"""Highlights: a text cut into spans, so that the names in it can be shown as links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rehi.link import slug
from rehi.model.document import Mention


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Some text: plain, or a name."""

    text: str
    kind: str = ""
    slug: str = ""


def mark_names(text: str, mentions: Sequence[Mention]) -> list[TextSpan]:
    """Return the spans of a text in order, with the names marked; together they are the text."""
    spans: list[TextSpan] = []
    at = 0
    for mention in mentions:
        if mention.start < at or mention.end > len(text):
            continue
        if mention.start > at:
            spans.append(TextSpan(text[at : mention.start]))
        spans.append(TextSpan(text[mention.start : mention.end], mention.kind, slug(mention.name)))
        at = mention.end
    if at < len(text):
        spans.append(TextSpan(text[at:]))
    return spans

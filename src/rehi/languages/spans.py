"""Spans: names as ranges of a text's tokens, before they become mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rehi.languages.kinds import NameKind
from rehi.languages.sentences import Token

KINDS = {"PER": NameKind.PERSON, "ORG": NameKind.ORGANISATION, "LOC": NameKind.PLACE}

BREAKS = frozenset(";…|•·") | {
    "...",
    "..",
}  # never inside a name: they divide cells and items, or mark where a text was cut


class Span(NamedTuple):
    """A name in the tokens ``first`` to ``end``, half-open, counted over the whole text."""

    first: int
    end: int
    kind: NameKind


def read_labels(labels: Iterable[str], words: Iterable[str], base: int) -> list[Span]:
    """Return the spans of a sentence, given its words and their labels (O, B-PER, I-PER …).

    ``base`` is the number of its first token.
    """
    spans: list[Span] = []
    first, kind = -1, ""
    clean_labels = ["O" if word in BREAKS else label for label, word in zip(labels, words, strict=True)]
    for at, label in enumerate([*clean_labels, "O"], base):
        if first >= 0 and (label[:2] != "I-" or label[2:] != kind):
            spans.append(Span(first, at, KINDS[kind]))
            first = -1
        if first < 0 and label != "O":
            first, kind = at, label[2:]
    return spans


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order; of those that overlap only the longest."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.first, -each.end)):
        if not kept or span.first >= kept[-1].end:
            kept.append(span)
        elif span.end - span.first > kept[-1].end - kept[-1].first:
            kept[-1] = span
    return kept


def words_of(span: Span, tokens: Sequence[Token]) -> list[str]:
    """Return the words of a span."""
    return [token.text for token in tokens[span.first : span.end]]

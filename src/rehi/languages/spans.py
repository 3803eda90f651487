"""Spans: names as ranges of a text's tokens, before they become mentions.

Names of companies have a legal form (AS, OÜ, Ltd) before or after them. The forms are whole words in capitals as the
register writes them: a list of substrings made a company of every Kaspar ("as") once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rehi.languages.kinds import NameKind
from rehi.languages.sentences import Token
from rehi.languages.word_lists import word_list

KINDS = {"PER": NameKind.PERSON, "ORG": NameKind.ORGANISATION, "LOC": NameKind.PLACE}

BREAKS = frozenset(";…|•·") | {
    "...",
    "..",
}  # never inside a name: they divide cells and items, or mark where a text was cut

# Not "TÜ": it is Tartu Ülikool more often than a tulundusühistu.
BEFORE = word_list("AS OÜ SA MTÜ UÜ KÜ FIE SIA UAB")
AFTER = word_list("AS OÜ SA MTÜ Ltd Ltd. Limited Inc Inc. GmbH LLC Oy Oyj AB plc PLC Corp Corp. SIA UAB SpA S.A. B.V.")
_AND = frozenset({"ja", "and", "&"})
_QUOTES = frozenset('"„“”«»')
_LONGEST = 6  # words after the form of a company


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


def is_form(word: str) -> bool:
    """Whether a word is a legal form, inflected or not: "OÜ", "AS-i"."""
    return word.split("-")[0] in BEFORE


def _end_of_name(first: int, tokens: Sequence[Token], starts: frozenset[int]) -> int:
    """Return where the name after a legal form ends: after capitalised words, also in quotes, and "ja Pojad"."""
    at = first + 1
    if at < len(tokens) and at not in starts and tokens[at].text in _QUOTES:
        for close in range(at + 2, min(at + 2 + _LONGEST, len(tokens))):
            if tokens[close].text in _QUOTES:
                return close + 1
    while at < len(tokens) and at not in starts and at - first <= _LONGEST:
        word = tokens[at].text
        and_more = word in _AND and at > first + 1 and at + 1 < len(tokens) and tokens[at + 1].text[:1].isupper()
        if and_more and tokens[at + 1].text not in BEFORE and at + 1 not in starts:
            at += 2
        elif (word[:1].isupper() or word[:1].isdigit()) and word not in BEFORE:
            at += 1
        else:
            break
    return at


def _find_companies(spans: Sequence[Span], tokens: Sequence[Token], starts: frozenset[int]) -> Iterator[Span]:
    ends = {span.end: span.first for span in spans}
    for at, token in enumerate(tokens):
        if token.text in BEFORE:
            end = _end_of_name(at, tokens, starts)
            if end > at + 1:
                yield Span(at, end, NameKind.ORGANISATION)
                continue
        if token.text in AFTER and at in ends and at not in starts:
            yield Span(ends[at], at + 1, NameKind.ORGANISATION)


def with_companies(spans: Sequence[Span], tokens: Sequence[Token], starts: frozenset[int]) -> list[Span]:
    """Return the spans, with legal forms joined to the names of companies.

    ``starts`` are the numbers of the tokens that begin sentences.
    """
    companies = without_overlaps(_find_companies(spans, tokens, starts))
    taken = {at for span in companies for at in range(span.first, span.end)}
    rest = [
        span
        for span in spans
        if taken.isdisjoint(range(span.first, span.end))
        and (span.end - span.first > 1 or not is_form(tokens[span.first].text))  # a form alone names nobody
    ]
    return without_overlaps([*companies, *rest])

"""Corrections of Estonian spans: what the word lists know better than the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rehi.languages.et_gazetteer import Gazetteer
from rehi.languages.et_morphology import Analysis
from rehi.languages.et_words import CIVIC, COMPANY, ORGANISATION, PLACE, PLACE_ENDING, UNIONS
from rehi.languages.people import is_title
from rehi.languages.sentences import Token
from rehi.languages.spans import Span, without_overlaps
from rehi.model.document import NameKind

_QUOTES = frozenset('"„“”«»\'‘’')
_AND = frozenset({"ja", "ning", ",", ";", "või", "/", "–"})

_WHERE = frozenset({"sg ill", "sg in", "sg el", "sg ad", "adt"})

Readings = tuple[Analysis, ...]


class _Text:
    """A text's tokens with their readings, as the corrections see them."""

    def __init__(self, tokens: Sequence[Token], readings: Sequence[Readings], starts: set[int], known: Gazetteer) -> None:
        self.tokens, self.readings, self.starts, self.known = tokens, readings, starts, known

    def word(self, at: int) -> str:
        return self.tokens[at].text

    def lemmas(self, at: int) -> set[str]:
        return {reading.lemma.lower() for reading in self.readings[at]} | {self.word(at).lower()}

    def last_parts(self, at: int) -> set[str]:
        """The last parts of a compound, if it is one."""
        return {reading.root.rsplit("_", 1)[1].lower() for reading in self.readings[at] if "_" in reading.root}

    def is_organisation_word(self, at: int) -> bool:
        return not ORGANISATION.isdisjoint(self.lemmas(at)) or not ORGANISATION.isdisjoint(self.last_parts(at))

    def takes_noun(self, at: int) -> bool:
        """Whether the word here makes an organisation of the place or organisation right before it."""
        if self.is_capital(at):
            before = self.readings[at - 1]
            return self.is_organisation_word(at) and any(each.form in ("sg g", "") for each in before)
        return not CIVIC.isdisjoint(self.lemmas(at)) and any(each.form[:2] == "sg" for each in self.readings[at])

    def is_place_word(self, at: int) -> bool:
        """Written small ("Rehe küla"), or in a land's name in a case that says where: "Rehemaal", but Kuusmaa is a person."""
        if not self.is_capital(at):
            return not PLACE.isdisjoint(self.lemmas(at))
        return PLACE_ENDING in self.last_parts(at) and any(each.form in _WHERE for each in self.readings[at])

    def is_company(self, at: int) -> bool:
        return self.word(at).split("-")[0] in COMPANY

    def is_person(self, first: int, end: int) -> bool:
        """Whether a name of several words begins with a known given name."""
        return end - first > 1 and self.known.is_given_name(self.word(first))

    def is_capital(self, at: int) -> bool:
        return self.word(at)[:1].isupper()


def _parts(span: Span, text: _Text) -> Iterator[Span]:
    """People and places that were taken together: "Sari ja Reino Jantunen"."""
    if span.kind is NameKind.ORGANISATION:
        yield span
        return
    first = span.first
    for at in range(span.first, span.end):
        if text.word(at) in _AND:
            if at > first:
                yield Span(first, at, span.kind)
            first = at + 1
    if first < span.end:
        yield Span(first, span.end, span.kind)


def _trimmed(span: Span, text: _Text) -> Span:
    """Without titles in front, and without quotes that are not a pair inside the name."""
    first, end = span.first, span.end
    while end - first > 1 and span.kind is NameKind.PERSON and is_title(text.word(first)):
        first += 1
    inner = [at for at in range(first, end) if text.word(at) in _QUOTES]
    if len(inner) % 2 or (len(inner) == 2 and inner == [first, end - 1]):
        while end - first > 1 and text.word(first) in _QUOTES:
            first += 1
        while end - first > 1 and text.word(end - 1) in _QUOTES:
            end -= 1
    return Span(first, end, span.kind)


def _grown(span: Span, text: _Text) -> Span:
    """With the company's form beside it, or the organisation's noun after it: "Tartu" + "Ülikool"."""
    first, end, kind = span
    beside = len(text.tokens) > end and end not in text.starts
    if beside and kind is not NameKind.PERSON and text.takes_noun(end):
        return Span(first, end + 1, NameKind.ORGANISATION)
    if beside and text.word(end) in COMPANY and not text.is_person(first, end):
        end, kind = end + 1, NameKind.ORGANISATION
    if first > 0 and first not in text.starts and text.is_company(first - 1):
        first, kind = first - 1, NameKind.ORGANISATION
    return Span(first, end, kind)


def _relabelled(span: Span, text: _Text) -> Span:
    """With the kind that its words tell."""
    last = span.end - 1
    several = last > span.first
    if several and (text.is_company(span.first) or text.is_company(last)):
        return span._replace(kind=NameKind.ORGANISATION)
    if span.kind is NameKind.PERSON and text.is_person(span.first, span.end):
        return span
    if several and text.is_organisation_word(last):
        union = span.kind is NameKind.PLACE and not UNIONS.isdisjoint(text.lemmas(last))
        return span if union else span._replace(kind=NameKind.ORGANISATION)
    if span.kind is NameKind.PERSON and text.is_place_word(last):
        return span._replace(kind=NameKind.PLACE)
    return span


def _missed(spans: Sequence[Span], text: _Text) -> Iterator[Span]:
    """Capitalised words that name an organisation by themselves: "Keskkonnaministeerium"."""
    taken = {at for span in spans for at in range(span.first, span.end)}
    for at in range(len(text.tokens)):
        if at in taken or not text.is_capital(at):
            continue
        if not ORGANISATION.isdisjoint(text.last_parts(at)):
            yield Span(at, at + 1, NameKind.ORGANISATION)


def corrected(
    spans: Sequence[Span], tokens: Sequence[Token], readings: Sequence[Readings], starts: set[int], known: Gazetteer
) -> list[Span]:
    """The spans after the word lists; ``starts`` are the numbers of the tokens that begin sentences."""
    text = _Text(tokens, readings, starts, known)
    whole = [_trimmed(part, text) for span in spans for part in _parts(span, text)]
    grown = without_overlaps(_relabelled(_grown(span, text), text) for span in whole)
    return without_overlaps([*grown, *_missed(grown, text)])

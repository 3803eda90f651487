"""Corrections of Estonian spans by word lists, cases and given names, where the model is often wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rehi.languages.et_estnltk import Analysis, Gazetteer
from rehi.languages.et_words import CIVIC, GOVERNING, ORGANISATION, PLACE, PLACE_PARTS, STANDING, UNIONS
from rehi.languages.kinds import NameKind
from rehi.languages.people import is_given_name, is_title
from rehi.languages.sentences import Token
from rehi.languages.spans import Span, is_form, with_companies, without_overlaps

_QUOTES = frozenset("\"„“”«»'‘’")
_AND = frozenset({"ja", "ning", ",", ";", "või", "/", "–"})
_WHERE = frozenset({"sg ill", "sg in", "sg el", "sg ad", "adt"})  # cases that say where; people rarely stand in them
_FROM = frozenset({"sg el", "sg abl"})

Readings = tuple[Analysis, ...]


@dataclass(frozen=True, slots=True)
class EstonianText:
    """The tokens of a text with their readings in context; tokens are asked for by number."""

    tokens: Sequence[Token]
    readings: Sequence[Readings]
    starts: frozenset[int]  # the tokens that begin sentences
    known: Gazetteer

    def word(self, at: int) -> str:
        return self.tokens[at].text

    def follows(self, at: int) -> bool:
        """Whether there is a token, and it is in one sentence with the one before it."""
        return at < len(self.tokens) and at not in self.starts

    def lemmas(self, at: int) -> set[str]:
        return {reading.lemma.lower() for reading in self.readings[at]} | {self.word(at).lower()}

    def last_parts(self, at: int) -> set[str]:
        """Return the last parts of a word's readings that are compounds."""
        return {reading.root.rsplit("_", 1)[1].lower() for reading in self.readings[at] if "_" in reading.root}

    def is_proper(self, at: int) -> bool:
        return any(reading.part_of_speech == "H" for reading in self.readings[at])

    def is_common(self, at: int) -> bool:
        """Whether the word is neither read as a name nor known as a given one."""
        return not self.is_proper(at) and not is_given_name(self.word(at))

    def is_capital(self, at: int) -> bool:
        return self.word(at)[:1].isupper()

    def stands_in(self, at: int, forms: frozenset[str]) -> bool:
        """Whether the word has one of these forms and no other."""
        return bool(self.readings[at]) and all(reading.form in forms for reading in self.readings[at])

    def is_organisation_word(self, at: int) -> bool:
        return not ORGANISATION.isdisjoint(self.lemmas(at) | self.last_parts(at))

    def is_place_word(self, at: int) -> bool:
        """Whether a word makes a place: in lower case ("Rehe küla"), or a toponym in a case of place ("Rehemaal", but not "Kuusmaa")."""
        if not self.is_capital(at):
            return not PLACE.isdisjoint(self.lemmas(at))
        return self.is_toponym(at) and self.stands_in(at, _WHERE)

    def is_toponym(self, at: int) -> bool:
        """Whether a capitalised compound ends as names of places do: "Hundi_küla"."""
        return self.is_capital(at) and not PLACE_PARTS.isdisjoint(self.last_parts(at))

    def takes_noun(self, at: int) -> bool:
        """Whether a noun makes an organisation with the place or organisation right before it."""
        if self.is_capital(at):
            return self.is_organisation_word(at) and not self.stands_in(at - 1, _WHERE)
        return not CIVIC.isdisjoint(self.lemmas(at)) and any(each.form[:2] == "sg" for each in self.readings[at])


def _split(span: Span, text: EstonianText) -> Iterator[Span]:
    """Split a span that holds several people or places: "Sari ja Reino Jantunen", "Tartust Elvasse"."""
    first = span.first
    for at in range(span.first, span.end):
        joint = text.word(at) in _AND and span.kind is not NameKind.ORGANISATION
        apart = at + 1 < span.end and span.kind is not NameKind.PERSON and text.stands_in(at, _FROM)
        if joint or apart:
            if at + apart > first:
                yield Span(first, at + apart, NameKind.PLACE if apart else span.kind)
            first = at + 1
    if first < span.end:
        yield Span(first, span.end, NameKind.PLACE if first > span.first and text.is_place_word(first) else span.kind)


def _trimmed(span: Span, text: EstonianText) -> Span:
    """Return a span without titles in front, and without quotes that are not a pair inside the name."""
    first, end = span.first, span.end
    while end - first > 1 and (
        (span.kind is NameKind.PERSON and is_title(text.word(first)))
        or (end - first > 2 and is_given_name(text.word(first + 1)) and text.is_common(first))
    ):
        first += 1
    inner = [at for at in range(first, end) if text.word(at) in _QUOTES]
    if len(inner) % 2 or inner == [first, end - 1]:
        while end - first > 1 and text.word(first) in _QUOTES:
            first += 1
        while end - first > 1 and text.word(end - 1) in _QUOTES:
            end -= 1
    return Span(first, end, span.kind)


def _grown(span: Span, text: EstonianText) -> Span:
    """Return a span with the noun of an organisation after it: "Tartu" + "Ülikool"."""
    if span.kind is not NameKind.PERSON and text.follows(span.end) and text.takes_noun(span.end):
        return Span(span.first, span.end + 1, NameKind.ORGANISATION)
    return span


def _relabelled(span: Span, text: EstonianText) -> Span:
    """Return a span with the kind that its words decide."""
    last = span.end - 1
    several = last > span.first
    organised = several and text.is_organisation_word(last)
    if is_given_name(text.word(span.first)) and several and not organised and not is_form(text.word(last)):
        capitals = all(text.is_capital(at) for at in range(span.first, span.end))
        return span._replace(kind=NameKind.PERSON) if last - span.first == 1 and capitals else span
    if span.kind is NameKind.PERSON and several and text.known.is_given_name(text.word(span.first)):
        return span
    if organised:
        union = span.kind is NameKind.PLACE and not UNIONS.isdisjoint(text.lemmas(last))
        return span if union else span._replace(kind=NameKind.ORGANISATION)
    if not several and span.kind is NameKind.ORGANISATION and text.is_toponym(last):
        return span._replace(kind=NameKind.PLACE)
    if (span.kind is NameKind.PERSON or not several) and text.is_place_word(last):
        return span._replace(kind=NameKind.PLACE)
    return span


def _joined(spans: Sequence[Span], text: EstonianText) -> list[Span]:
    """Join a given name and the family name right after it to one person, also where the model saw only the first."""
    joined: list[Span] = []
    for span in spans:
        before = joined[-1] if joined else None
        if before is not None and before.end == span.first and text.follows(span.first) and _is_single(before):
            if is_given_name(text.word(before.first)) and _is_single(span) and _is_family(span.first, text):
                joined[-1] = Span(before.first, span.end, NameKind.PERSON)
                continue
            if is_given_name(text.word(before.first)) and _is_governing(span, text) and _is_family(span.first, text):
                joined[-1:] = [Span(before.first, span.first + 1, NameKind.PERSON), span._replace(first=span.first + 1)]
                continue
            if before.kind is span.kind is NameKind.PERSON and is_given_name(text.word(span.first)):
                joined.pop()  # a title: "Vallavanem" before "Raivo Väljakivi"
        joined.append(span)
    taken = {at for span in joined for at in range(span.first, span.end)}
    return [_with_family(span, text) if span.end not in taken else span for span in joined]


def _with_family(span: Span, text: EstonianText) -> Span:
    if (
        _is_single(span)
        and is_given_name(text.word(span.first))
        and text.follows(span.end)
        and _is_family(span.end, text)
    ):
        return Span(span.first, span.end + 1, NameKind.PERSON)
    return span


def _is_single(span: Span) -> bool:
    return span.end - span.first == 1


def _is_governing(span: Span, text: EstonianText) -> bool:
    """Whether a name of several words ends in a governing body, which is never named after a person."""
    last = span.end - 1
    return last > span.first and not GOVERNING.isdisjoint(text.last_parts(last) | text.lemmas(last))


def _is_family(at: int, text: EstonianText) -> bool:
    """Whether a word can be the family name of the given name before it."""
    word = text.word(at)
    if not word[:1].isupper() or not word[1:].replace("-", "").isalpha() or len(word) < 3:
        return False
    return not text.is_organisation_word(at) and not is_form(word) and not text.stands_in(at, _WHERE)


def _without_person(span: Span, text: EstonianText) -> Iterator[Span]:
    """Split a span of a person and their organisation: "Madis Kaldakivi Elva Vallavalitsusest"."""
    organisation = span.first + 2
    if (
        span.kind is NameKind.ORGANISATION
        and organisation < span.end
        and is_given_name(text.word(span.first))
        and _is_family(span.first + 1, text)
        and _is_governing(span, text)
    ):
        yield Span(span.first, organisation, NameKind.PERSON)
        yield Span(organisation, span.end, span.kind)
    else:
        yield span


def _is_doubtful(span: Span, text: EstonianText, inner: set[str]) -> bool:
    """Whether a span is a common word, capital only because it begins a sentence, that was taken for a person."""
    if span.end - span.first > 1 or span.first not in text.starts or span.kind is not NameKind.PERSON:
        return False
    return not text.is_proper(span.first) and text.lemmas(span.first).isdisjoint(inner)


def _missed(spans: Sequence[Span], text: EstonianText) -> Iterator[Span]:
    """Yield names that the model missed, by their words alone: "Mari Liivapuu", "Keskkonnaministeerium", "Rehe Muuseum"."""
    taken = {at for span in spans for at in range(span.first, span.end)}
    families = {lemma for span in spans if span.kind is NameKind.PERSON for lemma in text.lemmas(span.end - 1)}
    for at in range(len(text.tokens)):
        if at in taken or not text.is_capital(at):
            continue
        if is_given_name(text.word(at)) and text.follows(at + 1) and at + 1 not in taken and _is_family(at + 1, text):
            taken.update((at, at + 1))
            yield Span(at, at + 2, NameKind.PERSON)
        elif text.is_organisation_word(at):
            yield from _missed_organisation(at, taken, text)
        elif at not in text.starts and text.is_toponym(at) and text.lemmas(at).isdisjoint(families):
            yield Span(at, at + 1, NameKind.PLACE)


def _missed_organisation(at: int, taken: set[int], text: EstonianText) -> Iterator[Span]:
    first = at
    if STANDING.isdisjoint(text.last_parts(at)):
        while first not in text.starts and first - 1 not in taken and text.is_capital(first - 1) and at - first < 3:
            first -= 1
    if first < at or not ORGANISATION.isdisjoint(text.last_parts(at)):
        yield Span(first, at + 1, NameKind.ORGANISATION)


def corrected(spans: Sequence[Span], text: EstonianText) -> list[Span]:
    """Return the model's spans after all corrections."""
    trimmed = [_trimmed(part, text) for span in spans for part in _split(span, text)]
    apart = [part for span in trimmed for part in _without_person(_grown(span, text), text)]
    kept = without_overlaps(_relabelled(span, text) for span in apart)
    inner = {
        lemma
        for at in range(len(text.tokens))
        if at not in text.starts and text.is_capital(at)
        for lemma in text.lemmas(at)
    }
    kept = [span for span in _joined(kept, text) if not _is_doubtful(span, text, inner)]
    kept = without_overlaps([*kept, *_missed(kept, text)])
    return with_companies(kept, text.tokens, text.starts)

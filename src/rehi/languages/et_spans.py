"""Corrections of Estonian spans by word lists, cases and given names, where the model is often wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

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


class EstonianWord(NamedTuple):
    """A word with what its readings in context tell of it, whatever stands around it."""

    text: str
    lemmas: frozenset[str]  # in lower case; the word itself among them
    last_parts: frozenset[str]  # of its readings that are compounds
    is_capital: bool
    is_proper: bool  # one of its readings is a name
    is_given: bool  # it is known as a given name
    is_singular: bool  # one of its readings is
    is_organisation: bool  # it makes an organisation: "Ülikool"
    is_toponym: bool  # it is a capitalised compound that ends as names of places do: "Hundi_küla"
    is_place: bool  # it makes a place: in lower case ("Rehe küla"), or a toponym in a case of place ("Rehemaal", not "Kuusmaa")
    says_where: bool  # all its readings are in a case that says where
    says_whence: bool  # all its readings are in a case that says from where


@lru_cache(8_000)
def read_word(text: str, readings: tuple[Analysis, ...]) -> EstonianWord:
    """Return what a word's readings tell of it."""
    lemmas = frozenset([*(each.lemma.lower() for each in readings), text.lower()])
    last_parts = frozenset(each.root.rsplit("_", 1)[1].lower() for each in readings if "_" in each.root)
    forms = {each.form for each in readings}
    capital, where = text[:1].isupper(), bool(forms) and forms <= _WHERE
    toponym = capital and not PLACE_PARTS.isdisjoint(last_parts)
    return EstonianWord(
        text=text,
        lemmas=lemmas,
        last_parts=last_parts,
        is_capital=capital,
        is_proper=any(each.part_of_speech == "H" for each in readings),
        is_given=is_given_name(text),
        is_singular=any(form[:2] == "sg" for form in forms),
        is_organisation=not ORGANISATION.isdisjoint(lemmas | last_parts),
        is_toponym=toponym,
        is_place=toponym and where if capital else not PLACE.isdisjoint(lemmas),
        says_where=where,
        says_whence=bool(forms) and forms <= _FROM,
    )


@dataclass(frozen=True, slots=True)
class EstonianText:
    """The tokens of a text and what their readings tell; they are asked for by number."""

    tokens: Sequence[Token]
    words: Sequence[EstonianWord]
    starts: frozenset[int]  # the tokens that begin sentences
    known: Gazetteer

    def follows(self, at: int) -> bool:
        """Whether there is a token, and it is in one sentence with the one before it."""
        return at < len(self.tokens) and at not in self.starts


def _split(span: Span, text: EstonianText) -> Iterator[Span]:
    """Split a span that holds several people or places: "Sari ja Reino Jantunen", "Tartust Elvasse"."""
    first = span.first
    for at in range(span.first, span.end):
        joint = text.words[at].text in _AND and span.kind is not NameKind.ORGANISATION
        apart = at + 1 < span.end and span.kind is not NameKind.PERSON and text.words[at].says_whence
        if joint or apart:
            if at + apart > first:
                yield Span(first, at + apart, NameKind.PLACE if apart else span.kind)
            first = at + 1
    if first < span.end:
        yield Span(first, span.end, NameKind.PLACE if first > span.first and text.words[first].is_place else span.kind)


def _trimmed(span: Span, text: EstonianText) -> Span:
    """Return a span without titles in front, and without quotes that are not a pair inside the name."""
    first, end = span.first, span.end
    while end - first > 1 and (
        (span.kind is NameKind.PERSON and is_title(text.words[first].text))
        or (
            end - first > 2
            and text.words[first + 1].is_given
            and not (text.words[first].is_given or text.words[first].is_proper)
        )
    ):
        first += 1
    inner = [at for at in range(first, end) if text.words[at].text in _QUOTES]
    if len(inner) % 2 or inner == [first, end - 1]:
        while end - first > 1 and text.words[first].text in _QUOTES:
            first += 1
        while end - first > 1 and text.words[end - 1].text in _QUOTES:
            end -= 1
    return Span(first, end, span.kind)


def _grown(span: Span, text: EstonianText) -> Span:
    """Return a span with the noun after it that makes an organisation with a place or an organisation: "Tartu" + "Ülikool"."""
    if span.kind is NameKind.PERSON or not text.follows(span.end):
        return span
    noun = text.words[span.end]
    if noun.is_capital:
        belongs = noun.is_organisation and not text.words[span.end - 1].says_where
    else:
        belongs = noun.is_singular and not CIVIC.isdisjoint(noun.lemmas)
    return Span(span.first, span.end + 1, NameKind.ORGANISATION) if belongs else span


def _relabelled(span: Span, text: EstonianText) -> Span:
    """Return a span with the kind that its words decide."""
    last = span.end - 1
    several = last > span.first
    organised = several and text.words[last].is_organisation
    if text.words[span.first].is_given and several and not organised and not is_form(text.words[last].text):
        capitals = all(text.words[at].is_capital for at in range(span.first, span.end))
        return span._replace(kind=NameKind.PERSON) if last - span.first == 1 and capitals else span
    if span.kind is NameKind.PERSON and several and text.known.is_given_name(text.words[span.first].text):
        return span
    if organised:
        union = span.kind is NameKind.PLACE and not UNIONS.isdisjoint(text.words[last].lemmas)
        return span if union else span._replace(kind=NameKind.ORGANISATION)
    if not several and span.kind is NameKind.ORGANISATION and text.words[last].is_toponym:
        return span._replace(kind=NameKind.PLACE)
    if (span.kind is NameKind.PERSON or not several) and text.words[last].is_place:
        return span._replace(kind=NameKind.PLACE)
    return span


def _joined(spans: Sequence[Span], text: EstonianText) -> list[Span]:
    """Join a given name and the family name right after it to one person, also where the model saw only the first."""
    joined: list[Span] = []
    for span in spans:
        before = joined[-1] if joined else None
        if before is not None and before.end == span.first and text.follows(span.first) and _is_single(before):
            if text.words[before.first].is_given and _is_single(span) and _is_family(span.first, text):
                joined[-1] = Span(before.first, span.end, NameKind.PERSON)
                continue
            if text.words[before.first].is_given and _is_governing(span, text) and _is_family(span.first, text):
                joined[-1:] = [Span(before.first, span.first + 1, NameKind.PERSON), span._replace(first=span.first + 1)]
                continue
            if before.kind is span.kind is NameKind.PERSON and text.words[span.first].is_given:
                joined.pop()  # a title: "Vallavanem" before "Raivo Väljakivi"
        joined.append(span)
    taken = {at for span in joined for at in range(span.first, span.end)}
    for number, span in enumerate(joined):
        given = _is_single(span) and text.words[span.first].is_given
        if given and span.end not in taken and text.follows(span.end) and _is_family(span.end, text):
            joined[number] = Span(span.first, span.end + 1, NameKind.PERSON)
    return joined


def _is_single(span: Span) -> bool:
    return span.end - span.first == 1


def _is_governing(span: Span, text: EstonianText) -> bool:
    """Whether a name of several words ends in a governing body, which is never named after a person."""
    last = span.end - 1
    return last > span.first and not GOVERNING.isdisjoint(text.words[last].last_parts | text.words[last].lemmas)


def _is_family(at: int, text: EstonianText) -> bool:
    """Whether a word can be the family name of the given name before it."""
    word = text.words[at]
    if not word.is_capital or not word.text[1:].replace("-", "").isalpha() or len(word.text) < 3:
        return False
    return not word.is_organisation and not is_form(word.text) and not word.says_where


def _without_person(span: Span, text: EstonianText) -> Iterator[Span]:
    """Split a span of a person and their organisation: "Madis Kaldakivi Elva Vallavalitsusest"."""
    organisation = span.first + 2
    if (
        span.kind is NameKind.ORGANISATION
        and organisation < span.end
        and text.words[span.first].is_given
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
    word = text.words[span.first]
    return not word.is_proper and word.lemmas.isdisjoint(inner)


def _missed(spans: Sequence[Span], text: EstonianText) -> Iterator[Span]:
    """Yield names that the model missed, by their words alone: "Mari Liivapuu", "Keskkonnaministeerium", "Rehe Muuseum"."""
    taken = {at for span in spans for at in range(span.first, span.end)}
    families = {lemma for span in spans if span.kind is NameKind.PERSON for lemma in text.words[span.end - 1].lemmas}
    for at, word in enumerate(text.words):
        if at in taken or not word.is_capital:
            continue
        if word.is_given and text.follows(at + 1) and at + 1 not in taken and _is_family(at + 1, text):
            taken.update((at, at + 1))
            yield Span(at, at + 2, NameKind.PERSON)
        elif word.is_organisation:
            yield from _missed_organisation(at, taken, text)
        elif at not in text.starts and word.is_toponym and word.lemmas.isdisjoint(families):
            yield Span(at, at + 1, NameKind.PLACE)


def _missed_organisation(at: int, taken: set[int], text: EstonianText) -> Iterator[Span]:
    first = at
    if STANDING.isdisjoint(text.words[at].last_parts):
        while (
            first not in text.starts and first - 1 not in taken and text.words[first - 1].is_capital and at - first < 3
        ):
            first -= 1
    if first < at or not ORGANISATION.isdisjoint(text.words[at].last_parts):
        yield Span(first, at + 1, NameKind.ORGANISATION)


def corrected(spans: Sequence[Span], text: EstonianText) -> list[Span]:
    """Return the model's spans after all corrections."""
    trimmed = [_trimmed(part, text) for span in spans for part in _split(span, text)]
    apart = [part for span in trimmed for part in _without_person(_grown(span, text), text)]
    kept = without_overlaps(_relabelled(span, text) for span in apart)
    inner = {
        lemma
        for at, word in enumerate(text.words)
        if at not in text.starts and word.is_capital
        for lemma in word.lemmas
    }
    kept = [span for span in _joined(kept, text) if not _is_doubtful(span, text, inner)]
    kept = without_overlaps([*kept, *_missed(kept, text)])
    return with_companies(kept, text.tokens, text.starts)

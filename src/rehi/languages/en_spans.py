"""Corrections of English spans by word lists and legal forms, where the model is often wrong."""

from __future__ import annotations

from collections.abc import Sequence

from rehi.languages.en_places import places
from rehi.languages.en_words import ARTICLES, DECISIVE, TIMES
from rehi.languages.kinds import NameKind
from rehi.languages.people import PARTICLES, is_given_name, is_title
from rehi.languages.sentences import Token
from rehi.languages.spans import Span, is_form, with_companies, without_overlaps, words_of

_POSSESSIVES = frozenset({"'s", "’s", "'", "’"})
_QUOTES = frozenset("\"“”„'‘’")


def _trimmed(span: Span, tokens: Sequence[Token]) -> Span:
    """Return a span without a possessive ending, quotes around it, and an article or a title before it."""
    first, end = span.first, span.end
    while end - first > 1 and (tokens[end - 1].text in _POSSESSIVES or tokens[end - 1].text in _QUOTES):
        end -= 1
    while end - first > 1:
        word = tokens[first].text
        titled = span.kind is NameKind.PERSON and is_title(word)
        article = word.lower() in ARTICLES and " ".join(words_of(span, tokens)).lower() not in places()
        if not (word in _QUOTES or titled or article):
            break
        first += 1
    return Span(first, end, span.kind)


def _from_given(span: Span, tokens: Sequence[Token]) -> Span:
    """Return a span from its given name on, if a word in lower case is before it: "Bird watcher Helen Pihlak"."""
    for at in range(span.first + 1, span.end - 1):
        before = tokens[at - 1].text
        if (
            before.islower()
            and before not in PARTICLES
            and is_given_name(tokens[at].text)
            and before not in ("of", "and")
        ):
            return Span(at, span.end, NameKind.PERSON)
    return span


def _relabelled(span: Span, tokens: Sequence[Token]) -> Span:
    """Return a span with the kind that its words, or the word before it, decide: in "in Rehemaa" it is a place."""
    words = words_of(span, tokens)
    if len(words) == 1 and span.first and tokens[span.first - 1].text in ("in", "near") and words[0][1:].islower():
        return span._replace(kind=NameKind.PLACE)
    if len(words) > 1 and (
        words[-1].lower() in DECISIVE or (words[0].lower() in DECISIVE and words[1] in ("of", "for"))
    ):
        return span._replace(kind=NameKind.ORGANISATION)
    if " ".join(words).lower() in places() and not is_given_name(words[0]):
        return span._replace(kind=NameKind.PLACE)
    if len(words) == 2 and is_given_name(words[0]) and words[1][:1].isupper() and not is_form(words[1]):
        known = span.kind is NameKind.PLACE and words[0].lower() in places()
        return span if known else span._replace(kind=NameKind.PERSON)
    return span


def _with_noun(span: Span, tokens: Sequence[Token], starts: frozenset[int]) -> Span:
    """Return a span with the noun of an organisation that the model left out: "Rehemaa" + "Museum"."""
    end = span.end
    following = end < len(tokens) and end not in starts and span.kind is not NameKind.PERSON
    if following and tokens[end].text[:1].isupper() and tokens[end].text.lower() in DECISIVE:
        return Span(span.first, end + 1, NameKind.ORGANISATION)
    return span


def corrected(spans: Sequence[Span], tokens: Sequence[Token], starts: frozenset[int]) -> list[Span]:
    """Return the model's spans after all corrections; ``starts`` are the numbers of the tokens that begin sentences."""
    grown = [_with_noun(_from_given(_trimmed(span, tokens), tokens), tokens, starts) for span in spans]
    named = [span for span in grown if not all(word.lower() in TIMES for word in words_of(span, tokens))]
    kept = without_overlaps(_relabelled(span, tokens) for span in named)
    return with_companies(kept, tokens, starts)

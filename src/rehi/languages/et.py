"""Estonian: names of people, organisations and places, by the model that EstNLTK ships.

The model, its features and the analyser are called directly: EstNLTK's own tagger does 250 words/s, this some 10,000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from rehi.languages.consistency import agree, spread
from rehi.languages.et_features import features
from rehi.languages.et_gazetteer import gazetteer
from rehi.languages.et_lemmas import BasicForms, basic_forms, rank_forms
from rehi.languages.et_morphology import Analysis, morphology
from rehi.languages.et_package import model_file
from rehi.languages.et_spans import EstonianText, corrected
from rehi.languages.kinds import NameKind
from rehi.languages.people import split_person
from rehi.languages.sentences import Token, blocks
from rehi.languages.spans import Span, read_labels, words_of
from rehi.model.document import Mention

BLOCK = 1_500  # sentences tagged together: names of one block help to find each other


@cache
def _tagger() -> Any:
    """Return the model, loaded once per process (0.1 s, 40 MB)."""
    from pycrfsuite import Tagger

    tagger = Tagger()
    tagger.open(str(model_file()))
    return tagger


class Estonian:
    """Names in Estonian texts."""

    code = "et"

    def mentions(self, text: str) -> list[Mention]:
        """Return the names in a text, in order."""
        return [mention for block in blocks(text, BLOCK) for mention in _mentions(text, block)]


def _mentions(text: str, rows: Sequence[Sequence[Token]]) -> list[Mention]:
    words = [[token.text for token in row] for row in rows]
    readings = [morphology().sentence(row) for row in words]
    tokens = [token for row in rows for token in row]
    flat = [each for row in readings for each in row]
    starts = frozenset(_starts(rows))
    spans = corrected(list(_tag(words, readings)), EstonianText(tokens, flat, starts, gazetteer()))

    def forms(at: int) -> frozenset[str]:
        return _forms(tokens[at].text)

    def may_begin(at: int) -> bool:
        return at not in starts or any(each.part_of_speech == "H" for each in flat[at])

    spans = spread(agree(spans, tokens, forms), tokens, forms, may_begin)
    return _describe(text, spans, tokens, flat)


@lru_cache(10_000)
def _forms(word: str) -> frozenset[str]:
    """Return the basic forms, in lower case, that a word may have as a name."""
    return frozenset(each.lemma.lower() for each in morphology().readings(word) if each.part_of_speech in "HSA") | {
        word.lower()
    }


def _starts(rows: Sequence[Sequence[Token]]) -> Iterator[int]:
    base = 0
    for row in rows:
        yield base
        base += len(row)


def _tag(words: list[list[str]], readings: list[list[tuple[Analysis, ...]]]) -> Iterator[Span]:
    base = 0
    for sentence, row in zip(words, features(words, readings, gazetteer()), strict=True):
        yield from read_labels(_tagger().tag(row), sentence, base)
        base += len(row)


def _basic(span: Span, tokens: Sequence[Token], readings: Sequence[tuple[Analysis, ...]]) -> BasicForms:
    words = words_of(span, tokens)
    return basic_forms(words, readings[span.first : span.end], morphology().readings(words[-1]), span.kind, gazetteer())


def _describe(
    text: str, spans: Sequence[Span], tokens: Sequence[Token], readings: Sequence[tuple[Analysis, ...]]
) -> list[Mention]:
    basics = [_basic(span, tokens, readings) for span in spans]
    settled = rank_forms(
        [(span.kind, " ".join(words_of(span, tokens)), basic) for span, basic in zip(spans, basics, strict=True)]
    )
    families = {forms[0] for span, forms in zip(spans, settled, strict=True) if _is_full_person(span)}

    def is_given(word: str) -> bool:
        return word not in families and gazetteer().is_given_name(word)

    mentions: list[Mention] = []
    for span, basic, forms in zip(spans, basics, settled, strict=True):
        start, end = tokens[span.first].start, tokens[span.end - 1].end
        given, family = split_person((*basic.before, forms[0]), is_given) if span.kind is NameKind.PERSON else ("", "")
        mentions.append(
            Mention(
                kind=span.kind.value, start=start, end=end, surface=text[start:end], name=basic.name(forms[0]),
                lemmas=tuple(basic.name(form) for form in forms[1:]), given=given, family=family,
            )
        )  # fmt: skip
    return mentions


def _is_full_person(span: Span) -> bool:
    return span.kind is NameKind.PERSON and span.end - span.first > 1

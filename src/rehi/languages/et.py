"""Estonian: names of people, organisations and places, by the model that EstNLTK ships.

The model, its features and the analyser are called directly: EstNLTK's own tagger does 250 words/s, this some 10,000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from rehi.languages.consistency import agree, spread
from rehi.languages.et_estnltk import Analysis, gazetteer, morphology, tagger
from rehi.languages.et_features import features
from rehi.languages.et_lemmas import BasicForms, basic_forms, rank_forms
from rehi.languages.et_spans import EstonianText, corrected
from rehi.languages.kinds import NameKind
from rehi.languages.people import split_person
from rehi.languages.sentences import Token, blocks
from rehi.languages.spans import Span, read_labels, words_of
from rehi.model.document import Mention

BLOCK = 1_500  # sentences tagged together: names of one block help to find each other


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
    starts = list(accumulate((len(row) for row in rows[:-1]), initial=0))
    estonian = EstonianText(tokens, flat, frozenset(starts), gazetteer())
    spans = corrected(list(_tag(words, readings, starts)), estonian)
    no_names = {at for at in starts if not estonian.is_proper(at)}
    spans = spread(agree(spans, tokens, _forms), tokens, _forms, no_names)
    return _describe(text, spans, tokens, flat)


@lru_cache(10_000)
def _forms(word: str) -> frozenset[str]:
    """Return the basic forms, in lower case, that a word may have as a name."""
    return frozenset(each.lemma.lower() for each in morphology().readings(word) if each.part_of_speech in "HSA") | {
        word.lower()
    }


def _tag(words: list[list[str]], readings: list[list[tuple[Analysis, ...]]], starts: Sequence[int]) -> Iterator[Span]:
    """Yield the names that the model finds, given the words of each sentence, their readings, and the sentences' first tokens."""
    for sentence, row, start in zip(words, features(words, readings, gazetteer()), starts, strict=True):
        yield from read_labels(tagger().tag(row), sentence, start)


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
    families = {
        forms[0]
        for span, forms in zip(spans, settled, strict=True)
        if span.kind is NameKind.PERSON and span.end - span.first > 1
    }

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

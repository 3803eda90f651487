"""Estonian: names of people, organisations and places, by the model that EstNLTK ships.

The model, its features and the analyser are called directly: EstNLTK's own tagger does 250 words/s, this some 10,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from rehi.languages.consistency import agree, spread
from rehi.languages.et_estnltk import Analysis, gazetteer, morphology, tagger
from rehi.languages.et_features import features
from rehi.languages.et_lemmas import basic_forms, rank_forms
from rehi.languages.et_spans import EstonianText, corrected, read_word
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
    meanings = [read_word(token.text, each) for token, each in zip(tokens, flat, strict=True)]
    by_model = [
        span
        for sentence, row, start in zip(words, features(words, readings, gazetteer()), starts, strict=True)
        for span in read_labels(tagger().tag(row), sentence, start)
    ]
    spans = corrected(by_model, EstonianText(tokens, meanings, frozenset(starts), gazetteer()))
    no_names = {at for at in starts if not meanings[at].is_proper}
    spans = spread(agree(spans, tokens, _forms), tokens, _forms, no_names)
    return _describe(text, spans, tokens, flat)


@lru_cache(10_000)
def _forms(word: str) -> frozenset[str]:
    """Return the basic forms, in lower case, that a word may have as a name."""
    return frozenset(
        each.lemma.lower() for each in morphology().word(word).readings if each.part_of_speech in "HSA"
    ) | {word.lower()}


def _describe(
    text: str, spans: Sequence[Span], tokens: Sequence[Token], readings: Sequence[tuple[Analysis, ...]]
) -> list[Mention]:
    names = [words_of(span, tokens) for span in spans]
    basics = [
        basic_forms(
            words,
            readings[span.first : span.end],
            morphology().word(words[-1]).readings,
            span.kind,
            gazetteer(),
        )
        for span, words in zip(spans, names, strict=True)
    ]
    settled = rank_forms(
        [(span.kind, " ".join(words), basic) for span, words, basic in zip(spans, names, basics, strict=True)]
    )
    families = {
        forms[0]
        for span, forms in zip(spans, settled, strict=True)
        if span.kind is NameKind.PERSON and span.end - span.first > 1
    }
    mentions: list[Mention] = []
    for span, basic, forms in zip(spans, basics, settled, strict=True):
        start, end = tokens[span.first].start, tokens[span.end - 1].end
        given = family = ""
        if span.kind is NameKind.PERSON:
            is_given = forms[0] not in families and gazetteer().is_given_name(forms[0])
            given, family = split_person((*basic.before, forms[0]), is_given=is_given)
        mentions.append(
            Mention(
                kind=span.kind.value, start=start, end=end, surface=text[start:end], name=basic.name(forms[0]),
                lemmas=tuple(basic.name(form) for form in forms[1:]), given=given, family=family,
            )
        )  # fmt: skip
    return mentions

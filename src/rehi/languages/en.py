"""English: names of people, organisations and places, by a small model of our own (see models/en.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from rehi.languages.consistency import agree, spread
from rehi.languages.en_features import features
from rehi.languages.en_spans import corrected
from rehi.languages.kinds import NameKind
from rehi.languages.people import is_given_name, split_person
from rehi.languages.sentences import Token, blocks
from rehi.languages.spans import Span, read_labels, words_of
from rehi.model.document import Mention

BLOCK = 1_500  # sentences tagged together


@cache
def _tagger() -> Any:
    """Return the model, loaded once per process."""
    from pycrfsuite import Tagger

    tagger = Tagger()
    with as_file(files("rehi.languages") / "models" / "en.crf") as path:
        tagger.open(str(path))
    return tagger


class English:
    """Names in English texts."""

    code = "en"

    def mentions(self, text: str) -> list[Mention]:
        """Return the names in a text, in order."""
        return [mention for block in blocks(text, BLOCK) for mention in _mentions(text, block)]


def _mentions(text: str, rows: Sequence[Sequence[Token]]) -> list[Mention]:
    tokens: list[Token] = []
    spans: list[Span] = []
    begins: set[int] = set()
    for row in rows:
        begins.add(len(tokens))
        words = [token.text for token in row]
        spans += read_labels(_tagger().tag(features(words)), words, len(tokens))
        tokens += row
    starts = frozenset(begins)
    small = {token.text for token in tokens if token.text.islower()}

    no_names = {at for at in starts if tokens[at].text.lower() in small}
    spans = spread(agree(corrected(spans, tokens, starts), tokens, _forms), tokens, _forms, no_names)
    return [_describe(text, span, tokens) for span in spans]


def _forms(word: str) -> frozenset[str]:
    """Return the basic form of a word, which names keep in English, in lower case."""
    return frozenset((word.lower(),))


def _describe(text: str, span: Span, tokens: Sequence[Token]) -> Mention:
    start, end = tokens[span.first].start, tokens[span.end - 1].end
    words = words_of(span, tokens)
    given, family = split_person(words, is_given=is_given_name(words[0])) if span.kind is NameKind.PERSON else ("", "")
    return Mention(
        kind=span.kind.value, start=start, end=end, surface=text[start:end], name=" ".join(text[start:end].split()),
        given=given, family=family,
    )  # fmt: skip

"""What the names of one text say of one another, whatever the order in which a process keeps its sets."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from rehi.languages.consistency import agree, spread
from rehi.languages.kinds import NameKind
from rehi.languages.sentences import Token
from rehi.languages.spans import Span


class BackwardsSet(frozenset[str]):
    """A set that is gone through in another order than its like."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__(), reverse=True))


class Forwards(frozenset[str]):
    """The same the other way round."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))


def test_names_are_the_same_in_every_process() -> None:
    chance, differing = Random(5), 0
    for _ in range(300):
        words = [chance.choice(["Uueküla", "Uueküll", "Paio", "Paiot", "ja"]) for _ in range(12)]
        tokens = [Token(word, at * 9, at * 9 + len(word)) for at, word in enumerate(words)]
        known = [chance.sample(["uueküla", "uueküll", "paio", "paiot", "küla"], 2) for _ in words]
        marked = [at for at, word in enumerate(words) if word[0].isupper() and chance.random() < 0.5]
        spans = [Span(at, at + 1, chance.choice(list(NameKind))) for at in marked]
        outputs = []
        for kind in (Forwards, BackwardsSet):
            forms = {word: kind(each) for word, each in zip(words, known, strict=True)}
            agreed = agree(spans, tokens, forms.__getitem__)
            outputs.append((agreed, spread(agreed, tokens, forms.__getitem__, frozenset())))
        assert outputs[0] == outputs[1]
        differing += outputs[0][1] != spans
    assert differing > 100  # else nothing was tried

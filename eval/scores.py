"""Scores: how far found names agree with gold ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from eval.corpora import Gold, GoldText

Tag = Callable[[str], set[Gold]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Right, wrong and missed names, and what finding them cost."""

    right: int
    wrong: int
    missed: int
    words: int
    seconds: float  # of CPU

    @property
    def precision(self) -> float:
        """The share of found names that are right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of gold names that were found."""
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        """Strict: a name counts when its place and its kind are right."""
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    @property
    def speed(self) -> float:
        """Words per second of CPU."""
        return self.words / max(1e-9, self.seconds)


def score(texts: Iterable[GoldText], tag: Tag) -> Score:
    """Tag the texts and compare."""
    right = wrong = missed = words = 0
    seconds = 0.0
    for each in texts:
        begun = time.process_time()
        names = tag(each.text)
        seconds += time.process_time() - begun
        gold = set(each.names)
        right += len(names & gold)
        wrong += len(names - gold)
        missed += len(gold - names)
        words += each.words
    return Score(right=right, wrong=wrong, missed=missed, words=words, seconds=seconds)

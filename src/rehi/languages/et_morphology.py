"""Morphology: the readings of each word of a sentence, by the analyser vabamorf.

Analysing a word costs 57 µs and choosing among its analyses in the sentence 50 µs. Analyses of words without context
are kept (12,000 of them), so that only the choice is paid for again: 9,000 words/s become 13,000 to 20,000. The result
differs from analysing whole sentences in 9 of 32,890 words, all at the beginning of a sentence.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

from rehi.languages.et_package import lexicons, vabamorf_module

_PHONETIC = str.maketrans("", "", "~?]<")
_COMPOUND = str.maketrans("", "", "_+=")
_LONGEST = 100  # characters; a longer word is data


class Analysis(NamedTuple):
    """One reading of a word."""

    root: str  # parts of a compound divided by "_": "linna_valitsus"
    ending: str
    part_of_speech: str  # "H" is a proper name
    form: str  # "sg g", as vabamorf writes it

    @property
    def lemma(self) -> str:
        """The basic form."""
        return self.root if self.root in ("_", "+", "=") else self.root.translate(_COMPOUND)


class _AnalysedWord(NamedTuple):
    """A word with all its readings."""

    raw: Any  # the analyser's own object
    readings: tuple[Analysis, ...]


def _plain(root: str) -> str:
    """Return a root without marks of pronunciation, unless it is made of nothing else."""
    return root.translate(_PHONETIC) or root


class Morphology:
    """The analyser with its lexicons; one per process, as its library has global state."""

    def __init__(self) -> None:
        self._library = vabamorf_module()
        analyser, disambiguator = lexicons()
        self._analyser = self._library.Vabamorf(str(analyser), str(disambiguator))
        self._word = lru_cache(12_000)(self._analyse)

    def _analyse(self, word: str) -> _AnalysedWord:
        library = self._library
        analyses = self._analyser.analyze(library.StringVector([word[:_LONGEST]]), False, True, True, True, False)
        raw = list(analyses[0][1])
        return _AnalysedWord(library.WordAnalysis(word[:_LONGEST], library.AnalysisVector(raw)), _readings(raw))

    def readings(self, word: str) -> tuple[Analysis, ...]:
        """Return all readings that a word can have, whatever stands around it."""
        return self._word(word).readings

    def sentence(self, words: list[str]) -> list[tuple[Analysis, ...]]:
        """Return the readings of each word that fit the sentence; mostly one."""
        chosen = self._analyser.disambiguate(self._library.SentenceAnalysis([self._word(word).raw for word in words]))
        return [_readings(raw) for _, raw in chosen]


def _readings(raw: Any) -> tuple[Analysis, ...]:
    return tuple([Analysis(_plain(each.root), each.ending, each.partofspeech, each.form) for each in raw])


@cache
def morphology() -> Morphology:
    """Return the analyser, loaded once per process (0.2 s, 22 MB)."""
    return Morphology()

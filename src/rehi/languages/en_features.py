"""The features by which the English model recognises names: affixes, shapes, word lists and neighbours of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rehi.languages.en_places import MAX_WORDS, places
from rehi.languages.en_words import ORGANISATION, PLACE, TITLES, WHERE
from rehi.languages.people import is_given_name

_RUN = re.compile(r"(.)\1+")


@lru_cache(8_000)
def _shape(word: str) -> str:
    return _RUN.sub(
        r"\1", "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word)
    )[:8]


@lru_cache(8_000)
def _lists(word: str) -> tuple[str, ...]:
    lowered = word.lower().rstrip(".")
    lists = []
    if lowered in TITLES:
        lists.append("title")
    if lowered in ORGANISATION:
        lists.append("org")
    if lowered in PLACE:
        lists.append("place")
    if lowered in WHERE:
        lists.append("where")
    if word[:1].isupper() and is_given_name(word):
        lists.append("given")
    return tuple(lists)


@lru_cache(8_000)
def _own(word: str) -> tuple[str, ...]:
    lowered = word.lower()
    own = ["w=" + lowered, "sh=" + _shape(word), *("l=" + name for name in _lists(word))]
    for size in (2, 3, 4):
        if len(lowered) > size:
            own += (f"p{size}={lowered[:size]}", f"s{size}={lowered[-size:]}")
    if word[:1].isupper():
        own.append("cap+" + "+".join(_lists(word)))
    return tuple(own)


@lru_cache(8_000)
def _as_neighbour(word: str, at: int) -> tuple[str, ...]:
    neighbour = [f"{at}w={word.lower()}", f"{at}sh={_shape(word)}", *(f"{at}l={name}" for name in _lists(word))]
    if abs(at) == 1 and len(word) > 3:
        neighbour.append(f"{at}s3={word[-3:].lower()}")
    return tuple(neighbour)


def _run_features(words: Sequence[str], at: int) -> tuple[str, ...]:
    """Return features of the run of capitalised words around a word: in "Rehemaa Town Museum" the last word tells what it is."""
    last = at
    while last + 1 < len(words) and words[last + 1][:1].isupper() and last - at < 5:
        last += 1
    first = at
    while first > 0 and words[first - 1][:1].isupper() and at - first < 5:
        first -= 1
    ends = tuple(f"end={name}" for name in _lists(words[last]))
    begins = tuple(f"beg={name}" for name in _lists(words[first]))
    before = words[first - 1].lower() if first else "^"
    return (*ends, *begins, f"run={min(last - first + 1, 4)}", f"bef={before}")


def _known_places(words: Sequence[str]) -> set[int]:
    """Return the numbers of the words that are part of a known place's name."""
    known: set[int] = set()
    for first, word in enumerate(words):
        if word[:1].isupper():
            for end in range(min(first + MAX_WORDS, len(words)), first, -1):
                if " ".join(words[first:end]).lower() in places():
                    known.update(range(first, end))
                    break
    return known


def features(words: Sequence[str]) -> list[list[str]]:
    """Return the features of each word of a sentence."""
    rows: list[list[str]] = []
    size = len(words)
    known = _known_places(words)
    shouted = sum(word.isupper() for word in words) * 2 > size
    for at, word in enumerate(words):
        row = ["b", *_own(word)]
        for offset in (-2, -1, 1, 2):
            place = at + offset
            row += _as_neighbour(words[place], offset) if 0 <= place < size else (f"{offset}none",)
        if word[:1].isupper():
            row += _run_features(words, at)
            row += [f"{'first' if at == 0 else 'inner'}"]
        if shouted:
            row.append("shouted")
        row += [f"known{offset}" for offset in (-1, 0, 1) if at + offset in known]
        rows.append(row)
    return rows

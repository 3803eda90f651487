"""Names of people: which words are given names or titles, and a name split into given and family name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from rehi.languages.word_lists import word_list

PARTICLES = word_list("von van de der den da di du la le del della dos af zu zur ter ten bin ibn el al ben mac")
TITLES = word_list(
    "dr prof professor hr pr prl härra proua preili sir lady lord mr mrs ms miss mme dipl mag phd insener isa ema "
    "onu tädi president minister peaminister rektor kindral kolonel major kapten piiskop the"
)


@cache
def given_names() -> frozenset[str]:
    """Return the given names that are common where our languages are spoken, in lower case, read once per process."""
    lines = files("rehi.languages").joinpath("given_names.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(name.lower() for line in lines if not line.startswith("#") for name in line.split())


def is_given_name(word: str) -> bool:
    """Whether a word, or each half of a hyphenated one, is a given name; initials count: "A."."""
    if len(word) <= 3 and word.endswith(".") and word[0].isupper():
        return True
    return all(part in given_names() for part in word.lower().split("-"))


def is_title(word: str) -> bool:
    """Whether a word stands before a name without being part of it."""
    return word.rstrip(".").lower() in TITLES


def split_person(words: Sequence[str], *, is_given: bool) -> tuple[str, str]:
    """Return given and family name; a single word is the family name unless it ``is_given``, known as a given name."""
    if not words:
        return "", ""
    if len(words) == 1:
        return (words[0], "") if is_given else ("", words[0])
    cut = len(words) - 1
    while cut > 1 and words[cut - 1].lower() in PARTICLES:
        cut -= 1
    return " ".join(words[:cut]), " ".join(words[cut:])

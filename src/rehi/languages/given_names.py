"""Given names: a list of those that are common where our languages are spoken."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def given_names() -> frozenset[str]:
    """Return the names in lower case, read once per process."""
    lines = files("rehi.languages").joinpath("given_names.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(name.lower() for line in lines if not line.startswith("#") for name in line.split())


def is_given_name(word: str) -> bool:
    """Whether a word, or each half of a hyphenated one, is a given name; initials count: "A."."""
    if len(word) <= 3 and word.endswith(".") and word[0].isupper():
        return True
    return all(part in given_names() for part in word.lower().split("-"))

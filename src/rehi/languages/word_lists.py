"""Word lists, written as running text so that people can read and mend them."""

from __future__ import annotations


def word_list(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())

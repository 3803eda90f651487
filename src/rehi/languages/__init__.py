"""Languages: finds the names in a text, by the rules and the model of its language.

To add one: a module with a class that keeps to `Language`, a line in ``builtin.py``, and a few gold sentences.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

from rehi.builtin import find, load_place
from rehi.model.document import Mention


class Language(Protocol):
    """What rehi can do in one language."""

    @property
    def code(self) -> str:
        """The two-letter code."""

    def mentions(self, text: str) -> list[Mention]:
        """Return the names in a text, in order and without overlaps; ``text[start:end]`` is the surface."""


@cache
def language(code: str) -> Language | None:
    """Return the language of this code, loaded on first use; None for one in which names can't be told."""
    place = find("language", code)
    return None if place is None else load_place(place)()

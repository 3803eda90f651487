"""Languages: what can be understood of a text depends on the language it is in.

To add one: a module with a class that keeps to `Language`, a line in the table below, and a few gold sentences.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Protocol

from rehi.model.document import Mention

BUILTIN = {
    "en": "rehi.languages.en:English",
    "et": "rehi.languages.et:Estonian",
}


class Language(Protocol):
    """What rehi can do in one language."""

    @property
    def code(self) -> str:
        """The two-letter code."""

    def mentions(self, text: str) -> list[Mention]:
        """The names in a text, in order and without overlaps; ``text[start:end]`` is the surface."""


@cache
def language(code: str) -> Language | None:
    """The language of this code, loaded on first use; None for one whose names we can't tell."""
    place = BUILTIN.get(code)
    if place is None:
        return None
    module, _, name = place.partition(":")
    made: Language = getattr(import_module(module), name)()
    return made

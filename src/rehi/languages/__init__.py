"""Languages: finds the names in a text, by the rules and the model of its language.

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
    """Return the language of this code, loaded on first use; None if its names can't be recognised."""
    entry = BUILTIN.get(code)
    if entry is None:
        return None
    module, _, name = entry.partition(":")
    loaded: Language = getattr(import_module(module), name)()
    return loaded

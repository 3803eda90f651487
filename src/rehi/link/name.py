"""The name by which an entity is called, of all the names that documents use for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from rehi.model.entity import Form


def best_name(names: Iterable[Form], counts: Mapping[Form, int] | None = None) -> Form:
    """Return the form to show: not in capitals throughout nor in small letters, with few odd capitals, then the most frequent.

    Without counts the choice depends on the set of names alone, never on their order or number, so that it is the same
    whoever makes it.
    """
    return min(names, key=lambda name: (*oddity(name.text), -(counts or {}).get(name, 0), *_rest(name)))


def best_of(names: Iterable[str]) -> str:
    """Return the name to show, of names as often as they stand in a document."""
    counts = Counter(names)
    return best_name(
        (Form("name", name) for name in counts), {Form("name", name): n for name, n in counts.items()}
    ).text


def oddity(text: str) -> tuple[bool, int]:
    """Return how unlike a name a text is written: all in one case, and how many letters have the wrong one."""
    words = text.split()
    shouted = text in (text.upper(), text.lower())
    odd = sum(not word[0].isupper() for word in words) + sum(map(str.isupper, "".join(word[1:] for word in words)))
    return shouted, odd


def _rest(name: Form) -> tuple[str, bool, str, str]:
    return name.text, not (name.given or name.family), name.given, name.family

"""Names of entities that appeared or vanished between two versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rehi.model.entity import EntityKey, Identity

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesDiff:
    """The entities that only one of two versions mentions, those with the most mentions first."""

    appeared: tuple[Identity, ...]
    vanished: tuple[Identity, ...]
    stayed: int


def compare_names(old: Iterable[Identity], new: Iterable[Identity]) -> NamesDiff:
    """Return the entities that are in one of two lists only."""
    before, after = _by_key(old), _by_key(new)
    return NamesDiff(
        appeared=_ranked(identity for key, identity in after.items() if key not in before),
        vanished=_ranked(identity for key, identity in before.items() if key not in after),
        stayed=len(before.keys() & after.keys()),
    )


def _by_key(identities: Iterable[Identity]) -> dict[EntityKey, Identity]:
    return {identity.key: identity for identity in identities}


def _ranked(identities: Iterable[Identity]) -> tuple[Identity, ...]:
    return tuple(sorted(identities, key=lambda identity: (-identity.count, identity.key.kind, identity.key.slug)))


def find_standing(names: Iterable[str], text: str) -> set[str]:
    """Return the names that stand in a text, with no letter or digit right before or after them.

    The text is gone through once for each number of words that a name has: one name after another, 20,000 took 15 s.
    """
    sought: dict[
        int, dict[str, set[str]]
    ] = {}  # names by what stands from their first word to their last, by the number of words
    for name in names:
        if words := [word.span() for word in _WORD.finditer(name)]:
            core = name[words[0][0] : words[-1][1]]
            sought.setdefault(len(words), {}).setdefault(core, set()).add(name)
    spans = [word.span() for word in _WORD.finditer(text)] if sought else []
    standing: set[str] = set()
    for count, by_core in sought.items():
        for (start, _), (_, end) in zip(spans, spans[count - 1 :], strict=False):
            core = text[start:end]
            if core in by_core:
                standing.update(name for name in by_core[core] if _stands_at(name, text, start - name.index(core)))
    return standing


def _stands_at(name: str, text: str, at: int) -> bool:
    around = (text[max(at - 1, 0) : max(at, 0)], text[at + len(name) : at + len(name) + 1])
    return at >= 0 and text.startswith(name, at) and not any(map(_WORD.match, around))

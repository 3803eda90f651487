"""Names of entities that appeared or vanished between two versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rehi.model.entity import EntityKey, Identity


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

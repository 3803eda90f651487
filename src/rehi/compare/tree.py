"""Trees compared by path: values added, removed and changed; for JSON and, in the same shape, XML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import TypeAlias

import orjson

from rehi.compare.sequence import BUDGET, align

Tree: TypeAlias = "bool | int | float | str | list[Tree] | dict[str, Tree] | None"
Step: TypeAlias = (
    str | int | tuple[str, str]
)  # a name, an index in a list, or the key of an item in a list: ("id", "17")
ShowPath: TypeAlias = Callable[[Sequence[Step]], str]

DEEPEST = 200  # levels; deeper trees are compared as texts
LONGEST = 2_000  # characters of a value that are kept
_SHORT = 33  # bytes; a longer value is compared by its digest, which is one byte shorter
# Names of values that serve as keys of a list's items, the surest first.
_IDENTIFYING = (
    "@id", "@xml:id", "id", "_id", "@rdf:about", "uuid", "guid", "key", "@key", "identifier", "code", "@code", "symbol",
    "isbn", "url", "uri", "href", "@href", "link", "loc", "slug", "date", "name", "@name", "nimi", "kood", "title",
)  # fmt: skip


class NoTree(Exception):
    """A text can't be parsed as a tree."""


class TooDeep(Exception):
    """A tree is nested too deeply to be compared."""


class PathKind(StrEnum):
    """What happened at a path."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    REORDERED = "reordered"  # the items of a list that both versions have stand in another order


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChange:
    """A path at which the trees differ, with both values as JSON; None for a version that has no value there."""

    path: str
    kind: PathKind
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListKey:
    """A list whose items were matched by a key, the value of that name in each of them."""

    path: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDiff:
    """The differences between two trees by path, and how many single values are the same."""

    changes: tuple[PathChange, ...]
    counts: Mapping[PathKind, int]  # also of the changes that are left out
    same: int
    keys: tuple[ListKey, ...]
    coarse: bool = False


@dataclass(slots=True)
class _TreeComparison:
    """The state of a comparison: its options, and the differences so far."""

    show: ShowPath
    hide_single: bool
    most: int
    changes: list[PathChange] = field(default_factory=list)
    counts: Counter[PathKind] = field(default_factory=Counter)
    keys: list[ListKey] = field(default_factory=list)
    different: int = 0  # single values of the new tree
    left: int = BUDGET  # steps for lists whose items have no key
    coarse: bool = False

    def note(self, steps: Sequence[Step], kind: PathKind, *values: Tree | Nothing) -> None:
        """Add a change with its old and new value."""
        self.counts[kind] += 1
        if len(self.changes) < self.most:
            old, new = (None if isinstance(value, Nothing) else _shown(value) for value in values)
            self.changes.append(PathChange(path=self.show(steps), kind=kind, old=old, new=new))


class Nothing:
    """The absence of a value, which is not the same as null."""


NOTHING = Nothing()


def compare_trees(
    old: Tree, new: Tree, *, show: ShowPath, hide_single: bool = False, most: int = 1_000_000
) -> TreeDiff:
    """Return the differences in the order of the new tree; those beyond ``most`` are only counted.

    ``hide_single`` leaves the index out of the paths through lists of one item. TooDeep if a tree is nested too deeply.
    """
    comparison = _TreeComparison(show, hide_single, most)
    _count_values(old)
    size = _count_values(new)
    _compare(comparison, (), old, new)
    return TreeDiff(
        changes=tuple(comparison.changes),
        counts=dict(comparison.counts),
        same=size - comparison.different,
        keys=tuple(comparison.keys),
        coarse=comparison.coarse,
    )


def _count_values(value: Tree) -> int:
    """Count the single values of a tree, an empty list being one; TooDeep if it is nested too deeply."""
    size, level, depth = 0, [value], 0
    while level:
        if depth > DEEPEST:
            raise TooDeep
        below: list[Tree] = []
        for item in level:
            if isinstance(item, dict) and item:
                below.extend(item.values())
            elif isinstance(item, list) and item:
                below.extend(item)
            else:
                size += 1
        level, depth = below, depth + 1
    return size


def _canonical(value: Tree) -> bytes:
    """Return a value as bytes, which are equal for equal values only; 1, 1.0 and true are different."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # lone surrogates
        return json.dumps(value, sort_keys=True).encode()


def _is_same(old: Tree, new: Tree) -> bool:
    if type(old) is not type(new):
        return False
    return _canonical(old) == _canonical(new) if isinstance(new, list | dict) else old == new


def _compare(comparison: _TreeComparison, steps: tuple[Step, ...], old: Tree, new: Tree) -> None:
    if _is_same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in new.items():
            if name in old:
                _compare(comparison, (*steps, name), old[name], value)
            else:
                _add(comparison, (*steps, name), value)
        for name, value in old.items():
            if name not in new:
                _remove(comparison, (*steps, name), value)
    elif isinstance(old, list) and isinstance(new, list):
        if comparison.hide_single and len(old) == len(new) == 1:
            _compare(comparison, steps, old[0], new[0])
        elif key := _find_key(old, new):
            _compare_keyed(comparison, steps, key, old, new)
        else:
            _compare_by_index(comparison, steps, old, new)
    else:
        comparison.different += _count_values(new)
        comparison.note(steps, PathKind.CHANGED, old, new)


def _add(comparison: _TreeComparison, steps: tuple[Step, ...], value: Tree) -> None:
    comparison.different += _count_values(value)
    comparison.note(steps, PathKind.ADDED, NOTHING, value)


def _remove(comparison: _TreeComparison, steps: tuple[Step, ...], value: Tree) -> None:
    comparison.note(steps, PathKind.REMOVED, value, NOTHING)


def _find_key(old: list[Tree], new: list[Tree]) -> str:
    """Return the name of the value that is a key for the items of both lists; empty if there is none."""
    first = old[0] if old else None
    if not isinstance(first, dict) or not new:
        return ""
    for name in _IDENTIFYING:
        if name in first and _is_key(name, old) and _is_key(name, new):
            return name
    return ""


def _is_key(name: str, items: list[Tree]) -> bool:
    values = [_key_value(item, name) for item in items]
    return None not in values and len(set(values)) == len(values)


def _key_value(item: Tree, name: str) -> str | None:
    value = item.get(name) if isinstance(item, dict) else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("#text")
    if value is None or isinstance(value, list | dict | bool):
        return None
    return f"{value}" if isinstance(value, str) else _shown(value)


def _compare_keyed(
    comparison: _TreeComparison, steps: tuple[Step, ...], key: str, old: list[Tree], new: list[Tree]
) -> None:
    comparison.keys.append(ListKey(path=comparison.show(steps), name=key))
    before = {str(_key_value(item, key)): item for item in old}
    after = {str(_key_value(item, key)): item for item in new}
    for known, item in after.items():
        if known in before:
            _compare(comparison, (*steps, (key, known)), before[known], item)
        else:
            _add(comparison, (*steps, (key, known)), item)
    for known, item in before.items():
        if known not in after:
            _remove(comparison, (*steps, (key, known)), item)
    if [known for known in before if known in after] != [known for known in after if known in before]:
        comparison.note(steps, PathKind.REORDERED, NOTHING, NOTHING)


def _fingerprint(value: Tree) -> bytes:
    printed = _canonical(value)
    return printed if len(printed) <= _SHORT else blake2b(printed, digest_size=_SHORT - 1).digest()


def _compare_by_index(comparison: _TreeComparison, steps: tuple[Step, ...], old: list[Tree], new: list[Tree]) -> None:
    alignment = align(
        [_fingerprint(item) for item in old], [_fingerprint(item) for item in new], budget=comparison.left
    )
    comparison.left -= len(old) + len(new)
    comparison.coarse |= alignment.coarse
    for gap in alignment.gaps():
        shared = min(len(gap.old), len(gap.new))
        for first, second in zip(gap.old[:shared], gap.new[:shared], strict=True):
            _compare(comparison, (*steps, second), old[first], new[second])
        for at in gap.new[shared:]:
            _add(comparison, (*steps, at), new[at])
        for at in gap.old[shared:]:
            _remove(comparison, (*steps, at), old[at])


def _shown(value: Tree) -> str:
    """Return a value as JSON, cut at ``LONGEST`` characters; of a large one only that much is written out."""
    if not isinstance(value, list | dict):
        text = _canonical(value[: LONGEST + 1] if isinstance(value, str) else value).decode("utf-8", "replace")
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    pieces: list[str] = []
    total = 0
    for piece in _written(value):
        pieces.append(piece)
        total += len(piece)
        if total > LONGEST:
            return "".join(pieces)[:LONGEST] + "…"
    return "".join(pieces)


def _written(value: Tree) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for place, (name, item) in enumerate(value.items()):
            yield f"{', ' if place else ''}{_canonical(name[:LONGEST]).decode('utf-8', 'replace')}: "
            yield from _written(item)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for place, item in enumerate(value):
            yield ", " if place else ""
            yield from _written(item)
        yield "]"
    else:
        yield _shown(value)

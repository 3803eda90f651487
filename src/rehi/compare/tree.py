"""Trees, compared by path: values added, removed and changed; JSON and, in the same shape, XML."""

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
Step: TypeAlias = str | int | tuple[str, str]  # a name, a place in a list, or what an item is known by: ("id", "17")
ShowPath: TypeAlias = Callable[[Sequence[Step]], str]

DEEPEST = 200  # levels; deeper trees are compared as texts
LONGEST = 2_000  # characters of a value that are kept
_SHORT = 33  # bytes; what is longer is known by its digest, which is one shorter
# What items of a list are known by, the surest first.
_IDENTIFYING = (
    "@id", "@xml:id", "id", "_id", "@rdf:about", "uuid", "guid", "key", "@key", "identifier", "code", "@code", "symbol",
    "isbn", "url", "uri", "href", "@href", "link", "loc", "slug", "date", "name", "@name", "nimi", "kood", "title",
)  # fmt: skip


class NoTree(Exception):
    """A text holds no tree that can be read."""


class TooDeep(Exception):
    """The tree is nested beyond all that makes sense."""


class PathKind(StrEnum):
    """What happened at a path."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    REORDERED = "reordered"  # the items of a list that are known again stand in another order


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChange:
    """One value that is different, as JSON; None where there is none."""

    path: str
    kind: PathKind
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListKey:
    """A list whose items were known by a value in them."""

    path: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDiff:
    """Two trees: what is different, by path, and how many single values are the same."""

    changes: tuple[PathChange, ...]
    counts: Mapping[PathKind, int]  # also of the changes that are left out
    same: int
    keys: tuple[ListKey, ...]
    coarse: bool = False


@dataclass(slots=True)
class _Work:
    """What is found on the way through two trees."""

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
        """Enter a change with the old and the new value."""
        self.counts[kind] += 1
        if len(self.changes) < self.most:
            old, new = (None if isinstance(value, Nothing) else _shown(value) for value in values)
            self.changes.append(PathChange(path=self.show(steps), kind=kind, old=old, new=new))


class Nothing:
    """No value, which is not the same as null."""


NOTHING = Nothing()


def compare_trees(
    old: Tree, new: Tree, *, show: ShowPath, hide_single: bool = False, most: int = 1_000_000
) -> TreeDiff:
    """All differences in the order of the new tree; those beyond ``most`` are only counted.

    ``hide_single`` leaves out the place in lists of one item. TooDeep for trees that nobody could read.
    """
    work = _Work(show, hide_single, most)
    _measure(old)
    size = _measure(new)
    _compare(work, (), old, new)
    return TreeDiff(
        changes=tuple(work.changes),
        counts=dict(work.counts),
        same=size - work.different,
        keys=tuple(work.keys),
        coarse=work.coarse,
    )


def _measure(value: Tree) -> int:
    """How many single values there are, an empty list being one; TooDeep if they lie too deep."""
    size, level, depth = 0, [value], 0
    while level:
        if depth > DEEPEST:
            raise TooDeep
        below: list[Tree] = []
        for one in level:
            if isinstance(one, dict) and one:
                below.extend(one.values())
            elif isinstance(one, list) and one:
                below.extend(one)
            else:
                size += 1
        level, depth = below, depth + 1
    return size


def _print(value: Tree) -> bytes:
    """A value as bytes: equal values, and no others, have equal ones. 1, 1.0 and true are different."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # lone surrogates
        return json.dumps(value, sort_keys=True).encode()


def _is_same(old: Tree, new: Tree) -> bool:
    if type(old) is not type(new):
        return False
    return _print(old) == _print(new) if isinstance(new, list | dict) else old == new


def _compare(work: _Work, steps: tuple[Step, ...], old: Tree, new: Tree) -> None:
    if _is_same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in new.items():
            if name in old:
                _compare(work, (*steps, name), old[name], value)
            else:
                _add(work, (*steps, name), value)
        for name, value in old.items():
            if name not in new:
                _remove(work, (*steps, name), value)
    elif isinstance(old, list) and isinstance(new, list):
        if work.hide_single and len(old) == len(new) == 1:
            _compare(work, steps, old[0], new[0])
        elif key := _find_key(old, new):
            _compare_keyed(work, steps, key, old, new)
        else:
            _compare_placed(work, steps, old, new)
    else:
        work.different += _measure(new)
        work.note(steps, PathKind.CHANGED, old, new)


def _add(work: _Work, steps: tuple[Step, ...], value: Tree) -> None:
    work.different += _measure(value)
    work.note(steps, PathKind.ADDED, NOTHING, value)


def _remove(work: _Work, steps: tuple[Step, ...], value: Tree) -> None:
    work.note(steps, PathKind.REMOVED, value, NOTHING)


def _find_key(old: list[Tree], new: list[Tree]) -> str:
    """The name of the value by which every item of both lists is known; "" without one."""
    first = old[0] if old else None
    if not isinstance(first, dict) or not new:
        return ""
    for name in _IDENTIFYING:
        if name in first and _is_key(name, old) and _is_key(name, new):
            return name
    return ""


def _is_key(name: str, items: list[Tree]) -> bool:
    values = [_known_by(item, name) for item in items]
    return None not in values and len(set(values)) == len(values)


def _known_by(item: Tree, name: str) -> str | None:
    value = item.get(name) if isinstance(item, dict) else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("#text")
    if value is None or isinstance(value, list | dict | bool):
        return None
    return f"{value}" if isinstance(value, str) else _shown(value)


def _compare_keyed(work: _Work, steps: tuple[Step, ...], key: str, old: list[Tree], new: list[Tree]) -> None:
    work.keys.append(ListKey(path=work.show(steps), name=key))
    before = {str(_known_by(item, key)): item for item in old}
    after = {str(_known_by(item, key)): item for item in new}
    for known, item in after.items():
        if known in before:
            _compare(work, (*steps, (key, known)), before[known], item)
        else:
            _add(work, (*steps, (key, known)), item)
    for known, item in before.items():
        if known not in after:
            _remove(work, (*steps, (key, known)), item)
    if [known for known in before if known in after] != [known for known in after if known in before]:
        work.note(steps, PathKind.REORDERED, NOTHING, NOTHING)


def _fingerprint(value: Tree) -> bytes:
    printed = _print(value)
    return printed if len(printed) <= _SHORT else blake2b(printed, digest_size=_SHORT - 1).digest()


def _compare_placed(work: _Work, steps: tuple[Step, ...], old: list[Tree], new: list[Tree]) -> None:
    alignment = align([_fingerprint(item) for item in old], [_fingerprint(item) for item in new], budget=work.left)
    work.left -= len(old) + len(new)
    work.coarse |= alignment.coarse
    for gap in alignment.gaps():
        both = min(len(gap.old), len(gap.new))
        for first, second in zip(gap.old[:both], gap.new[:both], strict=True):
            _compare(work, (*steps, second), old[first], new[second])
        for at in gap.new[both:]:
            _add(work, (*steps, at), new[at])
        for at in gap.old[both:]:
            _remove(work, (*steps, at), old[at])


def _shown(value: Tree) -> str:
    """A value as JSON, cut where it is long; a large one is not written out to its end."""
    if not isinstance(value, list | dict):
        text = _print(value[: LONGEST + 1] if isinstance(value, str) else value).decode("utf-8", "replace")
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
            yield f"{', ' if place else ''}{_print(name[:LONGEST]).decode('utf-8', 'replace')}: "
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

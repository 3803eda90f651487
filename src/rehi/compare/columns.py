"""Columns: which columns of two versions of a table are the same, under the same name or another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rehi.compare.table import Row, Table

_SAMPLE = 5_000  # rows whose values are compared to find renamed columns
_MOST = 30  # columns on either side that are tried
_ALIKE = 0.8  # of its values that a renamed column keeps
_FEW = 5  # different values; columns with fewer may be alike by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsDiff:
    """The columns that were added, removed, renamed or reordered."""

    added: Row
    removed: Row
    renamed: tuple[tuple[str, str], ...]  # guessed: from, to
    reordered: bool  # those that both have stand in another order


def compare_columns(old: Table, new: Table) -> tuple[ColumnsDiff, dict[str, str]]:
    """Return the difference, and the old name of each new column that the old table has too."""
    old_names = {name: name for name in new.columns if name in set(old.columns)}
    only_old = [name for name in old.columns if name not in old_names]
    only_new = [name for name in new.columns if name not in old_names]
    renamed = _guess_renamed(old, new, only_old, only_new)
    old_names.update({name: old_name for old_name, name in renamed})
    places = [old.columns.index(old_names[name]) for name in new.columns if name in old_names]
    kept = {old_name for old_name, _ in renamed}
    diff = ColumnsDiff(
        added=tuple(name for name in only_new if name not in old_names),
        removed=tuple(name for name in only_old if name not in kept),
        renamed=renamed,
        reordered=places != sorted(places),
    )
    return diff, old_names


def _guess_renamed(
    old: Table, new: Table, only_old: Sequence[str], only_new: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return pairs of an old and a new name whose columns hold the same values, as far as they can be guessed."""
    before = [(name, _values(old, name)) for name in only_old[:_MOST]]
    after = [(name, _values(new, name)) for name in only_new[:_MOST]]
    candidates = []
    for old_name, values in before:
        for name, new_values in after:
            similarity = 1.0 if _plain(old_name) == _plain(name) else _similarity(values, new_values)
            if similarity >= _ALIKE:
                candidates.append((-similarity, old.columns.index(old_name), new.columns.index(name), old_name, name))
    pairs: dict[str, str] = {}
    for *_, old_name, name in sorted(candidates):
        if old_name not in pairs and name not in pairs.values():
            pairs[old_name] = name
    return tuple((old_name, pairs[old_name]) for old_name in only_old if old_name in pairs)


def _values(table: Table, name: str) -> Counter[str]:
    place = table.columns.index(name)
    return Counter(row[place] for row in table.rows[:_SAMPLE])


def _similarity(old: Counter[str], new: Counter[str]) -> float:
    if min(len(old), len(new)) < _FEW:
        return 0.0
    return sum((old & new).values()) / max(old.total(), new.total())


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))

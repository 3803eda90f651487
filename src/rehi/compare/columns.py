"""Columns: which of two versions of a table are the same, under the same name or another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rehi.compare.table import Row, Table

_SAMPLE = 5_000  # rows whose values tell that a column was renamed
_MOST = 30  # columns on either side that are tried
_ALIKE = 0.8  # of its values that a renamed column keeps
_FEW = 5  # different values; fewer may be alike by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsDiff:
    """What became of the columns."""

    added: Row
    removed: Row
    renamed: tuple[tuple[str, str], ...]  # guessed: from, to
    reordered: bool  # those that both have stand in another order


def compare_columns(old: Table, new: Table) -> tuple[ColumnsDiff, dict[str, str]]:
    """The difference, and the old name of each new column that the old table has too."""
    old_names = {name: name for name in new.columns if name in set(old.columns)}
    gone = [name for name in old.columns if name not in old_names]
    come = [name for name in new.columns if name not in old_names]
    renamed = _guess_renamed(old, new, gone, come)
    old_names.update({name: was for was, name in renamed})
    places = [old.columns.index(old_names[name]) for name in new.columns if name in old_names]
    kept = {was for was, _ in renamed}
    diff = ColumnsDiff(
        added=tuple(name for name in come if name not in old_names),
        removed=tuple(name for name in gone if name not in kept),
        renamed=renamed,
        reordered=places != sorted(places),
    )
    return diff, old_names


def _guess_renamed(old: Table, new: Table, gone: Sequence[str], come: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pairs that hold the same values under another name, the surest first."""
    before = [(name, _values(old, name)) for name in gone[:_MOST]]
    after = [(name, _values(new, name)) for name in come[:_MOST]]
    found = []
    for was, values in before:
        for name, others in after:
            likeness = 1.0 if _plain(was) == _plain(name) else _likeness(values, others)
            if likeness >= _ALIKE:
                found.append((-likeness, old.columns.index(was), new.columns.index(name), was, name))
    pairs: dict[str, str] = {}
    for *_, was, name in sorted(found):
        if was not in pairs and name not in pairs.values():
            pairs[was] = name
    return tuple((was, pairs[was]) for was in gone if was in pairs)


def _values(table: Table, name: str) -> Counter[str]:
    place = table.columns.index(name)
    return Counter(row[place] for row in table.rows[:_SAMPLE])


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    if min(len(old), len(new)) < _FEW:
        return 0.0
    return sum((old & new).values()) / max(old.total(), new.total())


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))

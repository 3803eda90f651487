"""Tables, compared by row and column: rows added and removed, cells changed, columns that came and went."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rehi.compare.columns import ColumnsDiff, compare_columns
from rehi.compare.keys import Key, check_key, guess_key, identify
from rehi.compare.table import Row, Table

_CANDIDATES = 20  # rows with the same cell that are looked at for the one that changed
_MOST_ODD = 20_000  # rows without a key that are looked through for those that changed
_LABEL = 2  # cells by which a row without a key is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedRow:
    """A row, and which one it is in its version, counted from 1."""

    number: int
    cells: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChange:
    """A cell before and after."""

    column: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """A row of which cells changed."""

    label: Row  # its key in the old version, or its first cells where there is no key
    old_number: int
    new_number: int
    cells: tuple[CellChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDiff:
    """Two tables: what is different, and how much is the same."""

    columns: Row  # of the new version, in which added rows are shown
    old_columns: Row
    schema: ColumnsDiff
    key: Key
    added: tuple[NumberedRow, ...]
    removed: tuple[NumberedRow, ...]
    changed: tuple[RowChange, ...]
    same: int
    moved: int  # rows that are known again, but stand in another order
    coarse: bool = False  # rows that changed may be shown as removed and added


def compare_tables(old: Table, new: Table, *, key: Sequence[str] = ()) -> TableDiff:
    """Rows that are the same by their key or as wholes, and what became of the others."""
    schema, old_names = compare_columns(old, new)
    shared = [
        (old.columns.index(old_names[name]), place) for place, name in enumerate(new.columns) if name in old_names
    ]
    chosen = check_key(key, old, new, old_names) if key else guess_key(old, new, shared)
    if chosen.columns:
        keyed = [(old.columns.index(old_names[name]), new.columns.index(name)) for name in chosen.columns]
        pairs = _pair_by_key(old, new, keyed)
    else:
        keyed = shared[:_LABEL]
        pairs = _pair_wholes(old, new, shared) if shared else []
    odd = max(len(old.rows), len(new.rows)) - len(pairs)
    changed = _changes(old, new, pairs, shared, [at for at, _ in keyed])
    paired_old, paired_new = {first for first, _ in pairs}, {second for _, second in pairs}
    return TableDiff(
        columns=new.columns,
        old_columns=old.columns,
        schema=schema,
        key=chosen,
        added=_others(new.rows, paired_new),
        removed=_others(old.rows, paired_old),
        changed=changed,
        same=len(pairs) - len(changed),
        coarse=not chosen.columns and odd > _MOST_ODD,
        moved=len(pairs) - _longest_rise([first for first, _ in pairs]),
    )


def _pair_by_key(old: Table, new: Table, keyed: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    places = {identity: at for at, identity in enumerate(identify(old.rows, [at for at, _ in keyed]))}
    found = ((places.get(identity), at) for at, identity in enumerate(identify(new.rows, [at for _, at in keyed])))
    return [(first, second) for first, second in found if first is not None]


def _pair_wholes(old: Table, new: Table, shared: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Rows that are equal, wherever they stand; then those of the rest that have half of their cells in common."""
    pairs = _pair_by_key(old, new, shared)
    firsts, seconds = {first for first, _ in pairs}, {second for _, second in pairs}
    if max(len(old.rows), len(new.rows)) - len(pairs) > _MOST_ODD:
        return pairs
    index: dict[tuple[int, str], list[int]] = {}
    for at, row in enumerate(old.rows):
        if at not in firsts:
            for column, (place, _) in enumerate(shared):
                if row[place]:
                    index.setdefault((column, row[place]), []).append(at)
    for at, row in enumerate(new.rows):
        if at in seconds:
            continue
        votes: Counter[int] = Counter()
        for column, (_, place) in enumerate(shared):
            here = index.get((column, row[place]), ())
            if len(here) <= _CANDIDATES:
                votes.update(one for one in here if one not in firsts)
        best = max(votes, key=lambda one: (votes[one], -abs(one - at)), default=None)
        if best is not None and 2 * votes[best] >= len(shared):
            firsts.add(best)
            pairs.append((best, at))
    return sorted(pairs, key=lambda pair: pair[1])


def _changes(
    old: Table,
    new: Table,
    pairs: Sequence[tuple[int, int]],
    shared: Sequence[tuple[int, int]],
    label: Sequence[int],
) -> tuple[RowChange, ...]:
    changes = []
    alike = old.columns == new.columns and all(first == second for first, second in shared)
    for first, second in pairs:
        before, after = old.rows[first], new.rows[second]
        if alike and before == after:
            continue
        cells = tuple(
            CellChange(column=new.columns[b], old=before[a], new=after[b]) for a, b in shared if before[a] != after[b]
        )
        if cells:
            shown = tuple(before[at] for at in label)
            changes.append(RowChange(label=shown, old_number=first + 1, new_number=second + 1, cells=cells))
    return tuple(changes)


def _others(rows: Sequence[Row], paired: set[int]) -> tuple[NumberedRow, ...]:
    return tuple(NumberedRow(number=at + 1, cells=row) for at, row in enumerate(rows) if at not in paired)


def _longest_rise(numbers: Sequence[int]) -> int:
    tops: list[int] = []
    for number in numbers:
        at = bisect_left(tops, number)
        tops[at : at + 1] = [number]
    return len(tops)

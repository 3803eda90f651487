"""Tables compared by row and column: rows added and removed, cells changed, columns added and removed."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rehi.compare.columns import ColumnsDiff, compare_columns
from rehi.compare.keys import Key, check_key, guess_key, identify
from rehi.compare.table import Row, Table

_CANDIDATES = (
    20  # rows that share a cell with a changed row and are compared with it; a cell in more rows says too little
)
_MOST_UNPAIRED = 20_000  # rows without a key, above which those that changed are not looked for
_LABEL = 2  # cells by which a row without a key is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedRow:
    """A row, and which one it is in its version, counted from 1."""

    number: int
    cells: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChange:
    """The old and the new value of a cell."""

    column: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """A row some of whose cells changed."""

    label: Row  # its key in the old version, or its first cells where there is no key
    old_number: int
    new_number: int
    cells: tuple[CellChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDiff:
    """The differences between two tables, and the number of rows that are the same."""

    columns: Row  # of the new version, in which added rows are shown
    old_columns: Row
    schema: ColumnsDiff
    key: Key
    added: tuple[NumberedRow, ...]
    removed: tuple[NumberedRow, ...]
    changed: tuple[RowChange, ...]
    same: int
    moved: int  # rows that both have, but that stand in another order
    coarse: bool = False  # too much differs: changed rows may be shown as removed and added


def compare_tables(old: Table, new: Table, *, key: Sequence[str] = ()) -> TableDiff:
    """Compare two tables row by row: by ``key`` if it is given, else by a guessed key, else by whole rows."""
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
        pairs = _pair_whole_rows(old, new, shared) if shared else []
    unpaired = max(len(old.rows), len(new.rows)) - len(pairs)
    changed = _changes(old, new, pairs, shared, [at for at, _ in keyed])
    paired_old, paired_new = {first for first, _ in pairs}, {second for _, second in pairs}
    return TableDiff(
        columns=new.columns,
        old_columns=old.columns,
        schema=schema,
        key=chosen,
        added=_unpaired(new.rows, paired_new),
        removed=_unpaired(old.rows, paired_old),
        changed=changed,
        same=len(pairs) - len(changed),
        coarse=not chosen.columns and unpaired > _MOST_UNPAIRED,
        moved=len(pairs) - _longest_increasing([first for first, _ in pairs]),
    )


def _pair_by_key(old: Table, new: Table, keyed: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    places = {identity: at for at, identity in enumerate(identify(old.rows, [at for at, _ in keyed]))}
    candidates = ((places.get(identity), at) for at, identity in enumerate(identify(new.rows, [at for _, at in keyed])))
    return [(first, second) for first, second in candidates if first is not None]


def _pair_whole_rows(old: Table, new: Table, shared: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pairs of rows that are equal, wherever they stand; then of those that share half of their cells."""
    pairs = _pair_by_key(old, new, shared)
    firsts, seconds = {first for first, _ in pairs}, {second for _, second in pairs}
    if max(len(old.rows), len(new.rows)) - len(pairs) > _MOST_UNPAIRED:
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
            candidates = index.get((column, row[place]), ())
            if len(candidates) <= _CANDIDATES:
                votes.update(old_at for old_at in candidates if old_at not in firsts)
        best = max(votes, key=lambda old_at: (votes[old_at], -abs(old_at - at)), default=None)
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


def _unpaired(rows: Sequence[Row], paired: set[int]) -> tuple[NumberedRow, ...]:
    return tuple(NumberedRow(number=at + 1, cells=row) for at, row in enumerate(rows) if at not in paired)


def _longest_increasing(numbers: Sequence[int]) -> int:
    tops: list[int] = []
    for number in numbers:
        at = bisect_left(tops, number)
        tops[at : at + 1] = [number]
    return len(tops)

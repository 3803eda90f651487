"""Blame: since which version each row of a table has looked as it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rehi.compare.keys import Identity, identify
from rehi.compare.table import Row, Table


class Beginning(StrEnum):
    """How a row came to look as it does."""

    APPEARED = "appeared"
    CHANGED = "changed"
    FIRST = "first"  # it looked so in the oldest version that was read


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """For one row: in how many versions right before this one it was the same, and how that began."""

    steps: int
    beginning: Beginning


def trace_rows(table: Table, key: Sequence[str], earlier: Iterable[Table]) -> list[Origin]:
    """Return the origin of each row of a table, given its key and its earlier versions, the newest first.

    ``earlier`` is read only as far as there are rows without an origin.

    A column that an earlier version does not have counts as empty there.
    """
    columns = tuple(key) or table.columns
    open_rows = dict(enumerate(_identified(table, table.columns, columns)))
    origins: dict[int, Origin] = {}
    steps = 0
    for before in earlier if open_rows else ():
        cells_before = dict(_identified(before, table.columns, columns))
        for at, (identity, cells) in list(open_rows.items()):
            if cells_before.get(identity) != cells:
                beginning = Beginning.CHANGED if identity in cells_before else Beginning.APPEARED
                origins[at] = Origin(steps=steps, beginning=beginning)
                del open_rows[at]
        steps += 1
        if not open_rows:
            break
    since_first = Origin(steps=steps, beginning=Beginning.FIRST)
    return [origins.get(at, since_first) for at in range(len(table.rows))]


def _identified(table: Table, columns: Row, key: Sequence[str]) -> list[tuple[Identity, Row]]:
    """Return each row's identity, with its cells in these columns."""
    places = [table.columns.index(name) if name in table.columns else -1 for name in columns]
    rows = [tuple([row[at] if at >= 0 else "" for at in places]) for row in table.rows]
    key_places = [columns.index(name) for name in key]
    return list(zip(identify(rows, key_places), rows, strict=True))

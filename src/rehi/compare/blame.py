"""Blame: since when each row of a table has looked as it does."""

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
    FIRST = "first"  # it was so in the first version that was looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """For one row: in how many versions before this one it was the same without a break, and how that began."""

    steps: int
    beginning: Beginning


def trace_rows(table: Table, key: Sequence[str], earlier: Iterable[Table]) -> list[Origin]:
    """The origin of each row. ``earlier`` goes back in time, and is read no further than there are rows to explain.

    A column that an earlier version does not have counts as empty there.
    """
    columns = tuple(key) or table.columns
    open_rows = dict(enumerate(_known(table, table.columns, columns)))
    origins: dict[int, Origin] = {}
    steps = 0
    for before in earlier if open_rows else ():
        known = dict(_known(before, table.columns, columns))
        for at, (identity, cells) in list(open_rows.items()):
            if known.get(identity) != cells:
                beginning = Beginning.CHANGED if identity in known else Beginning.APPEARED
                origins[at] = Origin(steps=steps, beginning=beginning)
                del open_rows[at]
        steps += 1
        if not open_rows:
            break
    rest = Origin(steps=steps, beginning=Beginning.FIRST)
    return [origins.get(at, rest) for at in range(len(table.rows))]


def _known(table: Table, columns: Row, key: Sequence[str]) -> list[tuple[Identity, Row]]:
    """Each row's identity with its cells in these columns."""
    places = [table.columns.index(name) if name in table.columns else -1 for name in columns]
    rows = [tuple([row[at] if at >= 0 else "" for at in places]) for row in table.rows]
    keyed = [columns.index(name) for name in key]
    return list(zip(identify(rows, keyed), rows, strict=True))

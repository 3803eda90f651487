"""Sampling: rows of a table of an SQLite catalogue, drawn by lot, and about how many there are.

A lot is a key between the first and the last one, and the rows that follow it; so is every page of a table that holds rows as
likely to be read as another. A small table is read as a whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sqlalchemy import Table

LOTS = 200  # in each table
ROWS = 50  # of each lot


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Where keys of a table follow each other: all of it, or what belongs to one source."""

    where: str
    key: str
    first: int
    last: int

    @property
    def width(self) -> int:
        return self.last - self.first + 1


@dataclass(slots=True)
class TableSample:
    """The rows of one table that are drawn; how many were, and about how many there are, is known at the end."""

    table: Table
    drawn: int = 0
    total: int = 0

    def rows(self, connection: sqlite3.Connection, lot: Random) -> Iterator[Sequence[Any]]:
        """Yield rows of all columns; each lot is read before the next is drawn."""
        stretches = list(_stretches(connection, self.table))
        width = sum(stretch.width for stretch in stretches)
        if width <= LOTS * ROWS:
            for row in connection.execute(f"SELECT {_listed(self.table)} FROM {self.table.name}"):  # noqa: S608
                self.drawn = self.total = self.drawn + 1
                yield row
            return
        read = covered = 0
        widths = [stretch.width for stretch in stretches]
        for stretch in lot.choices(stretches, widths, k=LOTS):
            start = lot.randint(stretch.first, stretch.last)
            query = (
                f"SELECT {stretch.key}, {_listed(self.table)} FROM {self.table.name} WHERE {stretch.where} "  # noqa: S608
                f"{stretch.key} >= ? ORDER BY {stretch.key} LIMIT {ROWS}"
            )
            rows = connection.execute(query, (start,)).fetchall()
            read += len(rows)
            covered += (rows[-1][0] if len(rows) == ROWS else stretch.last) - start + 1
            self.total = max(read, round(width * read / covered))
            for row in rows:
                self.drawn += 1
                yield row[1:]


def _stretches(connection: sqlite3.Connection, table: Table) -> Iterator[_Stretch]:
    key, wheres = "rowid", [""]
    if (
        table.name == "finding"
    ):  # keyed by source and resource: a key of sources alone would only ever draw the first of each
        key = "resource_id"
        wheres = [f"source_id = {row[0]:d} AND" for row in connection.execute("SELECT id FROM source").fetchall()]
    elif not table.dialect_options["sqlite"]["with_rowid"]:
        key = table.columns.keys()[0]
    for where in wheres:
        query = f"SELECT {key} FROM {table.name} WHERE {where} {key} IS NOT NULL ORDER BY {key}"  # noqa: S608
        ends = [connection.execute(f"{query} {order} LIMIT 1").fetchone() for order in ("ASC", "DESC")]
        if ends[0] and ends[1] and all(isinstance(end[0], int) for end in ends):
            yield _Stretch(where, key, ends[0][0], ends[1][0])


def _listed(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)

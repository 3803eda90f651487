"""An insertion: rows that are entered together, and what happens to those that are there already.

SQLite and PostgreSQL understand almost the same words, so that each is written once, when its module is loaded. They go
straight to the driver: through SQLAlchemy, SQLite recorded 2,600 visits per second of CPU, so 4,400. PostgreSQL gets
arrays: one text for any number of rows, which the driver need not parse nor the server plan again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Table

from rehi.engines.sql.arrays import arrays_of
from rehi.engines.sql.columns import kind_of
from rehi.engines.sql.database import chunks
from rehi.engines.sql.driver import ask, run, run_for_each

_KEEP: Mapping[str, str] = {}  # rows that are there stay as they are
_ROWS = 1000  # in one statement; SQLite allows 32,766 values, and no table has more than 16 columns


class Insertion:
    """INSERT for a table's columns; where ``unique`` ones are there already, ``change`` says how, ``new`` being the row."""

    def __init__(
        self,
        table: Table,
        columns: Sequence[str],
        *,
        unique: Sequence[str] = (),
        change: Mapping[str, str] = _KEEP,
        returning: Sequence[str] = (),
    ) -> None:
        names = ", ".join(f'"{name}"' for name in columns)
        self._start = f"INSERT INTO {table.name} ({names})"
        self._values = itemgetter(*columns)
        self._one = f"({', '.join('?' * len(columns))})"
        self._end = f" ON CONFLICT ({', '.join(unique)}) DO " if unique else ""
        if unique and change:
            changes = [f'"{name}" = {value.replace("new.", "excluded.")}' for name, value in change.items()]
            self._end += f"UPDATE SET {', '.join(changes)}"
        elif unique:
            self._end += "NOTHING"
        self._returning = f" RETURNING {', '.join(returning)}" if returning else ""
        self._kinds = tuple(kind_of(table.c[name]) for name in columns)
        arrays = ", ".join(f"%s::{kind}[]" for kind in self._kinds)
        self._from_arrays = f"{self._start} SELECT * FROM unnest({arrays}){self._end}{self._returning}"  # noqa: S608

    def enter(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Enter rows, of which no two are the same by ``unique``, if there are any; what was asked to return."""
        return self.enter_values(connection, list(map(self._values, rows)))

    def enter_values(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The same for rows that are values in the order of the columns."""
        if connection.dialect.name == "sqlite":
            return self._enter_one_by_one(connection, rows)
        found: list[Any] = []
        for part in chunks(rows, _ROWS):
            if self._returning:
                found += ask(connection, self._from_arrays, arrays_of(part, self._kinds))
            else:
                run(connection, self._from_arrays, arrays_of(part, self._kinds))
        return found

    def _enter_one_by_one(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        if not self._returning:
            if rows:
                run_for_each(connection, f"{self._start} VALUES {self._one}{self._end}", rows)
            return []
        found: list[Any] = []
        for part in chunks(rows, _ROWS):
            sql = f"{self._start} VALUES {', '.join([self._one] * len(part))}{self._end}{self._returning}"
            found += ask(connection, sql, tuple(chain.from_iterable(part)), name=self._from_arrays)
        return found


def newest(columns: Sequence[str]) -> dict[str, str]:
    """Changes by which the new row's columns win."""
    return {name: f'new."{name}"' for name in columns}


def larger(table: Table, column: str) -> str:
    """The larger of the old and the new."""
    return f"CASE WHEN new.{column} > {table.name}.{column} THEN new.{column} ELSE {table.name}.{column} END"

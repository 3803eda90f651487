"""An insertion: rows that are entered together, and what happens to those that are there already.

SQLite and PostgreSQL understand almost the same words, so that each is written once, when its module is loaded. They go
straight to the driver: through SQLAlchemy, SQLite recorded 2,600 visits per second of CPU, so 4,400. PostgreSQL gets
arrays: one text for any number of rows, which the driver need not parse nor the server plan again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, Table

from rehi.engines.sql.arrays import arrays_of
from rehi.engines.sql.columns import kind_of
from rehi.engines.sql.database import chunks

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
        self._end = f" ON CONFLICT ({', '.join(unique)}) DO " if unique else ""
        if unique and change:
            changes = [f'"{name}" = {value.replace("new.", "excluded.")}' for name, value in change.items()]
            self._end += f"UPDATE SET {', '.join(changes)}"
        elif unique:
            self._end += "NOTHING"
        self._returning = f" RETURNING {', '.join(returning)}" if returning else ""
        self._kinds = {name: kind_of(table.c[name]) for name in columns}
        arrays = ", ".join(f"%s::{kind}[]" for kind in self._kinds.values())
        self._from_arrays = f"{self._start} SELECT * FROM unnest({arrays}){self._end}{self._returning}"  # noqa: S608

    def enter(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[Row[Any]]:
        """Enter rows, of which no two are the same by ``unique``, if there are any; what was asked to return."""
        if connection.dialect.name == "sqlite":
            return self._enter_by_values(connection, rows)
        found: list[Row[Any]] = []
        for part in chunks(rows, _ROWS):
            entered = connection.exec_driver_sql(self._from_arrays, arrays_of(part, self._kinds))
            found += entered if self._returning else ()
        return found

    def _enter_by_values(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[Row[Any]]:
        one = f"({', '.join('?' * len(self._kinds))})"
        if not self._returning:
            if rows:
                sql = f"{self._start} VALUES {one}{self._end}"
                connection.exec_driver_sql(sql, [self._values(row) for row in rows])
            return []
        found: list[Row[Any]] = []
        for part in chunks(rows, _ROWS):
            sql = f"{self._start} VALUES {', '.join([one] * len(part))}{self._end}{self._returning}"
            found += connection.exec_driver_sql(sql, tuple(value for row in part for value in self._values(row)))
        return found


def newest(columns: Sequence[str]) -> dict[str, str]:
    """Changes by which the new row's columns win."""
    return {name: f'new."{name}"' for name in columns}


def larger(table: Table, column: str) -> str:
    """The larger of the old and the new."""
    return f"CASE WHEN new.{column} > {table.name}.{column} THEN new.{column} ELSE {table.name}.{column} END"

"""A change: rows of one table that are changed together, each in its own way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from rehi.engines.sql.arrays import arrays_of
from rehi.engines.sql.database import chunks

_NEW = re.compile(r"\bnew\.(\w+)")
_ROWS = 5000  # in one statement


class Change:
    """UPDATE for many rows; ``columns`` are the types of what is given, which expressions call ``new.name``.

    PostgreSQL gets all rows in one statement as arrays, SQLite one after the other.
    """

    def __init__(self, table: Table, columns: Mapping[str, str], change: Mapping[str, str], *, where: str) -> None:
        self._kinds = dict(columns)
        changes = ", ".join(f'"{name}" = {value}' for name, value in change.items())
        start = f"UPDATE {table.name} SET {changes}"  # noqa: S608
        self._by_row = _NEW.sub(r":\1", f"{start} WHERE {where}")
        names = ", ".join(f'"{name}"' for name in columns)
        arrays = ", ".join(f"%s::{kind}[]" for kind in columns.values())
        self._together = f"{start} FROM unnest({arrays}) AS new({names}) WHERE {where}"

    def make(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Change rows, of which no two are the same, if there are any."""
        if connection.dialect.name == "sqlite":
            if rows:
                connection.exec_driver_sql(self._by_row, list(rows))
            return
        for part in chunks(rows, _ROWS):
            connection.exec_driver_sql(self._together, arrays_of(part, self._kinds))

"""An UPDATE for rows of one table that are changed together, each in its own way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from rehi.engines.sql.statements.arrays import arrays_of
from rehi.engines.sql.statements.batches import chunks
from rehi.engines.sql.statements.driver import execute, execute_many

_NEW = re.compile(r"\bnew\.(\w+)")
_ROWS = 5000  # in one statement


class BulkUpdate:
    """UPDATE for many rows; ``columns`` are the types of what is given, which expressions call ``new.name``.

    PostgreSQL gets all rows in one statement as arrays, SQLite one after the other.
    """

    def __init__(self, table: Table, columns: Mapping[str, str], change: Mapping[str, str], *, where: str) -> None:
        self._kinds = tuple(columns.values())
        changes = ", ".join(f'"{name}" = {value}' for name, value in change.items())
        start = f"UPDATE {table.name} SET {changes}"  # noqa: S608
        places = {name: f"?{place}" for place, name in enumerate(columns, 1)}
        self._by_row = _NEW.sub(lambda match: places[match[1]], f"{start} WHERE {where}")
        names = ", ".join(f'"{name}"' for name in columns)
        arrays = ", ".join(f"%s::{kind}[]" for kind in self._kinds)
        self._together = f"{start} FROM unnest({arrays}) AS new({names}) WHERE {where}"

    def run(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Change rows, no two of them the same; each is a tuple of values in the order of the columns."""
        if connection.dialect.name == "sqlite":
            if rows:
                execute_many(connection, self._by_row, rows)
            return
        for part in chunks(rows, _ROWS):
            execute(connection, self._together, arrays_of(part, self._kinds))

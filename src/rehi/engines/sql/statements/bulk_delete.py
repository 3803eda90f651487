"""A DELETE for rows that go by many values at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Column, Connection

from rehi.engines.sql.statements.arrays import array_of
from rehi.engines.sql.statements.batches import chunks
from rehi.engines.sql.statements.driver import execute, execute_many
from rehi.engines.sql.tables.columns import kind_of


class BulkDelete:
    """DELETE where ``column`` is one of some values; written once and handed to the driver, as upserts are."""

    def __init__(self, column: Column[Any]) -> None:
        self._kind = kind_of(column)
        start = f"DELETE FROM {column.table.name} WHERE {column.name} = "  # noqa: S608
        self._by_row = start + "?"
        self._by_array = f"{start}ANY(%s::{self._kind}[])"

    def run(self, connection: Connection, values: Iterable[Any]) -> None:
        """Delete the rows of these values, if there are any."""
        for part in chunks(values):
            if connection.dialect.name == "sqlite":
                execute_many(connection, self._by_row, [(value,) for value in part])
            else:
                execute(connection, self._by_array, (array_of(part, self._kind),))

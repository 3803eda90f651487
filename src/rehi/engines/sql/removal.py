"""A removal: rows that are deleted by many values at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Column, Connection

from rehi.engines.sql.arrays import array_of
from rehi.engines.sql.columns import kind_of
from rehi.engines.sql.database import chunks
from rehi.engines.sql.driver import run, run_for_each


class Removal:
    """DELETE where ``column`` is one of some values; written once and handed to the driver, as insertions are."""

    def __init__(self, column: Column[Any]) -> None:
        self._kind = kind_of(column)
        start = f"DELETE FROM {column.table.name} WHERE {column.name} = "  # noqa: S608
        self._by_row = start + "?"
        self._by_array = f"{start}ANY(%s::{self._kind}[])"

    def make(self, connection: Connection, values: Iterable[Any]) -> None:
        """Delete the rows of these values, if there are any."""
        for part in chunks(values):
            if connection.dialect.name == "sqlite":
                run_for_each(connection, self._by_row, [(value,) for value in part])
            else:
                run(connection, self._by_array, (array_of(part, self._kind),))

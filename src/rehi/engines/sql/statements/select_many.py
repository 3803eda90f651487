"""A SELECT for rows that are looked up by many values at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

from rehi.engines.sql.statements.arrays import array_of
from rehi.engines.sql.statements.batches import chunks
from rehi.engines.sql.statements.driver import fetch_all


class SelectMany:
    """SELECT … WHERE ``column`` is one of some values; ``lock`` says how PostgreSQL locks the rows, if at all.

    Written once and handed to the driver, as upserts are.
    """

    def __init__(self, start: str, column: str, kind: str, *, order: str = "", lock: str = "") -> None:
        self._start = f"{start} WHERE {column}"
        self._kind = kind
        self._end = f" ORDER BY {order}" if order else ""
        self._by_array = f"{start} WHERE {column} = ANY(%s::{kind}[]){self._end}{' ' if lock else ''}{lock}"

    def run(self, connection: Connection, values: Iterable[Any]) -> list[Any]:
        """Return the rows of these values, read chunk by chunk."""
        rows: list[Any] = []
        for part in chunks(values):
            if connection.dialect.name == "sqlite":
                # Few lengths, so that SQLite keeps the statement compiled: the last value fills the rest.
                part += part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))
                sql = f"{self._start} IN ({', '.join('?' * len(part))}){self._end}"
                rows += fetch_all(connection, sql, tuple(part), name=self._by_array)
            else:
                rows += fetch_all(connection, self._by_array, (array_of(part, self._kind),))
        return rows

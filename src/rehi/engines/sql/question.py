"""A question: rows that are looked up by many values at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

from rehi.engines.sql.arrays import array_of
from rehi.engines.sql.database import chunks
from rehi.engines.sql.driver import ask


class Question:
    """SELECT … WHERE ``what`` is one of some values; the rows are locked on PostgreSQL if ``lock`` says how.

    Written once and handed to the driver, as insertions are.
    """

    def __init__(self, start: str, what: str, kind: str, *, order: str = "", lock: str = "") -> None:
        self._start = f"{start} WHERE {what}"
        self._kind = kind
        end = f" ORDER BY {order}" if order else ""
        self._end = end
        self._by_array = f"{start} WHERE {what} = ANY(%s::{kind}[]){end}{' ' if lock else ''}{lock}"

    def ask(self, connection: Connection, values: Iterable[Any]) -> list[Any]:
        """The rows of these values, chunk by chunk."""
        rows: list[Any] = []
        for part in chunks(values):
            if connection.dialect.name == "sqlite":
                # Few lengths, so that SQLite keeps the words compiled: the last value fills the rest.
                part += part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))
                sql = f"{self._start} IN ({', '.join('?' * len(part))}){self._end}"
                rows += ask(connection, sql, tuple(part), name=self._by_array)
            else:
                rows += ask(connection, self._by_array, (array_of(part, self._kind),))
        return rows

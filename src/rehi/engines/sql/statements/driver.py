"""The driver: statements that go straight to it, past SQLAlchemy.

For those that are written once and run for every batch. SQLAlchemy spends some 50 µs on each statement and 1 µs on each
value that is looked up in a row, which was half of the time of a batch of visits.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

_row_makers: dict[str, Callable[[Iterable[Any]], Any]] = {}  # by the statement's name


def fetch_all(connection: Connection, sql: str, values: Any = (), *, name: str = "") -> list[Any]:
    """Return a statement's rows, columns by name; ``name`` stands for all statements with the same columns."""
    cursor = connection.connection.driver_connection.execute(sql, values)  # type: ignore[union-attr]
    name = name or sql
    make_row = _row_makers.get(name)
    if make_row is None:
        columns = [column[0] for column in cursor.description]
        make_row = _row_makers[name] = namedtuple("Row", columns, rename=True)._make  # type: ignore[attr-defined]
    return list(map(make_row, cursor.fetchall()))


def execute(connection: Connection, sql: str, values: Any = ()) -> int:
    """Run a statement and return how many rows it changed."""
    count: int = connection.connection.driver_connection.execute(sql, values).rowcount  # type: ignore[union-attr]
    return count


def execute_many(connection: Connection, sql: str, rows: Sequence[Any]) -> None:
    """Run a statement for each row of values; PostgreSQL gets them in one round trip."""
    connection.connection.driver_connection.cursor().executemany(sql, rows)  # type: ignore[union-attr]

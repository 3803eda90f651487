"""The driver: statements that go straight to it, past SQLAlchemy.

For those that are written once and run for every batch. SQLAlchemy spends some 50 µs on each statement and 1 µs on each
value that is looked up in a row, which was half of the time of a batch of visits.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

_shapes: dict[str, Callable[[Iterable[Any]], Any]] = {}  # what makes a row, by the statement's name


def ask(connection: Connection, sql: str, values: Any = (), *, name: str = "") -> list[Any]:
    """The rows of a statement, their columns by name; ``name`` stands for statements that give the same columns."""
    cursor = connection.connection.driver_connection.execute(sql, values)  # type: ignore[union-attr]
    name = name or sql
    shape = _shapes.get(name)
    if shape is None:
        columns = [column[0] for column in cursor.description]
        shape = _shapes[name] = namedtuple("Row", columns, rename=True)._make  # type: ignore[attr-defined]
    return list(map(shape, cursor.fetchall()))


def run(connection: Connection, sql: str, values: Any = ()) -> int:
    """Run a statement; how many rows it changed."""
    count: int = connection.connection.driver_connection.execute(sql, values).rowcount  # type: ignore[union-attr]
    return count


def run_for_each(connection: Connection, sql: str, rows: Sequence[Any]) -> None:
    """Run a statement for each row of values; PostgreSQL gets them in one round trip."""
    connection.connection.driver_connection.cursor().executemany(sql, rows)  # type: ignore[union-attr]

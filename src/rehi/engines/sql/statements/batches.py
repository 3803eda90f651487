"""Batches: statements that are run for many values, a chunk or a row at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection

from rehi.engines.sql.statements.driver import execute_many

R = TypeVar("R")

_CHUNK = 2000  # values in one IN list; SQLite allows 32,766


def chunks(values: Iterable[R], size: int = _CHUNK) -> Iterator[list[R]]:
    """The values in lists that fit into one statement."""
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk


def select_in_chunks(connection: Connection, values: Iterable[R], query: Callable[[list[R]], Any]) -> list[Any]:
    """Return the rows of a query that is run for each chunk of values."""
    rows: list[Any] = []
    for chunk in chunks(values):
        rows.extend(connection.execute(query(chunk)))
    return rows


# By database and statement, which is kept so that its id is not given to another.
_ready: dict[tuple[str, int], tuple[Any, str, Callable[[dict[str, Any]], Any]]] = {}


def execute_for_each(connection: Connection, statement: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Run a statement of a module for each row, if there are any; PostgreSQL gets them in one round trip.

    Compiled once and handed to the driver, as upserts are.
    """
    if not rows:
        return
    name = connection.dialect.name, id(statement)
    if name not in _ready:
        compiled = statement.compile(dialect=connection.dialect, column_keys=list(rows[0]))
        _ready[name] = statement, str(compiled), _values_for(compiled.positiontup)
    _, sql, values = _ready[name]
    execute_many(connection, sql, [values(row) for row in rows])


def _values_for(order: Sequence[str] | None) -> Callable[[dict[str, Any]], Any]:
    if order is None:
        return dict  # the driver takes values by name
    names = tuple(order)
    return lambda row: tuple([row[name] for name in names])

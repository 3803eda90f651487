"""The driver: statements that go straight to it, past SQLAlchemy, and values in the portions that it takes.

For those that are written once and run for every batch. SQLAlchemy spends some 50 µs on each statement and 1 µs on each
value that is looked up in a row, which was half of the time of a batch of visits.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection

R = TypeVar("R")

_CHUNK = 2000  # values in one IN list; SQLite allows 32,766
_NUMBERS = frozenset(("bigint", "float8", "integer", "smallint"))

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


def arrays_of(rows: Sequence[tuple[Any, ...]], kinds: Sequence[str]) -> tuple[Any, ...]:
    """Return rows as one array for each column."""
    return tuple(map(array_of, zip(*rows, strict=True), kinds))


def array_of(values: Iterable[Any], kind: str) -> Any:
    """Return values as the driver takes an array. Numbers are written here: the driver looks at each several times."""
    if kind not in _NUMBERS:
        return list(values)
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def chunks(values: Iterable[R], size: int = _CHUNK) -> Iterator[list[R]]:
    """Yield the values in lists that fit into one statement."""
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

"""Statements written once and run for many rows through the driver: SelectMany, Upsert, BulkUpdate and their kin.

SQLite and PostgreSQL understand almost the same words. PostgreSQL gets arrays: one text for any number of rows, which the
driver need not parse nor the server plan again. SQLAlchemy spends some 50 µs on each statement and 1 µs on each value that
is looked up in a row: through it, SQLite recorded 2,600 visits per second of CPU, so 4,400.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Table

from rehi.engines.sql.statements.values import HEAD, INDEXED_URL, tail_of
from rehi.engines.sql.tables.columns import kind_of

R = TypeVar("R")

_KEEP: Mapping[str, str] = {}  # rows that are there stay as they are
_NEW = re.compile(r"\bnew\.(\w+)")
_ROWS = 1000  # in one INSERT; SQLite allows 32,766 values, and no table has more than 16 columns
_UPDATED = 5000  # rows in one UPDATE
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


def arrays_of(rows: Sequence[tuple[Any, ...]], kinds: Sequence[str]) -> tuple[str, ...]:
    """Return rows as one array for each column."""
    return tuple(map(array_of, zip(*rows, strict=True), kinds))


def array_of(values: Iterable[Any], kind: str) -> str:
    """Return values as the driver takes an array, written here: the driver looks at each value several times."""
    if kind in _NUMBERS:
        written = ["NULL" if value is None else str(value) for value in values]
    elif kind == "text":
        written = ["NULL" if value is None else _quote(value) for value in values]
    else:  # bytea
        written = ["NULL" if value is None else f'"\\\\x{value.hex()}"' for value in values]
    return "{" + ",".join(written) + "}"


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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
        """Run the statement for these values, chunk by chunk, and return its rows."""
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


class SelectByUrl:
    """SELECT … WHERE a resource has one of some URLs, in the order of ids; each database asks by its index of URLs."""

    def __init__(self, start: str, *, lock: str = "") -> None:
        self._by_url = SelectMany(start, "resource.url", "text", order="resource.id")
        self._by_index = SelectMany(start, INDEXED_URL, "text", order="resource.id", lock=lock)

    def run(self, connection: Connection, urls: Iterable[str]) -> list[Any]:
        """Run the statement for these URLs, and return its rows."""
        if connection.dialect.name == "sqlite":
            return self._by_url.run(connection, urls)
        return self._by_index.run(connection, [url[:HEAD] + tail_of(url) for url in urls])


class Upsert:
    """INSERT of rows; where one has the same ``unique`` columns, ``change`` says how it changes by ``new``."""

    def __init__(
        self,
        table: Table,
        columns: Sequence[str],
        *,
        unique: Sequence[str] = (),
        change: Mapping[str, str] = _KEEP,
        returning: Sequence[str] = (),
    ) -> None:
        names = ", ".join(f'"{name}"' for name in columns)
        self._start = f"INSERT INTO {table.name} ({names})"
        self._one = f"({', '.join('?' * len(columns))})"
        self._end = f" ON CONFLICT ({', '.join(unique)}) DO " if unique else ""
        if unique and change:
            changes = [f'"{name}" = {value.replace("new.", "excluded.")}' for name, value in change.items()]
            self._end += f"UPDATE SET {', '.join(changes)}"
        elif unique:
            self._end += "NOTHING"
        self._returning = f" RETURNING {', '.join(returning)}" if returning else ""
        self._kinds = tuple(kind_of(table.c[name]) for name in columns)
        arrays = ", ".join(f"%s::{kind}[]" for kind in self._kinds)
        self._from_arrays = f"{self._start} SELECT * FROM unnest({arrays}){self._end}{self._returning}"  # noqa: S608

    def run(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Enter rows of values in the order of the columns, no two alike by ``unique``; return what was asked for."""
        on_sqlite = connection.dialect.name == "sqlite"
        if on_sqlite and not self._returning:
            if rows:
                execute_many(connection, f"{self._start} VALUES {self._one}{self._end}", rows)
            return []
        returned: list[Any] = []
        for part in chunks(rows, _ROWS):
            if on_sqlite:
                sql = f"{self._start} VALUES {', '.join([self._one] * len(part))}{self._end}{self._returning}"
                returned += fetch_all(connection, sql, tuple(chain.from_iterable(part)), name=self._from_arrays)
            elif self._returning:
                returned += fetch_all(connection, self._from_arrays, arrays_of(part, self._kinds))
            else:
                execute(connection, self._from_arrays, arrays_of(part, self._kinds))
        return returned


def newest(columns: Sequence[str]) -> dict[str, str]:
    """Return changes by which the new row's columns win."""
    return {name: f'new."{name}"' for name in columns}


def larger(table: Table, column: str) -> str:
    """Return an expression for the larger of the old and the new value."""
    return f"CASE WHEN new.{column} > {table.name}.{column} THEN new.{column} ELSE {table.name}.{column} END"


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
        for part in chunks(rows, _UPDATED):
            execute(connection, self._together, arrays_of(part, self._kinds))


class BulkDelete:
    """DELETE where ``column`` is one of some values; written once and handed to the driver, as upserts are."""

    def __init__(self, column: Column[Any]) -> None:
        self._kind = kind_of(column)
        start = f"DELETE FROM {column.table.name} WHERE {column.name} = "  # noqa: S608
        self._by_row = start + "?"
        self._by_array = f"{start}ANY(%s::{self._kind}[])"

    def run(self, connection: Connection, values: Iterable[Any]) -> None:
        """Delete the rows that have one of these values."""
        for part in chunks(values):
            if connection.dialect.name == "sqlite":
                execute_many(connection, self._by_row, [(value,) for value in part])
            else:
                execute(connection, self._by_array, (array_of(part, self._kind),))

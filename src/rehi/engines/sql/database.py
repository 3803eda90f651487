"""A database: transactions that succeed, are tried again, or end with one clear sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from rehi.engines.sql.dialect import Dialect
from rehi.engines.sql.driver import run_for_each

T = TypeVar("T")
R = TypeVar("R")

_ATTEMPTS = 6  # deadlocks between two batches resolve at the second
_HOSTS = 200_000  # some 40 MB
_CHUNK = 2000  # values in one IN list; SQLite allows 32,766


class Database:
    """Where the catalogue's tables are. Safe for use from several threads."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.slot = os.getpid() % dialect.slots
        self.hosts: dict[str, int] = {}
        self._engine = dialect.engine()
        self._errors: tuple[type[Exception], ...] = (SQLAlchemyError, *dialect.foreign())
        self._writers = self._engine.execution_options(rehi_write=True)

    def remember_hosts(self, hosts: Mapping[str, int]) -> None:
        """Keep the ids of origins at hand: a log names the same hosts in every batch, and none is ever deleted."""
        if len(self.hosts) > _HOSTS:
            self.hosts.clear()
        self.hosts.update(hosts)

    def write(self, work: Callable[[Connection], T], *, urgent: bool = False, lasting: bool = True) -> T:
        """Run work in one transaction: all of it is on disk for good afterwards, or none.

        Where writers take turns, urgent work passes what others have to do. What need not outlast a power cut of the
        machine on which all workers are is not ``lasting``; on a server everything is.
        """
        attempt = 1
        while True:
            try:
                with self.dialect.turn(urgent=urgent), self._writers.begin() as connection:
                    result = work(connection)
            except self._errors as error:
                if attempt < _ATTEMPTS and self.dialect.may_retry(error):
                    attempt += 1
                    continue
                raise self.dialect.error(error) from error
            self.dialect.written(lasting=lasting)
            return result

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that changes nothing."""
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except self._errors as error:
            raise self.dialect.error(error) from error

    def close(self) -> None:
        """Give the connections back."""
        self.dialect.close()
        self._engine.dispose()


def chunks(values: Iterable[R], size: int = _CHUNK) -> Iterator[list[R]]:
    """The values in lists that fit into one statement."""
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk


def gather(connection: Connection, values: Iterable[R], ask: Callable[[list[R]], Any]) -> list[Any]:
    """The rows of a question that is asked chunk by chunk."""
    rows: list[Any] = []
    for chunk in chunks(values):
        rows.extend(connection.execute(ask(chunk)))
    return rows


# By database and statement, which is kept so that its id is not given to another.
_ready: dict[tuple[str, int], tuple[Any, str, Callable[[dict[str, Any]], Any]]] = {}


def run_many(connection: Connection, statement: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Run a statement of a module for each row, if there are any; PostgreSQL gets them in one round trip.

    Compiled once and handed to the driver, as insertions are.
    """
    if not rows:
        return
    name = connection.dialect.name, id(statement)
    if name not in _ready:
        compiled = statement.compile(dialect=connection.dialect, column_keys=list(rows[0]))
        _ready[name] = statement, str(compiled), _values_for(compiled.positiontup)
    _, sql, values = _ready[name]
    run_for_each(connection, sql, [values(row) for row in rows])


def _values_for(order: Sequence[str] | None) -> Callable[[dict[str, Any]], Any]:
    if order is None:
        return dict  # the driver takes values by name
    names = tuple(order)
    return lambda row: tuple([row[name] for name in names])

"""A database: transactions that succeed, are tried again, or end with one clear sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from rehi.engines.sql.dialects.dialect import Dialect

P = ParamSpec("P")
T = TypeVar("T")

_ATTEMPTS = 6  # deadlocks between two batches resolve at the second
_HOSTS = 200_000  # some 40 MB


class Database:
    """The database that holds the catalogue's tables. Safe for use from several threads."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.slot = os.getpid() % dialect.slots
        self.hosts: dict[str, int] = {}
        self._engine = dialect.engine()
        self._errors: tuple[type[Exception], ...] = (SQLAlchemyError, *dialect.foreign)
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

    @contextmanager
    def reading(self, *, snapshot: bool = False) -> Iterator[Connection]:
        """Give a transaction for reading; as a ``snapshot``, it does not see what others write meanwhile."""
        engine = self._engine.execution_options(**self.dialect.snapshot) if snapshot else self._engine
        try:
            with engine.begin() as connection:
                yield connection
        except self._errors as error:
            raise self.dialect.error(error) from error

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a single query or a function that changes nothing."""
        with self.reading() as connection:
            return work(connection)

    def close(self) -> None:
        """Close all connections."""
        self.dialect.close()
        self._engine.dispose()


class _OnDatabase(Protocol):
    """A class with a database, as every port on SQL is."""

    database: Database


S = TypeVar("S", bound=_OnDatabase)


def transaction(method: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a port's method run in one writing transaction, with its connection; ``Database.write`` may repeat it."""

    @wraps(method)
    def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.database.write(lambda connection: method(self, connection, *args, **kwargs))

    return run

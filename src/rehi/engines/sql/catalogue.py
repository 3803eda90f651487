"""The catalogue: all its ports on one SQL database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime

from sqlalchemy import make_url, text
from sqlalchemy.exc import ArgumentError

from rehi.engines.sql.database import Database
from rehi.engines.sql.dialects.dialect import Dialect
from rehi.engines.sql.dump import dump, load_dump
from rehi.engines.sql.frontier.port import SqlFrontier
from rehi.engines.sql.generation.port import SqlGeneration
from rehi.engines.sql.index.port import SqlIndex
from rehi.engines.sql.knowledge.port import SqlKnowledge
from rehi.engines.sql.ledger.port import SqlLedger
from rehi.engines.sql.migrations import upgrade
from rehi.engines.sql.outbox.port import SqlOutbox
from rehi.engines.sql.retention.port import SqlRetention
from rehi.engines.sql.sources.port import SqlSources
from rehi.engines.sql.workers.port import SqlWorkers
from rehi.errors import CatalogueAway, EngineError
from rehi.ports.catalogue import DumpedFiles


class SqlCatalogue(
    SqlSources, SqlFrontier, SqlLedger, SqlRetention, SqlOutbox, SqlKnowledge, SqlGeneration, SqlWorkers, SqlIndex
):
    """Implements the port Catalogue on SQL. Safe for use from several threads; each process opens its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.close = database.close  # ends all connections

    def clock(self) -> datetime:
        """Return the time by the engine's own clock, which all workers share."""
        return self.database.read(self.database.dialect.clock)

    def check(self) -> str:
        """Return one line on the engine: its name and version. EngineError if it does not answer."""
        dialect = self.database.dialect
        ask = "SELECT sqlite_version()" if dialect.slots == 1 else "SHOW server_version"
        version = self.database.read(lambda connection: connection.execute(text(ask)).scalar_one())
        return f"{dialect.name} {version} at {dialect.where()}"

    def dump(self) -> AbstractContextManager[Iterator[tuple[str, Iterator[bytes]]]]:
        """Dump all that is known at this moment as files, in pieces that stay the same where nothing has changed."""
        return dump(self.database)

    def load_dump(self, files: DumpedFiles) -> None:
        """Load a dump of this version or an older one; EngineError if the catalogue is not empty."""
        load_dump(self.database, files)
        self.database.hosts.clear()


def open_catalogue(uri: str) -> SqlCatalogue:
    """Return the catalogue at ``sqlite:///path`` or ``postgresql://…``; made if it is not there, upgraded if it is older.

    CatalogueAway if it is sure to be no mistake in the address, such as a server that is starting; else EngineError.
    """
    database = Database(_dialect_of(uri))
    try:
        upgrade(database)
    except CatalogueAway as error:
        database.close()
        if error.__cause__ is not None and database.dialect.may_open_later(error.__cause__):
            raise
        raise EngineError(str(error)) from error
    except BaseException:
        database.close()
        raise
    return SqlCatalogue(database)


def _dialect_of(uri: str) -> Dialect:
    try:
        url = make_url(uri)
    except (ArgumentError, ValueError) as error:
        raise EngineError("the catalogue's address is not one: it must be sqlite:///path or postgresql://…") from error
    if url.drivername == "sqlite":
        from rehi.engines.sql.dialects.sqlite import SqliteDialect

        return SqliteDialect(url)
    if url.drivername == "postgresql":
        from rehi.engines.sql.dialects.postgres import PostgresDialect

        return PostgresDialect(url)
    raise EngineError(
        f"the catalogue can't be on {url.drivername}: its address must be sqlite:///path or postgresql://…"
    )

"""The dump: all rows of the catalogue as JSON lines, with the tables as they are made on each database.

It is the same for SQLite and PostgreSQL, so that what one has dumped the other can load. The tables come with it, since those
of today may be others than those of the dump: what is older is loaded as it was, and brought up to date after that. Rows are
cut into pieces at keys, so that the pieces without a change are the same in the next dump. A dump of 400,000 rows takes 1.0 s of
CPU.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, create_mock_engine, inspect, select

from rehi.engines.sql.database import Database
from rehi.engines.sql.dialects.dialect import Guarded
from rehi.engines.sql.migrations import NEWEST, schema_version, upgrade
from rehi.engines.sql.tables import host, meta, metadata, source
from rehi.errors import EngineError, StoreVersionError
from rehi.model.pieces import cut_lines, join_lines
from rehi.ports.catalogue import DumpedFiles

SCHEMA = "schema.json"
_SUFFIX = ".jsonl"
_EVERY = 4096  # rows in a piece
_FETCHED = 2000  # rows at a time
_BYTES = "base64"  # marks bytes, which JSON does not have
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MAKES = re.compile(r"CREATE (?:TABLE|(?:UNIQUE )?INDEX) [^;]*")
_TABLE = "CREATE TABLE "
_DATABASES = {"SQLite": "sqlite://", "PostgreSQL": "postgresql+psycopg://"}


@contextmanager
def dump(database: Database) -> Iterator[Iterator[tuple[str, Iterator[bytes]]]]:
    """Give the files of a dump, all from one moment; each is read before the next is asked for."""
    with database.reading(snapshot=True) as connection:
        version = schema_version(connection, database)  # the moment: here the transaction reads for the first time
        yield _files(connection, version)


def _files(connection: Connection, version: int) -> Iterator[tuple[str, Iterator[bytes]]]:
    tables = metadata.sorted_tables
    made = {name: _statements(uri) for name, uri in _DATABASES.items()}
    schema = {
        "version": version,
        "tables": {table.name: _columns(table) for table in tables},
        "make": {name: [one for one in words if one.startswith(_TABLE)] for name, words in made.items()},
        "index": {name: sorted(one for one in words if not one.startswith(_TABLE)) for name, words in made.items()},
    }
    yield SCHEMA, iter([json.dumps(schema, indent=1).encode()])
    for table in tables:
        yield f"{table.name}{_SUFFIX}", cut_lines(_lines(connection, table), every=_EVERY)


def _statements(uri: str) -> list[str]:
    """Return the statements by which a database makes the tables of today and their indexes."""
    made: list[Any] = []
    engine = create_mock_engine(uri, lambda statement, *_, **__: made.append(statement))
    metadata.create_all(engine, checkfirst=False)
    return [str(statement.compile(dialect=engine.dialect)).strip() for statement in made]


def _columns(table: Table) -> list[str]:
    """Return the names of the columns, those of the key first."""
    keys = [column.name for column in table.primary_key.columns]
    return keys + [column.name for column in table.columns if column.name not in keys]


def _lines(connection: Connection, table: Table) -> Iterator[tuple[bytes, bytes]]:
    import orjson

    keys = len(table.primary_key.columns)
    query = select(*(table.c[name] for name in _columns(table))).order_by(*table.primary_key.columns)
    rows = connection.execute(query, execution_options={"yield_per": _FETCHED})
    for row in rows:
        values = tuple(row)
        yield orjson.dumps(values[:keys], default=_mark), orjson.dumps(values, default=_mark) + b"\n"


def _mark(value: object) -> dict[str, str]:
    if isinstance(value, bytes | memoryview):
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    raise TypeError(f"{type(value).__name__} can't be dumped")


def load_dump(database: Database, files: DumpedFiles) -> None:
    """Load a dump into a database that holds nothing yet, in one transaction, and bring it up to date."""
    rest = iter(files)
    schema = _schema(next(rest, ("", ())), database.dialect.name)
    if schema.version > NEWEST:
        raise StoreVersionError(
            f"the dump has version {schema.version}, but this rehi knows only versions up to {NEWEST}: upgrade rehi"
        )

    def work(connection: Connection) -> None:
        database.dialect.guard(connection, Guarded.SCHEMA)
        _check_empty(connection, database)
        metadata.drop_all(connection)
        for statement in schema.make:
            connection.exec_driver_sql(statement)
        for name, pieces in rest:
            table = name.removesuffix(_SUFFIX)
            if table not in schema.tables:
                raise EngineError(f"the dump has rows of {table!r}, but no such table")
            database.dialect.load_rows(connection, table, schema.tables[table], _rows(pieces))
        for statement in schema.index:
            connection.exec_driver_sql(statement)

    database.write(work)
    upgrade(database)


@dataclass(frozen=True, slots=True)
class DumpedSchema:
    """The tables of a dump: their version and columns, and how one database makes them and their indexes."""

    version: int
    tables: Mapping[str, Sequence[str]]
    make: Sequence[str]
    index: Sequence[str]


def _schema(first: tuple[str, Iterable[bytes]], database: str) -> DumpedSchema:
    """Return the schema of a dump; EngineError if it would do anything else than make tables and indexes."""
    try:
        if first[0] != SCHEMA:
            raise ValueError("the schema comes first")
        read = json.loads(b"".join(first[1]))
        schema = DumpedSchema(int(read["version"]), read["tables"], read["make"][database], read["index"][database])
        names = [name for table, columns in schema.tables.items() for name in (table, *columns)]
        if not all(map(_NAME.fullmatch, names)) or not all(map(_MAKES.fullmatch, (*schema.make, *schema.index))):
            raise ValueError("it does something else")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineError(f"this is no dump of a catalogue that {database} can load: look at its {SCHEMA}") from error
    return schema


def _check_empty(connection: Connection, database: Database) -> None:
    tables = set(inspect(connection).get_table_names())
    for table in (host, source):
        if table.name in tables and connection.execute(select(table.c.id).limit(1)).first() is not None:
            raise EngineError(f"the catalogue {database.dialect.where()} is not empty: name an empty database")
    foreign = sorted(tables - set(metadata.tables))
    if foreign and meta.name not in tables:
        raise EngineError(
            f"the database {database.dialect.where()} holds something else ({foreign[0]}): name an empty one"
        )


def _rows(pieces: Iterable[bytes]) -> Iterator[list[Any]]:
    import orjson

    for line in join_lines(pieces):
        yield [base64.b64decode(value[_BYTES]) if isinstance(value, dict) else value for value in orjson.loads(line)]

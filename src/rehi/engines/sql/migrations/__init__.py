"""Migrations: the ordered steps that bring an older catalogue to today's schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, insert, inspect, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.dialects.dialect import Guarded
from rehi.engines.sql.migrations.step2 import visits
from rehi.engines.sql.migrations.step3 import retention
from rehi.engines.sql.migrations.step4 import readings
from rehi.engines.sql.migrations.step5 import findings
from rehi.engines.sql.migrations.step6 import tables
from rehi.engines.sql.migrations.step7 import counts
from rehi.engines.sql.migrations.step8 import senses
from rehi.engines.sql.tables import meta, metadata
from rehi.errors import EngineError, StoreVersionError

Step = Callable[[Connection], None]

_FIRST = 1
_ROW = "schema"

# The first step leads from version 1 to version 2, and so on. A step speaks plain SQL that holds for both databases and
# never uses the tables of today, which move on.
STEPS: tuple[Step, ...] = (visits, retention, readings, findings, tables, counts, senses)
NEWEST = _FIRST + len(STEPS)  # the newest version of the schema that is known


def upgrade(database: Database, steps: Sequence[Step] = STEPS) -> int:
    """Make the tables, or bring older ones up to date, in one transaction; return the version of the schema."""
    wanted = _FIRST + len(steps)
    if database.read(lambda connection: _version_if_any(connection, database, wanted)) == wanted:
        return wanted

    def work(connection: Connection) -> int:
        database.dialect.guard(connection, Guarded.SCHEMA)
        version = _version_if_any(connection, database, wanted)
        if version is None:
            taken = sorted(set(inspect(connection).get_table_names()) & set(metadata.tables))
            if taken:
                raise EngineError(
                    f"the catalogue {database.dialect.where()} has tables of something else ({', '.join(taken)}): "
                    "give rehi a database of its own"
                )
            metadata.create_all(connection, checkfirst=False)
            connection.execute(insert(meta).values(name=_ROW, value=str(NEWEST)))
            version = NEWEST
        for step in steps[version - _FIRST :]:
            step(connection)
        connection.execute(update(meta).where(meta.c.name == _ROW).values(value=str(wanted)))
        return wanted

    return database.write(work)


def schema_version(connection: Connection, database: Database) -> int:
    """Return the version that the tables have."""
    return _version_if_any(connection, database, NEWEST) or 0


def _version_if_any(connection: Connection, database: Database, wanted: int) -> int | None:
    if not inspect(connection).has_table(meta.name):
        return None
    value = connection.execute(select(meta.c.value).where(meta.c.name == _ROW)).scalar()
    if value is None or not value.isdecimal():
        raise EngineError(
            f"the catalogue {database.dialect.where()} does not say its version: it is not rehi's, or damaged"
        )
    if int(value) > wanted:
        raise StoreVersionError(
            f"the catalogue {database.dialect.where()} has version {value}, "
            f"but this rehi knows only versions up to {wanted}: upgrade rehi"
        )
    return int(value)

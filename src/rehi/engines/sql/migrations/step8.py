"""The step from version 7 to version 8: several entities of one kind and name, and what authorities call them."""

from __future__ import annotations

from sqlalchemy import Connection

# Whatever there was is the first of its name, and keeps its key.
_STEPS = (
    "ALTER TABLE entity ADD COLUMN sense BIGINT DEFAULT '1' NOT NULL",
    "CREATE INDEX entity_sense ON entity (slug, kind) WHERE sense > 1",
    """CREATE TABLE identifier (entity_id {id} NOT NULL REFERENCES entity (id), "key" {bytes} NOT NULL, iri TEXT NOT NULL,
        score {float} DEFAULT '1' NOT NULL, PRIMARY KEY (entity_id, "key")) {norowid}""",
    'CREATE INDEX identifier_key ON identifier ("key")',
)
_SQLITE = {"id": "INTEGER", "bytes": "BLOB", "float": "FLOAT", "norowid": "WITHOUT ROWID"}
_POSTGRES = {"id": "BIGINT", "bytes": "BYTEA", "float": "FLOAT(53)", "norowid": ""}


def senses(connection: Connection) -> None:
    """Give every entity its place among those of its name, and make room for their identifiers."""
    kinds = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES
    for statement in _STEPS:
        connection.exec_driver_sql(statement.format_map(kinds))

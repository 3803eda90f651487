"""The step that adds the tables in documents, and counts documents by what has read them."""

from __future__ import annotations

from sqlalchemy import Connection

_TABLES = """CREATE TABLE table_shape (reading_id {id} NOT NULL REFERENCES reading (id), number INTEGER NOT NULL,
    column_count BIGINT DEFAULT '0' NOT NULL, row_count BIGINT DEFAULT '0' NOT NULL, data {bytes} NOT NULL,
    PRIMARY KEY (reading_id, number)) {norowid}"""
# Source 0 is the whole house, and every sum is over all slots.
_RECIPES = """INSERT INTO tally (source_id, what, slot, n)
    SELECT 0, 'recipe:' || reading.recipe, 0, count(*)
    FROM document JOIN reading ON reading.id = document.reading_id GROUP BY reading.recipe"""
_SQLITE = {"id": "INTEGER", "bytes": "BLOB", "norowid": "WITHOUT ROWID"}
_POSTGRES = {"id": "BIGINT", "bytes": "BYTEA", "norowid": ""}


def tables(connection: Connection) -> None:
    """Make the table of tables, and count documents by recipe."""
    kinds = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES
    for statement in (_TABLES, _RECIPES):
        connection.exec_driver_sql(statement.format_map(kinds))

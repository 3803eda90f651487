"""The step from version 4 to version 5: resources of many sources, cursors, and what a source waits for.

What a source has read so far is its cursor from now on, in decimal digits: the kinds of before read it so.
"""

from __future__ import annotations

from sqlalchemy import Connection

_STEPS = (
    "ALTER TABLE source ADD COLUMN cursor {bytes}",
    "UPDATE source SET cursor = {digits} WHERE position > 0",
    "ALTER TABLE source DROP COLUMN position",
    "ALTER TABLE source ADD COLUMN share {float} DEFAULT '0' NOT NULL",
    "UPDATE source SET share = 1 WHERE state = 'done'",
    "ALTER TABLE source ADD COLUMN worker TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE source ADD COLUMN began_at BIGINT",
    "ALTER TABLE source ADD COLUMN awaits {id}",
    "ALTER TABLE source ADD COLUMN asked_at BIGINT DEFAULT '0' NOT NULL",
    "ALTER TABLE source ADD COLUMN follow TEXT DEFAULT '' NOT NULL",
    "CREATE INDEX source_awaits ON source (awaits) WHERE awaits IS NOT NULL",
    # A page lies where it is called; before, only files had a location. Its key stays, so that it is the same source.
    "UPDATE source SET location = name WHERE kind = 'page'",
    # What was being read goes on. Whose file it is nobody knew: it is taken up by the first worker that comes and has it.
    "INSERT INTO outbox (kind, subject) SELECT 'discover', id FROM source WHERE state = 'reading' AND substr(location, 1, 4) = 'http'",
    """CREATE TABLE finding (source_id {id} NOT NULL, resource_id {id} NOT NULL, first_at BIGINT DEFAULT '0' NOT NULL,
        last_at BIGINT DEFAULT '0' NOT NULL, depth BIGINT DEFAULT '0' NOT NULL, origin_id {id},
        claims TEXT DEFAULT '' NOT NULL, PRIMARY KEY (source_id, resource_id)) {norowid}""",
    """INSERT INTO finding (source_id, resource_id, first_at, last_at)
        SELECT source.id, resource.id, source.added_at, source.added_at
        FROM resource JOIN source ON source.id = resource.source_id ORDER BY source.id, resource.id""",
    "CREATE INDEX finding_resource ON finding (resource_id, source_id)",
    "ALTER TABLE resource DROP COLUMN promised",
)
_SQLITE = {
    "id": "INTEGER", "bytes": "BLOB", "float": "FLOAT", "norowid": "WITHOUT ROWID",
    "digits": "CAST(CAST(position AS TEXT) AS BLOB)",
}  # fmt: skip
_POSTGRES = {
    "id": "BIGINT", "bytes": "BYTEA", "float": "FLOAT(53)", "norowid": "",
    "digits": "convert_to(CAST(position AS TEXT), 'UTF8')",
}  # fmt: skip


def findings(connection: Connection) -> None:
    """Give every resource its source's finding, and every source a cursor."""
    kinds = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES
    for statement in _STEPS:
        connection.exec_driver_sql(statement.format_map(kinds))

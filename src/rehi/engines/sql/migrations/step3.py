"""The step from version 2 to version 3: what is dropped and by which rule, and indexes for histories and problems."""

from __future__ import annotations

from sqlalchemy import Connection

_COLUMNS = """
    source keep TEXT DEFAULT '' NOT NULL
    blob dropped_at BIGINT
    blob dropped_by TEXT DEFAULT '' NOT NULL
    robots failing_since BIGINT
"""
_INDEXES = (
    "CREATE INDEX version_taken ON version (resource_id, taken_at)",
    "CREATE INDEX version_blob ON version (blob_id)",
    'CREATE INDEX blob_file ON blob (file_id, "offset")',
    "CREATE INDEX blob_dropped ON blob (dropped_at) WHERE dropped_at IS NOT NULL",
    "CREATE INDEX problem_code ON problem (stage, code, last_at, id)",
)
_HOLDING = """CREATE TABLE holding (host_id {id} NOT NULL, media_type TEXT NOT NULL, versions BIGINT DEFAULT '0' NOT NULL,
    bodies BIGINT DEFAULT '0' NOT NULL, logical BIGINT DEFAULT '0' NOT NULL, distinct_bytes BIGINT DEFAULT '0' NOT NULL,
    stored BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (host_id, media_type)) {norowid}"""
_COUNTS = (
    """
    INSERT INTO holding (host_id, media_type, versions, logical, stored)
    SELECT resource.host_id, {type}, count(*), sum(blob.size), sum(version.length)
    FROM version JOIN blob ON blob.id = version.blob_id JOIN resource ON resource.id = version.resource_id
    WHERE blob.dropped_at IS NULL GROUP BY 1, 2
    """,
    # The version that the bytes came with is the one at whose place they lie, or else the first that has them.
    """
    INSERT INTO holding (host_id, media_type, bodies, distinct_bytes)
    SELECT resource.host_id, {type}, count(*), sum(owner.size)
    FROM (
        SELECT blob.size, coalesce(min(CASE WHEN v.file_id = blob.file_id AND v."offset" = blob."offset" THEN v.id END),
            min(v.id)) AS id
        FROM blob JOIN version v ON v.blob_id = blob.id WHERE blob.dropped_at IS NULL GROUP BY blob.id, blob.size
    ) owner CROSS JOIN version JOIN resource ON resource.id = version.resource_id
    WHERE version.id = owner.id GROUP BY 1, 2
    ON CONFLICT (host_id, media_type) DO UPDATE
    SET bodies = holding.bodies + excluded.bodies, distinct_bytes = holding.distinct_bytes + excluded.distinct_bytes
    """,
)
_SQLITE = {
    "id": "INTEGER",
    "norowid": "WITHOUT ROWID",
    "type": """substr(lower(trim(CASE WHEN instr(version.media_type, ';') > 0
        THEN substr(version.media_type, 1, instr(version.media_type, ';') - 1) ELSE version.media_type END)), 1, 100)""",
}
_POSTGRES = {
    "id": "BIGINT",
    "norowid": "",
    "type": """substr(lower(trim(split_part(version.media_type, ';', 1)) COLLATE "C"), 1, 100)""",
}


def retention(connection: Connection) -> None:
    """Add the columns, the indexes and the table of holdings, with what is there by now."""
    kinds = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRES
    for line in _COLUMNS.strip().splitlines():
        table, column = line.split(maxsplit=1)
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column}")
    for statement in (*_INDEXES, _HOLDING, *_COUNTS):
        connection.exec_driver_sql(statement.format_map(kinds))

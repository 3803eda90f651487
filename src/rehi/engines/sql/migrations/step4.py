"""The step from version 3 to version 4: readings by bytes, facets, work by kind and subject, and workers.

Every document of before becomes a reading of its own, made by an unnamed recipe, so that nothing has to be read again.
"""

from __future__ import annotations

from hashlib import blake2b

from sqlalchemy import Connection, text

_FORMS = 5_000  # in one batch
_NEW = (
    """CREATE TABLE reading (id {serial}, blob_id {id} NOT NULL REFERENCES blob (id), recipe TEXT DEFAULT '' NOT NULL,
        hint TEXT DEFAULT '' NOT NULL, media_type TEXT DEFAULT '' NOT NULL, title TEXT DEFAULT '' NOT NULL,
        searched TEXT DEFAULT '' NOT NULL, language TEXT DEFAULT '' NOT NULL, characters BIGINT DEFAULT '0' NOT NULL,
        names BIGINT DEFAULT '0' NOT NULL, read_at BIGINT DEFAULT '0' NOT NULL, file_id {id} REFERENCES file (id),
        "offset" BIGINT, length BIGINT, PRIMARY KEY (id))""",
    """INSERT INTO reading (id, blob_id, hint, media_type, title, searched, language, characters, names, read_at, file_id,
        "offset", length)
        SELECT d.resource_id, v.blob_id, 'resource ' || d.resource_id, d.media_type, d.title, d.searched, d.language,
        d.characters, d.names, v.taken_at, d.file_id, d."offset", d.length
        FROM document d JOIN version v ON v.id = d.version_id""",
    "CREATE UNIQUE INDEX reading_key ON reading (blob_id, recipe, hint)",
    """CREATE TABLE part (reading_id {id} NOT NULL REFERENCES reading (id), number INTEGER NOT NULL, kind TEXT NOT NULL,
        title TEXT DEFAULT '' NOT NULL, media_type TEXT DEFAULT '' NOT NULL, start_at BIGINT DEFAULT '0' NOT NULL,
        end_at BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (reading_id, number)) {norowid}""",
    """CREATE TABLE facet (reading_id {id} NOT NULL REFERENCES reading (id), name TEXT NOT NULL,
        version BIGINT DEFAULT '0' NOT NULL, data {bytes} NOT NULL, PRIMARY KEY (reading_id, name)) {norowid}""",
    """CREATE TABLE term (reading_id {id} NOT NULL REFERENCES reading (id), field TEXT NOT NULL,
        folded {bytewise} NOT NULL, value TEXT DEFAULT '' NOT NULL, PRIMARY KEY (reading_id, field, folded)) {norowid}""",
    "CREATE INDEX term_value ON term (field, folded, reading_id)",
    "ALTER TABLE document RENAME TO old_document",
    """CREATE TABLE document (resource_id {id} NOT NULL REFERENCES resource (id),
        version_id {id} NOT NULL REFERENCES version (id), reading_id {id} NOT NULL REFERENCES reading (id),
        {document_key})""",
    """INSERT INTO document (resource_id, version_id, reading_id)
        SELECT resource_id, version_id, resource_id FROM old_document""",
    "DROP TABLE old_document",
    "CREATE INDEX document_reading ON document (reading_id)",
    "ALTER TABLE entity ADD COLUMN merged_into {id} REFERENCES entity (id)",
    "DROP INDEX mention_entity",
    "ALTER TABLE mention RENAME TO old_mention",
    """CREATE TABLE mention (reading_id {id} NOT NULL REFERENCES reading (id), entity_id {id} NOT NULL
        REFERENCES entity (id), count BIGINT DEFAULT '0' NOT NULL, forms TEXT NOT NULL, {mention_key}) {norowid}""",
    """INSERT INTO mention (reading_id, entity_id, count, forms) SELECT m.resource_id, m.entity_id, m.count, m.forms
        FROM old_mention m JOIN document d ON d.resource_id = m.resource_id""",
    "DROP TABLE old_mention",
    "CREATE INDEX mention_entity ON mention (entity_id, reading_id)",
    "DROP INDEX outbox_topic",
    "DROP INDEX outbox_read",
    "DROP INDEX outbox_subject",
    "DROP INDEX outbox_worker",
    "ALTER TABLE outbox RENAME TO old_outbox",
    """CREATE TABLE outbox (id {outbox}, kind TEXT NOT NULL, subject {id} NOT NULL, attempts BIGINT DEFAULT '0' NOT NULL,
        worker TEXT, claimed_until BIGINT DEFAULT '0' NOT NULL, owner TEXT DEFAULT '' NOT NULL{outbox_key})""",
    """INSERT INTO outbox (id, kind, subject, attempts, owner) SELECT id, topic,
        CASE WHEN topic = 'read' THEN version_id ELSE subject END, attempts, owner FROM old_outbox""",
    "CREATE INDEX outbox_kind ON outbox (kind, owner, id)",
    "CREATE INDEX outbox_subject ON outbox (kind, subject)",
    "CREATE INDEX outbox_worker ON outbox (worker) WHERE worker IS NOT NULL",
    """CREATE TABLE worker (name TEXT NOT NULL, machine TEXT DEFAULT '' NOT NULL, process BIGINT DEFAULT '0' NOT NULL,
        version TEXT DEFAULT '' NOT NULL, address TEXT DEFAULT '' NOT NULL, archive TEXT DEFAULT '' NOT NULL,
        graph TEXT DEFAULT '' NOT NULL, started_at BIGINT DEFAULT '0' NOT NULL, seen_at BIGINT DEFAULT '0' NOT NULL,
        ended_at BIGINT, PRIMARY KEY (name))""",
    """CREATE TABLE ownership (what TEXT NOT NULL, worker TEXT NOT NULL, uri TEXT DEFAULT '' NOT NULL,
        since BIGINT DEFAULT '0' NOT NULL, PRIMARY KEY (what))""",
)
# Ids go on after the highest that there ever was: somebody may still hold the last one.
_GO_ON_SQLITE = (
    "UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'old_outbox') WHERE name = 'outbox'",
    """INSERT INTO sqlite_sequence (name, seq) SELECT 'outbox', seq FROM sqlite_sequence WHERE name = 'old_outbox'
        AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'outbox')""",
    "DROP TABLE old_outbox",
)
_GO_ON_POSTGRES = (
    "SELECT setval(pg_get_serial_sequence('reading', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM reading))",
    """SELECT setval(pg_get_serial_sequence('outbox', 'id'),
        (SELECT last_value + 1 FROM {old_sequence}))""",
    "DROP TABLE old_outbox",
)
_SQLITE = {
    "id": "INTEGER", "serial": "INTEGER NOT NULL", "bytes": "BLOB", "bytewise": "TEXT", "norowid": "WITHOUT ROWID",
    "document_key": "PRIMARY KEY (resource_id)", "mention_key": "PRIMARY KEY (reading_id, entity_id)",
    "outbox": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "outbox_key": "",
}  # fmt: skip
_POSTGRES = {
    "id": "BIGINT", "serial": "BIGSERIAL NOT NULL", "bytes": "BYTEA", "bytewise": 'TEXT COLLATE "C"', "norowid": "",
    "document_key": "PRIMARY KEY (resource_id)", "mention_key": "PRIMARY KEY (reading_id, entity_id)",
    "outbox": "BIGSERIAL NOT NULL", "outbox_key": ", PRIMARY KEY (id)",
}  # fmt: skip


def readings(connection: Connection) -> None:
    """Make the new tables, with what the old ones hold."""
    on_sqlite = connection.dialect.name == "sqlite"
    kinds = dict(_SQLITE if on_sqlite else _POSTGRES)
    if not on_sqlite:
        name = "SELECT pg_get_serial_sequence('outbox', 'id')"
        kinds["old_sequence"] = str(connection.exec_driver_sql(name).scalar_one())
    for statement in (*_NEW, *(_GO_ON_SQLITE if on_sqlite else _GO_ON_POSTGRES)):
        connection.exec_driver_sql(statement.format_map(kinds))
    if not on_sqlite:
        _name_sequence(connection)
    _key_forms(connection)


def _name_sequence(connection: Connection) -> None:
    """Give the sequence of the new outbox the name that it has in a new catalogue: the old table had it until now."""
    name = str(connection.exec_driver_sql("SELECT pg_get_serial_sequence('outbox', 'id')").scalar_one())
    if not name.endswith(".outbox_id_seq"):
        connection.exec_driver_sql(f"ALTER SEQUENCE {name} RENAME TO outbox_id_seq")


def _key_forms(connection: Connection) -> None:
    """Make forms unique by their entity's id: what an entity is called may change."""
    after = 0
    select = text(
        "SELECT id, entity_id, what, text, given, family FROM form WHERE id > :after ORDER BY id LIMIT :limit"
    )
    update = text("UPDATE form SET key = :new_key WHERE id = :row")
    while rows := connection.execute(select, {"after": after, "limit": _FORMS}).all():
        keys = [
            {"row": row.id, "new_key": _key(str(row.entity_id), row.what, row.text, row.given, row.family)}
            for row in rows
        ]
        connection.execute(update, keys)
        after = rows[-1].id


def _key(*parts: str) -> bytes:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).digest()

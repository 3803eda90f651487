"""The port Knowledge on SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, select

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.knowledge.descriptions import SqlDescriptions, to_key
from rehi.engines.sql.knowledge.entities import enter_mentions
from rehi.engines.sql.knowledge.readings import READING_COLUMNS, enter_readings, find_readings, to_facts
from rehi.engines.sql.knowledge.recording import SqlRecording
from rehi.engines.sql.outbox.port import delete_work
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, select_in_chunks
from rehi.engines.sql.statements.values import key_of
from rehi.engines.sql.tables import document, file, part, reading, resource, table_shape
from rehi.errors import NotFound
from rehi.model.codec import to_table
from rehi.model.document import Part, TableShape
from rehi.model.entity import Candidate, EntityKey
from rehi.model.version import Digest, RecordRef
from rehi.model.work import (
    Claim,
    NewReading,
    ReadingFacts,
    ReadingKey,
    ReadTask,
    ShownReading,
)

_TASKS = SelectMany(
    "SELECT version.id, version.resource_id, resource.source_id, resource.url, blob.id AS blob_id, blob.digest,"
    ' blob.size, version.media_type, file.name, blob."offset", blob.length'
    " FROM version JOIN resource ON resource.id = version.resource_id"
    " JOIN blob ON blob.id = version.blob_id JOIN file ON file.id = blob.file_id",
    "version.id",
    "bigint",
)
# Where an entity was merged into another, that other; chains of merges are made short when they are made.
_CANDIDATES = SelectMany(
    "SELECT entity.key, goal.id, goal.kind, goal.slug, goal.name FROM entity"
    " JOIN entity goal ON goal.id = coalesce(entity.merged_into, entity.id)",
    "entity.key",
    "bytea",
)
_SET_STATEMENTS = BulkUpdate(
    resource, {"id": "bigint", "n": "bigint"}, {"statements": "new.n"}, where="resource.id = new.id"
)


class SqlKnowledge(SqlDescriptions, SqlRecording):
    """The port Knowledge."""

    database: Database

    def read_tasks(self, claims: Sequence[Claim]) -> Sequence[ReadTask]:
        """Return what is to be read for claims of the kind "read", whose subjects are versions."""
        rows = self.database.read(lambda connection: _TASKS.run(connection, [claim.subject for claim in claims]))
        by_version = {row.id: row for row in rows}
        return [_to_task(claim, by_version[claim.subject]) for claim in claims if claim.subject in by_version]

    def find_readings(self, keys: Iterable[ReadingKey]) -> Mapping[ReadingKey, int]:
        """Return the ids of readings that were made already."""
        wanted = set(keys)
        return self.database.read(lambda connection: find_readings(connection, wanted))

    def find_candidates(self, keys: Iterable[EntityKey]) -> Mapping[EntityKey, Sequence[Candidate]]:
        """Return the entities known under these keys; for one that was merged into another, that other."""
        by_key = {key_of(key.kind, key.slug): key for key in keys}
        rows = self.database.read(lambda connection: _CANDIDATES.run(connection, sorted(by_key)))
        return {by_key[bytes(row.key)]: [Candidate(row.id, to_key(row), row.name)] for row in rows}

    def shown_reading(self, resource_id: int) -> ShownReading:
        """Return the reading that a resource's document shows, and what it was made from; NotFound before it was read."""
        query = select(*READING_COLUMNS, document.c.version_id).join(document, document.c.reading_id == reading.c.id)
        query = query.outerjoin(file, file.c.id == reading.c.file_id).where(document.c.resource_id == resource_id)
        with self.database.reading() as connection:
            row = connection.execute(query).one_or_none()
            tasks = _TASKS.run(connection, [row.version_id]) if row is not None else ()
        if row is None or not tasks:
            raise NotFound(f"document {resource_id} has not been read")
        return ShownReading(to_facts(row), _to_task(Claim("read", row.version_id, ()), tasks[0]))

    def reading(self, reading_id: int) -> ReadingFacts:
        """Return a reading, whether a document shows it or not; NotFound if there is none."""
        query = select(*READING_COLUMNS).outerjoin(file, file.c.id == reading.c.file_id)
        query = query.where(reading.c.id == reading_id)
        row = self.database.read(lambda connection: connection.execute(query).one_or_none())
        if row is None:
            raise NotFound(f"there is no reading {reading_id}")
        return to_facts(row)

    @transaction
    def enter_reading(self, connection: Connection, new: NewReading, *, worker: str, now: datetime) -> int:
        """Keep a reading that no document shows, as of an old version, and return its id; nothing changes if it is known."""
        ids, fresh = enter_readings(connection, {new.key: new}, worker, now)
        enter_mentions(connection, {ids[key]: new.identities for key in fresh})
        return ids[new.key]

    def parts_of(self, resource_id: int) -> tuple[Sequence[Part], Sequence[TableShape]]:
        """Return the parts and the tables of the document that a resource shows."""
        shown = select(document.c.reading_id).where(document.c.resource_id == resource_id).scalar_subquery()
        parts = select(part).where(part.c.reading_id == shown).order_by(part.c.number)
        tables = select(table_shape.c.data).where(table_shape.c.reading_id == shown).order_by(table_shape.c.number)
        with self.database.reading() as connection:
            return (
                [
                    Part(kind=row.kind, title=row.title, media_type=row.media_type, start=row.start_at, end=row.end_at)
                    for row in connection.execute(parts)
                ],
                [to_table(orjson.loads(data)) for data in connection.execute(tables).scalars()],
            )

    @transaction
    def record_descriptions(
        self, connection: Connection, claims: Sequence[Claim], *, statements: Mapping[int, int], seconds: float = 0.0
    ) -> None:
        """Record in one transaction that the graph has been told what was claimed, with its statements by resource id."""
        delete_work(connection, [row for claim in claims for row in claim.ids])
        if statements:
            _count_statements(connection, self.database, statements, seconds)


def _to_task(claim: Claim, row: Any) -> ReadTask:
    return ReadTask(
        claim=claim,
        resource_id=row.resource_id,
        source_id=row.source_id or 0,
        version_id=row.id,
        url=row.url,
        blob_id=row.blob_id,
        digest=Digest(row.digest),
        size=row.size,
        media_type=row.media_type,
        body=RecordRef(row.name, row.offset, row.length),
    )


def _count_statements(
    connection: Connection, database: Database, statements: Mapping[int, int], seconds: float
) -> None:
    """Add the difference to what was counted before, so that a source's number is that of what the graph holds.

    Each source bears its resources' share of the time; what was spent on entities alone is nobody's.
    """
    additions = Additions()
    query = select(resource.c.id, resource.c.source_id, resource.c.statements).order_by(resource.c.id)
    query = query.with_for_update(key_share=True)
    rows = select_in_chunks(connection, sorted(statements), lambda part: query.where(resource.c.id.in_(part)))
    changed = [row for row in rows if row.statements != statements[row.id]]
    for row in changed:
        additions.add(row.source_id, "statements", statements[row.id] - row.statements)
    for source_id, share in Counter(row.source_id for row in rows).items():
        additions.add(source_id, "seconds:graph", seconds * share / len(rows))
    _SET_STATEMENTS.run(connection, [(row.id, statements[row.id]) for row in changed])
    additions.write(connection, database)

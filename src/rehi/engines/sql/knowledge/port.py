"""The port Knowledge on SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select, update

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.generation.port import is_written, note_mark
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.knowledge.descriptions import SqlDescriptions
from rehi.engines.sql.knowledge.entities import enter_mentions
from rehi.engines.sql.knowledge.readings import READING_COLUMNS, enter_readings, find_readings, to_facts
from rehi.engines.sql.knowledge.recording import SqlRecording
from rehi.engines.sql.knowledge.relinking import SqlRelinking
from rehi.engines.sql.outbox.port import delete_work, owners_of, put_owned_work, put_work
from rehi.engines.sql.sources.findings import source_ids_of
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, chunks, select_in_chunks
from rehi.engines.sql.statements.values import key_of, lots
from rehi.engines.sql.tables import document, file, reading, resource, version
from rehi.errors import NotFound
from rehi.model.entity import Candidate, EntityKey
from rehi.model.generation import GraphMark
from rehi.model.version import Digest, RecordRef
from rehi.model.work import (
    Claim,
    NewReading,
    ReadingFacts,
    ReadingKey,
    ReadTask,
    ShownReading,
)

_PAGE = 10_000
_TASKS = SelectMany(
    "SELECT version.id, version.resource_id, resource.source_id, resource.url, blob.id AS blob_id, blob.digest,"
    ' blob.size, version.media_type, file.name, blob."offset", blob.length'
    " FROM version JOIN resource ON resource.id = version.resource_id"
    " JOIN blob ON blob.id = version.blob_id JOIN file ON file.id = blob.file_id",
    "version.id",
    "bigint",
)
# Where an entity was merged into another, that other; chains of merges are made short when they are made.
_CANDIDATE = """SELECT entity.kind AS known_kind, entity.slug AS known_slug, entity.sense AS known_sense,
    goal.id, goal.kind, goal.slug, goal.sense, goal.name
    FROM entity JOIN entity goal ON goal.id = coalesce(entity.merged_into, entity.id)"""
_FIRST = SelectMany(_CANDIDATE, "entity.key", "bytea")
_OTHERS = SelectMany(f"{_CANDIDATE} AND entity.sense > 1", "entity.slug", "text", order="entity.sense")
_READ = (
    select(*READING_COLUMNS, document.c.version_id)
    .join(document, document.c.reading_id == reading.c.id)
    .outerjoin(file, file.c.id == reading.c.file_id)
)
_SHOWN = SelectMany(str(_READ), "document.resource_id", "bigint")
_SET_STATEMENTS = BulkUpdate(
    resource, {"id": "bigint", "n": "bigint"}, {"statements": "new.n"}, where="resource.id = new.id"
)


class SqlKnowledge(SqlDescriptions, SqlRecording, SqlRelinking):
    """Implements the port Knowledge on SQL."""

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
        """Return all entities of these keys' kinds and names, the first first; for one that was merged into another, that other."""
        by_name = {(key.kind, key.slug): key for key in keys}
        firsts = sorted(key_of(*name) for name in by_name)
        with self.database.reading() as connection:
            rows = _FIRST.run(connection, firsts) + _OTHERS.run(connection, sorted({slug for _, slug in by_name}))
        candidates: dict[EntityKey, list[Candidate]] = {}
        for row in rows:
            if (key := by_name.get((row.known_kind, row.known_slug))) is not None:
                known = Candidate(row.id, EntityKey(row.kind, row.slug, row.sense), row.name, row.known_sense)
                candidates.setdefault(key, []).append(known)
        return candidates

    def shown_reading(self, resource_id: int) -> ShownReading:
        """Return the reading that a resource's document shows, and what it was made from; NotFound before it was read."""
        with self.database.reading() as connection:
            rows = _SHOWN.run(connection, [resource_id])
            tasks = _TASKS.run(connection, [row.version_id for row in rows]) if rows else ()
        if not tasks:
            raise NotFound(f"document {resource_id} has not been read")
        return ShownReading(to_facts(rows[0]), _to_task(Claim("read", rows[0].version_id, ()), tasks[0]))

    def readings(self, *, ids: Iterable[int] | None = None, sample: int | None = None) -> Iterator[ReadingFacts]:
        """Return the readings whose records must be there when this is called, shown or not: all, these, or some by lot."""
        query = select(*READING_COLUMNS).join(file, file.c.id == reading.c.file_id).order_by(reading.c.id)
        if ids is not None:
            wanted = sorted(set(ids))
            these = self.database.read(
                lambda c: select_in_chunks(c, wanted, lambda part: query.where(reading.c.id.in_(part)))
            )
            return map(to_facts, these)
        newest = select(func.max(reading.c.id))
        last = self.database.read(lambda connection: connection.execute(newest).scalar()) or 0
        if sample is None:
            return self._paged_readings(query.where(reading.c.id <= last).limit(_PAGE))
        with self.database.reading() as connection:
            rows = [connection.execute(query.where(reading.c.id >= one).limit(1)).first() for one in lots(last, sample)]
        return iter({row.id: to_facts(row) for row in rows if row is not None}.values())

    def _paged_readings(self, query: Select[Any]) -> Iterator[ReadingFacts]:
        after = 0
        while rows := self._page_of(query.where(reading.c.id > after)):
            yield from map(to_facts, rows)
            after = rows[-1].id

    def _page_of(self, query: Select[Any]) -> Sequence[Any]:
        return self.database.read(lambda connection: connection.execute(query).all())

    @transaction
    def lose_readings(self, connection: Connection, ids: Iterable[int]) -> int:
        """Note that the records of readings are lost, have their versions read again, and return how many these are."""
        lost = sorted(set(ids))
        blobs = select(reading.c.blob_id).where(reading.c.id.in_(bindparam("these", expanding=True)))
        for part_of in chunks(lost):
            these = {"these": part_of}
            gone = update(reading).where(reading.c.id.in_(part_of))
            connection.execute(gone.values(file_id=None, offset=None, length=None))
            versions = select(version.c.id).where(version.c.blob_id.in_(blobs))
            put_owned_work(
                connection, "read", owners_of(connection, connection.execute(versions, these).scalars().all())
            )
        return len(lost)

    @transaction
    def enter_reading(self, connection: Connection, new: NewReading, *, worker: str, now: datetime) -> int:
        """Keep a reading that no document shows, as of an old version, and return its id; nothing changes if it is known."""
        ids, fresh = enter_readings(connection, {new.key: new}, worker, now)
        put_work(connection, "entity", enter_mentions(connection, {ids[key]: new.identities for key in fresh}))
        return ids[new.key]

    @transaction
    def record_descriptions(
        self,
        connection: Connection,
        claims: Sequence[Claim],
        *,
        statements: Mapping[int, int],
        seconds: float = 0.0,
        mark: GraphMark | None = None,
        owner: str = "",
    ) -> bool:
        """Record in one transaction that the graph has been told what was claimed, with its statements by resource id."""
        if mark is not None:
            if not is_written(connection, mark, owner=owner):
                return False
            note_mark(connection, mark)
        delete_work(connection, [row for claim in claims for row in claim.ids])
        if statements:
            _count_statements(connection, self.database, statements, seconds)
        return True


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

    The time is shared among the resources, and counted for each of their sources; what was spent on entities alone is nobody's.
    """
    additions = Additions()
    query = select(resource.c.id, resource.c.statements).order_by(resource.c.id)
    query = query.with_for_update(key_share=True)
    rows = select_in_chunks(connection, sorted(statements), lambda part: query.where(resource.c.id.in_(part)))
    sources = source_ids_of(connection, [row.id for row in rows])
    for row in rows:
        numbers = {"statements": statements[row.id] - row.statements, "seconds:graph": seconds / len(rows)}
        additions.add_all(sources.get(row.id, ()), numbers)
    changed = [row for row in rows if row.statements != statements[row.id]]
    _SET_STATEMENTS.run(connection, [(row.id, statements[row.id]) for row in changed])
    additions.write(connection, database)

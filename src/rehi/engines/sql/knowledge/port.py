"""The port Knowledge on SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.knowledge.descriptions import describe_entities, describe_resources
from rehi.engines.sql.knowledge.entities import enter_mentions, find_candidates
from rehi.engines.sql.knowledge.readings import READING_COLUMNS, enter_readings, find_readings, parts_of, to_facts
from rehi.engines.sql.knowledge.recording import record_results
from rehi.engines.sql.outbox.rows import delete_work
from rehi.engines.sql.statements.bulk import SelectMany
from rehi.engines.sql.statements.driver import execute_for_each, select_in_chunks
from rehi.engines.sql.tables import document, file, reading, resource
from rehi.errors import NotFound
from rehi.model.document import Part, TableShape
from rehi.model.entity import Candidate, Entity, EntityKey, Form
from rehi.model.version import Digest, RecordRef
from rehi.model.work import (
    Claim,
    NewReading,
    ReadingFacts,
    ReadingKey,
    ReadResult,
    ReadTask,
    ResourceDescription,
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
_SET_STATEMENTS = update(resource).where(resource.c.id == bindparam("row")).values(statements=bindparam("n"))


class SqlKnowledge:
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
        wanted = set(keys)
        return self.database.read(lambda connection: find_candidates(connection, wanted))

    def record_reads(
        self,
        results: Sequence[ReadResult],
        *,
        choose_name: Callable[[Iterable[Form]], Form],
        worker: str,
        now: datetime,
    ) -> None:
        """Record in one transaction what came of read tasks."""
        self.database.write(
            lambda connection: record_results(connection, self.database, results, choose_name, worker, now)
        )

    def shown_reading(self, resource_id: int) -> ShownReading:
        """Return the reading that a resource's document shows, and what it was made from; NotFound before it was read."""
        query = select(*READING_COLUMNS, document.c.version_id).join(document, document.c.reading_id == reading.c.id)
        query = query.outerjoin(file, file.c.id == reading.c.file_id).where(document.c.resource_id == resource_id)

        def work(connection: Connection) -> tuple[Any, Sequence[Any]]:
            row = connection.execute(query).one_or_none()
            return row, _TASKS.run(connection, [row.version_id]) if row is not None else ()

        row, tasks = self.database.read(work)
        if not tasks:
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

    def enter_reading(self, new: NewReading, *, worker: str, now: datetime) -> int:
        """Keep a reading that no document shows, as of an old version, and return its id; nothing changes if it is known."""

        def work(connection: Connection) -> int:
            ids, fresh = enter_readings(connection, {new.key: new}, worker, now)
            enter_mentions(connection, {ids[key]: new.identities for key in fresh})
            return ids[new.key]

        return self.database.write(work)

    def parts_of(self, resource_id: int) -> tuple[Sequence[Part], Sequence[TableShape]]:
        """Return the parts and the tables of the document that a resource shows."""
        return self.database.read(lambda connection: parts_of(connection, resource_id))

    def describe_resources(self, ids: Iterable[int]) -> Sequence[ResourceDescription]:
        """Return all that the graph says of resources."""
        wanted = sorted(set(ids))
        return self.database.read(lambda connection: describe_resources(connection, wanted))

    def describe_entities(self, ids: Iterable[int]) -> Sequence[Entity]:
        """Return entities as all documents together describe them; those that none mentions have no documents."""
        wanted = sorted(set(ids))
        return self.database.read(lambda connection: describe_entities(connection, wanted))

    def record_descriptions(
        self, claims: Sequence[Claim], *, statements: Mapping[int, int], seconds: float = 0.0
    ) -> None:
        """Record in one transaction that the graph has been told what was claimed, with its statements by resource id."""

        def work(connection: Connection) -> None:
            delete_work(connection, [row for claim in claims for row in claim.ids])
            _count_statements(connection, self.database, statements, seconds)

        self.database.write(work)


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
    execute_for_each(connection, _SET_STATEMENTS, [{"row": row.id, "n": statements[row.id]} for row in changed])
    additions.write(connection, database)

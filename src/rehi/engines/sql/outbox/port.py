"""The outbox: versions that wait to be read, and changes of which the graph must be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, text, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.knowledge.descriptions import describe_entities, describe_resources
from rehi.engines.sql.knowledge.readings import record_readings
from rehi.engines.sql.statements.batches import execute_for_each, select_in_chunks
from rehi.engines.sql.statements.bulk_delete import BulkDelete
from rehi.engines.sql.statements.bulk_update import BulkUpdate
from rehi.engines.sql.statements.moment import span, to_micros
from rehi.engines.sql.statements.select_many import SelectMany
from rehi.engines.sql.statements.text import storable
from rehi.engines.sql.tables import outbox, resource
from rehi.model.version import Digest, RecordRef
from rehi.model.work import GraphWork, ReadResult, ReadTask

_GRAPH = ("resource", "entity")
_STATEMENTS = update(resource).where(resource.c.id == bindparam("row")).values(statements=bindparam("n"))
_TASKS = SelectMany(
    "SELECT outbox.id, resource.id AS resource_id, resource.source_id, outbox.version_id, resource.url, blob.digest,"
    ' blob.size, version.media_type, file.name, blob."offset", blob.length, outbox.attempts'
    " FROM outbox JOIN version ON version.id = outbox.version_id JOIN resource ON resource.id = version.resource_id"
    " JOIN blob ON blob.id = version.blob_id JOIN file ON file.id = blob.file_id",
    "outbox.id",
    "bigint",
    order="outbox.id",
)
_CLAIM = BulkUpdate(
    outbox,
    {"id": "bigint", "worker": "text", "until": "bigint"},
    {"worker": "new.worker", "claimed_until": "new.until"},
    where="outbox.id = new.id",
)
_DONE = BulkDelete(outbox.c.id)
_DESCRIBE_RESOURCES = text("INSERT INTO outbox (topic, subject) SELECT 'resource', id FROM resource WHERE versions > 0")
_DESCRIBE_ENTITIES = text("INSERT INTO outbox (topic, subject) SELECT 'entity', id FROM entity")


class SqlOutbox:
    """The port Outbox."""

    database: Database
    shared: bool  # whether every worker can read every file

    def claim_reads(self, *, worker: str, limit: int, ttl: float, now: datetime) -> Sequence[ReadTask]:
        """Versions to read, the oldest first, which nobody else gets until ``ttl``.

        Only those whose bytes lie in the worker's own folder, or nobody knows where; unless all workers share one.
        """
        at = to_micros(now)
        free = select(outbox.c.id).where(outbox.c.topic == "read", outbox.c.claimed_until <= at).order_by(outbox.c.id)
        # One question for each owner: asked for both at once, a database would sort all that waits.
        asked = [free] if self.shared else [free.where(outbox.c.owner == owner) for owner in ("", storable(worker))]

        def work(connection: Connection) -> list[ReadTask]:
            ids: list[int] = []
            for query in asked:
                locked = query.limit(limit - len(ids)).with_for_update(skip_locked=True)
                ids += connection.execute(locked).scalars() if len(ids) < limit else []
            _CLAIM.run(connection, [(row, worker, at + span(ttl)) for row in ids])
            return [_to_task(row) for row in _TASKS.run(connection, ids)]

        def nothing(connection: Connection) -> bool:
            return all(connection.execute(query.limit(1)).first() is None for query in asked)

        if self.database.read(nothing):
            return []  # without waiting for those who write
        # A power cut takes back at most what was claimed, and what was claimed can be claimed again.
        return self.database.write(work, lasting=False)

    def record_reads(self, results: Sequence[ReadResult], *, now: datetime) -> None:
        """One transaction: documents, identities, problems, graph work, and the tasks that are done."""
        self.database.write(lambda connection: record_readings(connection, self.database, results, now))

    def graph_work(self, *, limit: int) -> GraphWork:
        """What the graph must be told next."""
        first = select(outbox.c.topic, outbox.c.subject).where(outbox.c.topic.in_(_GRAPH))
        first = first.order_by(outbox.c.id).limit(limit)

        def work(connection: Connection) -> GraphWork:
            subjects: dict[str, set[int]] = {topic: set() for topic in _GRAPH}
            for row in connection.execute(first):
                subjects[row.topic].add(row.subject)
            # Ids before descriptions: what changes in between has an id of its own, and is told again.
            ids = [row for topic in _GRAPH for row in _ids_of(connection, topic, subjects[topic])]
            entities, vanished = describe_entities(connection, subjects["entity"])
            return GraphWork(
                ids=tuple(sorted(ids)),
                resources=tuple(describe_resources(connection, subjects["resource"])),
                entities=tuple(entities),
                vanished=tuple(vanished),
            )

        return self.database.read(work)

    def graph_done(self, work: GraphWork, *, statements: Mapping[int, int], seconds: float = 0.0) -> None:
        """The graph knows it; ``statements`` counts by resource id."""

        def finish(connection: Connection) -> None:
            _DONE.run(connection, work.ids)
            additions = Additions()
            _count_statements(connection, statements, additions)
            _share_seconds(connection, work, seconds, additions)
            additions.write(connection, self.database)

        self.database.write(finish)

    def describe_all(self) -> int:
        """Put everything on the graph's list again; how much that is."""

        def work(connection: Connection) -> int:
            return connection.execute(_DESCRIBE_RESOURCES).rowcount + connection.execute(_DESCRIBE_ENTITIES).rowcount

        return self.database.write(work)


def _to_task(row: Any) -> ReadTask:
    return ReadTask(
        id=row.id,
        resource_id=row.resource_id,
        source_id=row.source_id or 0,
        version_id=row.version_id,
        url=row.url,
        digest=Digest(row.digest),
        size=row.size,
        media_type=row.media_type,
        body=RecordRef(row.name, row.offset, row.length),
        attempts=row.attempts,
    )


def _ids_of(connection: Connection, topic: str, subjects: set[int]) -> list[int]:
    query = select(outbox.c.id).where(outbox.c.topic == topic)
    return [
        row.id
        for row in select_in_chunks(connection, sorted(subjects), lambda part: query.where(outbox.c.subject.in_(part)))
    ]


def _count_statements(connection: Connection, statements: Mapping[int, int], additions: Additions) -> None:
    """Add the difference to what was counted before, so that a source's number is that of what the graph holds."""
    query = select(resource.c.id, resource.c.source_id, resource.c.statements).order_by(resource.c.id)
    query = query.with_for_update(key_share=True)
    rows = select_in_chunks(connection, sorted(statements), lambda part: query.where(resource.c.id.in_(part)))
    changed = [row for row in rows if row.statements != statements[row.id]]
    for row in changed:
        additions.add(row.source_id, "statements", statements[row.id] - row.statements)
    execute_for_each(connection, _STATEMENTS, [{"row": row.id, "n": statements[row.id]} for row in changed])


def _share_seconds(connection: Connection, work: GraphWork, seconds: float, additions: Additions) -> None:
    """Each source bears its resources' share of the time; what was spent on entities alone is nobody's."""
    ids = [described.resource_id for described in work.resources]
    query = select(resource.c.source_id, func.count().label("n")).group_by(resource.c.source_id)
    shares: Counter[int | None] = Counter()
    for row in select_in_chunks(connection, ids, lambda part: query.where(resource.c.id.in_(part))) if seconds else ():
        shares[row.source_id] += row.n
    for source_id, n in shares.items():
        additions.add(source_id, "seconds:graph", seconds * n / len(ids))

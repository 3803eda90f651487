"""The port Retention on SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.ledger.bodies import keep_files
from rehi.engines.sql.ledger.holdings import count_bodies
from rehi.engines.sql.sources.findings import has_source, resources_of
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, chunks, select_in_chunks
from rehi.engines.sql.statements.values import from_micros, key_of, storable, to_micros
from rehi.engines.sql.tables import blob, outbox, problem, resource, version
from rehi.engines.sql.tables import file as files
from rehi.model.problem import Stage
from rehi.model.retention import HeldVersion, PrunedBody, PrunedVersion, SharedBody, VersionHistory
from rehi.model.version import Digest, RecordRef

PLACES = 20  # versions of the same bytes that are told of by name; the rest are counted
_LOCK = SelectMany(
    "SELECT id, digest, size, dropped_at FROM blob", "digest", "text", order="id", lock="FOR UPDATE OF blob"
)
_DROP = BulkUpdate(
    blob,
    {"id": "bigint", "at": "bigint", "rule": "text"},
    {"dropped_at": "new.at", "dropped_by": "new.rule"},
    where="blob.id = new.id AND blob.dropped_at IS NULL",
)
_SOURCES = SelectMany(
    "SELECT resource_id, source_id FROM finding", "resource_id", "bigint", order="resource_id, source_id"
)
_RESOURCES = select(
    resource.c.id, resource.c.url, resource.c.blob_id, resource.c.versions, resource.c.read_number
).order_by(resource.c.id)
_VERSIONS = select(
    version.c.id, version.c.resource_id, version.c.number, version.c.taken_at, version.c.blob_id
).order_by(version.c.resource_id, version.c.taken_at, version.c.number)


class SqlRetention:
    """Implements the port Retention on SQL."""

    database: Database

    def histories(
        self,
        *,
        sources: Collection[int] = (),
        longer_than: int = 0,
        resources: Collection[int] = (),
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[VersionHistory]:
        """Return the histories of the given resources, and of those of the given sources, in the order of their ids."""
        query = _RESOURCES.where(resource.c.id > after, resource.c.versions > longer_than)
        with self.database.reading() as connection:
            wanted = sorted(set(resources))
            rows = select_in_chunks(connection, wanted, lambda part: query.where(resource.c.id.in_(part)))
            if sources:
                rows += connection.execute(query.where(has_source(sources)).limit(limit))
            known = {row.id: row for row in rows}
            return _histories(connection, [known[row] for row in sorted(known)][:limit])

    def sharing(self, blob_ids: Iterable[int], *, sources: Iterable[int]) -> Sequence[SharedBody]:
        """Return how many versions have these bytes, and the first resource of these sources; nothing for pruned ones."""
        of_sources = version.c.resource_id.in_(resources_of(sources))
        query = (
            select(
                version.c.blob_id, blob.c.size, func.count().label("n"),
                func.min(version.c.resource_id).filter(of_sources).label("first"),
            )
            .join(blob, blob.c.id == version.c.blob_id)
            .where(blob.c.dropped_at.is_(None))
            .group_by(version.c.blob_id, blob.c.size)
            .order_by(version.c.blob_id)
        )  # fmt: skip
        wanted = sorted(set(blob_ids))
        rows = self.database.read(
            lambda c: select_in_chunks(c, wanted, lambda part: query.where(version.c.blob_id.in_(part)))
        )
        return [
            SharedBody(blob_id=row.blob_id, size=row.size, versions=row.n, first_resource=row.first or 0)
            for row in rows
        ]

    def sharers(self, blob_ids: Iterable[int], *, after: int = 0, limit: int) -> Sequence[tuple[int, int]]:
        """Return bodies with the resources of which a version has them, in the order of the resources' ids."""
        query = select(version.c.resource_id, version.c.blob_id).distinct().where(version.c.resource_id > after)
        query = query.order_by(version.c.resource_id, version.c.blob_id).limit(limit)
        wanted = sorted(set(blob_ids))
        rows = self.database.read(
            lambda c: select_in_chunks(c, wanted, lambda part: query.where(version.c.blob_id.in_(part)))
        )
        return [(row.blob_id, row.resource_id) for row in rows]

    def describe_bodies(self, rules: Mapping[int, str]) -> Sequence[PrunedBody]:
        """Return what is to be remembered of bodies, by id, that each go by a rule, in the order of their ids."""
        return self.database.read(lambda connection: _describe(connection, rules))

    @transaction
    def mark_pruned(
        self, connection: Connection, bodies: Sequence[PrunedBody], *, at: datetime, record: RecordRef, worker: str
    ) -> Mapping[Digest, int]:
        """Mark bodies as pruned, as the tombstone ``record`` says; return the sizes of those that were kept until now."""
        return _mark_pruned(connection, self.database, bodies, at, record, worker)


def _histories(connection: Connection, rows: Sequence[Any]) -> list[VersionHistory]:
    versions: defaultdict[int, list[HeldVersion]] = defaultdict(list)
    states = {row.id: row for row in rows}
    pending, troubled = _pending(connection, rows), _troubled(connection, rows)
    for row in select_in_chunks(
        connection, list(states), lambda part: _VERSIONS.where(version.c.resource_id.in_(part))
    ):
        state = states[row.resource_id]
        versions[row.resource_id].append(
            HeldVersion(
                id=row.id,
                blob_id=row.blob_id,
                taken_at=from_micros(row.taken_at),
                current=row.blob_id == state.blob_id,  # by its number it may be one that arrived late
                pending=row.id in pending,
                read=state.read_number >= row.number,
                unreadable=state.id in troubled,
            )
        )
    sources: defaultdict[int, list[int]] = defaultdict(list)
    for row in _SOURCES.run(connection, list(states)):
        sources[row.resource_id].append(row.source_id)
    return [VersionHistory(row.id, tuple(sources[row.id]), tuple(versions[row.id])) for row in rows]


def _pending(connection: Connection, rows: Sequence[Any]) -> set[int]:
    """Return the versions for which a task to read them is in the outbox."""
    query = select(outbox.c.subject).join(version, version.c.id == outbox.c.subject).where(outbox.c.kind == "read")
    ids = [row.id for row in rows]
    waiting = select_in_chunks(connection, ids, lambda part: query.where(version.c.resource_id.in_(part)))
    return {row.subject for row in waiting}


def _troubled(connection: Connection, rows: Sequence[Any]) -> set[int]:
    """Return the resources whose newest version could not be read."""
    keys = {key_of(Stage.EXTRACT, row.url): row.id for row in rows}
    query = select(problem.c.key)
    return {
        keys[bytes(row.key)]
        for row in select_in_chunks(connection, list(keys), lambda part: query.where(problem.c.key.in_(part)))
    }


def _describe(connection: Connection, rules: Mapping[int, str]) -> list[PrunedBody]:
    bodies: list[PrunedBody] = []
    place = (
        select(
            resource.c.url, version.c.taken_at, version.c.status, version.c.media_type, version.c.offset,
            version.c.length, files.c.name,
        )
        .join(resource, resource.c.id == version.c.resource_id)
        .join(files, files.c.id == version.c.file_id)
        .order_by(version.c.id)
        .limit(PLACES)
    )  # fmt: skip
    query = select(blob.c.id, blob.c.digest, blob.c.size).where(blob.c.dropped_at.is_(None)).order_by(blob.c.id)
    counted = select(version.c.blob_id, func.count().label("n")).group_by(version.c.blob_id)
    for part in chunks(sorted(rules)):
        counts = {row.blob_id: row.n for row in connection.execute(counted.where(version.c.blob_id.in_(part)))}
        for row in connection.execute(query.where(blob.c.id.in_(part))).all():
            places = tuple(map(_to_place, connection.execute(place.where(version.c.blob_id == row.id))))
            bodies.append(
                PrunedBody(
                    digest=Digest(row.digest), size=row.size, rule=rules[row.id], versions=counts.get(row.id, 0),
                    places=places,
                )
            )  # fmt: skip
    return bodies


def _to_place(row: Any) -> PrunedVersion:
    return PrunedVersion(
        url=row.url,
        at=from_micros(row.taken_at),
        status=row.status,
        media_type=row.media_type,
        record=RecordRef(row.name, row.offset, row.length),
    )


def _mark_pruned(
    connection: Connection,
    database: Database,
    bodies: Sequence[PrunedBody],
    at: datetime,
    record: RecordRef,
    worker: str,
) -> dict[Digest, int]:
    keep_files(connection, [record], owner=worker)
    wanted = {body.digest: body for body in bodies}
    # Locked first, and counted then: whoever enters a version meanwhile waits, and takes its bytes back.
    known = {row.id: row for row in _LOCK.run(connection, sorted(wanted)) if row.dropped_at is None}
    query = select(version.c.blob_id, func.count().label("n"), func.max(version.c.taken_at).label("newest"))
    query = query.group_by(version.c.blob_id)
    pruned: dict[Digest, int] = {}
    rows = []
    for row in select_in_chunks(connection, sorted(known), lambda part: query.where(version.c.blob_id.in_(part))):
        body = wanted[Digest(known[row.blob_id].digest)]
        if body.still_prunable(versions=row.n, newest_at=from_micros(row.newest), decided_at=at):
            rows.append((row.blob_id, to_micros(at), storable(body.rule)))
            pruned[body.digest] = known[row.blob_id].size
    _DROP.run(connection, rows)
    additions = Additions()
    count_bodies(connection, [row for row, _, _ in rows], additions, sign=-1)
    additions.write(connection, database)
    return pruned

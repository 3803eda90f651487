"""The stock: which bytes a rule may let go, which were, and what the archive holds by the catalogue's knowledge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.ledger.files import keep_files
from rehi.engines.sql.ledger.holdings import add_up_holdings, count_bodies
from rehi.engines.sql.sources.findings import has_source, resources_of
from rehi.engines.sql.statements.batches import chunks, select_in_chunks
from rehi.engines.sql.statements.bulk_update import BulkUpdate
from rehi.engines.sql.statements.moment import from_micros, to_micros
from rehi.engines.sql.statements.select_many import SelectMany
from rehi.engines.sql.statements.text import key_of, storable
from rehi.engines.sql.tables import blob, outbox, problem, resource, source, version
from rehi.engines.sql.tables import file as files
from rehi.errors import NotFound
from rehi.model.holdings import Holdings
from rehi.model.problem import Stage
from rehi.model.retention import Buried, Dropping, HeldVersion, History, Place, Rule, Shared, parse_rule
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


class SqlStock:
    """The port Stock."""

    database: Database

    def set_keep(self, source_id: int, keep: str) -> None:
        """Say which versions of a source's resources are kept; NotFound if there is none, SettingsError if it is no rule."""
        rule = parse_rule(keep)
        change = update(source).where(source.c.id == source_id).values(keep="" if rule.keeps_all else str(rule))
        if not self.database.write(lambda connection: connection.execute(change).rowcount):
            raise NotFound(f"there is no source {source_id}")

    def histories(self, rules: Mapping[int, Rule], *, after: int, limit: int) -> Sequence[History]:
        """Resources of these sources of whose versions some may be dropped, in the order of their numbers."""
        if not rules:
            return []
        spared = min(rule.spared for rule in rules.values())
        query = _RESOURCES.where(resource.c.id > after, resource.c.versions > spared).limit(limit)
        query = query.where(has_source(rules))
        return self.database.read(lambda connection: _histories(connection, connection.execute(query).all()))

    def histories_of(self, resource_ids: Iterable[int]) -> Sequence[History]:
        """Those of these resources."""
        wanted = sorted(set(resource_ids))

        def work(connection: Connection) -> Sequence[History]:
            rows = select_in_chunks(connection, wanted, lambda part: _RESOURCES.where(resource.c.id.in_(part)))
            return _histories(connection, rows)

        return self.database.read(work)

    def sharing(self, blob_ids: Iterable[int], *, sources: Iterable[int]) -> Sequence[Shared]:
        """How many versions have these bytes, and the first resource of these sources; nothing of what was dropped."""
        here = version.c.resource_id.in_(resources_of(sources))
        query = (
            select(
                version.c.blob_id, blob.c.size, func.count().label("n"),
                func.min(version.c.resource_id).filter(here).label("first"),
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
            Shared(blob_id=row.blob_id, size=row.size, versions=row.n, first_resource=row.first or 0) for row in rows
        ]

    def sharers(self, blob_ids: Iterable[int], *, after: int = 0, limit: int) -> Sequence[tuple[int, int]]:
        """Bodies with the resources of which a version has them, in the order of the resources' numbers."""
        query = select(version.c.resource_id, version.c.blob_id).distinct().where(version.c.resource_id > after)
        query = query.order_by(version.c.resource_id, version.c.blob_id).limit(limit)
        wanted = sorted(set(blob_ids))
        rows = self.database.read(
            lambda c: select_in_chunks(c, wanted, lambda part: query.where(version.c.blob_id.in_(part)))
        )
        return [(row.blob_id, row.resource_id) for row in rows]

    def describe_bodies(self, rules: Mapping[int, str]) -> Sequence[Buried]:
        """What is to be remembered of bytes by id that are let go by a rule each, in the order of their ids."""
        return self.database.read(lambda connection: _describe(connection, rules))

    def bury(self, buried: Sequence[Buried], *, at: datetime, record: RecordRef, worker: str) -> Mapping[Digest, int]:
        """Mark bytes as dropped, as the record says; the sizes of those that were kept until now.

        Those that a version has got since then stay. The record is known from now on.
        """

        def work(connection: Connection) -> Mapping[Digest, int]:
            return _bury(connection, self.database, buried, to_micros(at), record, worker)

        return self.database.write(work)

    def droppings(self, digests: Iterable[Digest]) -> Mapping[Digest, Dropping]:
        """When bytes were dropped, of those that were."""
        query = select(blob.c.digest, blob.c.dropped_at, blob.c.dropped_by).where(blob.c.dropped_at.is_not(None))
        wanted = sorted(set(digests))
        rows = self.database.read(
            lambda c: select_in_chunks(c, wanted, lambda part: query.where(blob.c.digest.in_(part)))
        )
        return {Digest(row.digest): Dropping(at=from_micros(row.dropped_at), rule=row.dropped_by) for row in rows}

    def holdings(self, *, limit: int) -> Holdings:
        """What the archive holds, in all and by type and host; no more than ``limit`` of each, the largest first."""
        return self.database.read(lambda connection: add_up_holdings(connection, limit))


def _all(query: Select[Any], connection: Connection) -> Sequence[Row[Any]]:
    return connection.execute(query).all()


def _histories(connection: Connection, rows: Sequence[Any]) -> list[History]:
    versions: defaultdict[int, list[HeldVersion]] = defaultdict(list)
    states = {row.id: row for row in rows}
    pending, troubled = _pending(connection, rows), _troubled(connection, rows)
    for row in select_in_chunks(
        connection, list(states), lambda part: _VERSIONS.where(version.c.resource_id.in_(part))
    ):
        state = states[row.resource_id]
        newest = row.blob_id == state.blob_id  # by its number it may be one that arrived late
        unread = newest and (state.read_number < row.number or state.id in troubled)
        versions[row.resource_id].append(
            HeldVersion(
                row.id, row.blob_id, from_micros(row.taken_at), row.blob_id == state.blob_id,
                row.id in pending or unread,
            )
        )  # fmt: skip
    sources: defaultdict[int, list[int]] = defaultdict(list)
    for row in _SOURCES.run(connection, list(states)):
        sources[row.resource_id].append(row.source_id)
    return [History(row.id, tuple(sources[row.id]), tuple(versions[row.id])) for row in rows]


def _pending(connection: Connection, rows: Sequence[Any]) -> set[int]:
    """Versions that wait to be read."""
    query = select(outbox.c.subject).join(version, version.c.id == outbox.c.subject).where(outbox.c.kind == "read")
    ids = [row.id for row in rows]
    waiting = select_in_chunks(connection, ids, lambda part: query.where(version.c.resource_id.in_(part)))
    return {row.subject for row in waiting}


def _troubled(connection: Connection, rows: Sequence[Any]) -> set[int]:
    """Resources whose newest version could not be read: a better reader may get more from it."""
    keys = {key_of(Stage.EXTRACT, row.url): row.id for row in rows}
    query = select(problem.c.key)
    return {
        keys[bytes(row.key)]
        for row in select_in_chunks(connection, list(keys), lambda part: query.where(problem.c.key.in_(part)))
    }


def _describe(connection: Connection, rules: Mapping[int, str]) -> list[Buried]:
    found: list[Buried] = []
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
            found.append(
                Buried(
                    digest=Digest(row.digest), size=row.size, rule=rules[row.id], versions=counts.get(row.id, 0),
                    places=places,
                )
            )  # fmt: skip
    return found


def _to_place(row: Any) -> Place:
    return Place(
        url=row.url,
        at=from_micros(row.taken_at),
        status=row.status,
        media_type=row.media_type,
        record=RecordRef(row.name, row.offset, row.length),
    )


def _bury(
    connection: Connection, database: Database, buried: Sequence[Buried], at: int, record: RecordRef, worker: str
) -> dict[Digest, int]:
    keep_files(connection, [record], owner=worker)
    wanted = {one.digest: one for one in buried}
    # Locked first, and counted then: whoever enters a version meanwhile waits, and takes its bytes back.
    known = {row.id: row for row in _LOCK.run(connection, sorted(wanted)) if row.dropped_at is None}
    query = select(version.c.blob_id, func.count().label("n"), func.max(version.c.taken_at).label("newest"))
    query = query.group_by(version.c.blob_id)
    dropped: dict[Digest, int] = {}
    rows = []
    for row in select_in_chunks(connection, sorted(known), lambda part: query.where(version.c.blob_id.in_(part))):
        found = known[row.blob_id]
        one = wanted[Digest(found.digest)]
        if row.n <= one.versions and row.newest <= at:
            rows.append((row.blob_id, at, storable(one.rule)))
            dropped[one.digest] = found.size
    _DROP.run(connection, rows)
    additions = Additions()
    count_bodies(connection, [row for row, _, _ in rows], additions, sign=-1)
    additions.write(connection, database)
    return dropped

"""The outbox: work that a transaction puts there, claimed by whoever does it, and taken out when it is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, func, or_, select, text, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.dialects.dialect import Guarded
from rehi.engines.sql.statements.driver import BulkDelete, BulkUpdate, Upsert, chunks, select_in_chunks
from rehi.engines.sql.statements.values import storable, to_micros
from rehi.engines.sql.tables import blob, file, outbox, resource, source, version
from rehi.model.work import Claim

_INSERT = Upsert(outbox, ("kind", "subject", "owner"))
_DELETE = BulkDelete(outbox.c.id)
DISCOVER = "discover"  # its subjects are sources: some wait until a URL was visited, some lie on one worker's machine
READ = "read"  # its subjects are versions, whose bytes may lie in one worker's folder
_CLAIM = BulkUpdate(
    outbox,
    {"id": "bigint", "worker": "text", "until": "bigint"},
    {"worker": "new.worker", "claimed_until": "new.until"},
    where="outbox.id = new.id",
)
# Written once, with places for values: to build a statement takes longer than SQLite takes to answer it.
_IS_FREE = outbox.c.claimed_until <= bindparam("at")
_OF_KIND = (outbox.c.kind == bindparam("kind"), outbox.c.owner == bindparam("owner"))
_OF_THESE = outbox.c.subject.in_(bindparam("these", expanding=True))
_OLDEST = select(outbox.c.id, outbox.c.kind, outbox.c.subject).order_by(outbox.c.id).limit(bindparam("most"))
_FREE = _OLDEST.where(_IS_FREE, *_OF_KIND)
_RETAKEN = _OLDEST.where(or_(_IS_FREE, outbox.c.worker == bindparam("worker")), *_OF_KIND)
_IN_FILES = (
    _OLDEST.join(version, version.c.id == outbox.c.subject)
    .join(blob, blob.c.id == version.c.blob_id)
    .join(file, file.c.id == blob.c.file_id)
    .where(_IS_FREE, outbox.c.kind == READ, file.c.name.in_(bindparam("files", expanding=True)))
)
_WAITING = select(outbox.c.id, outbox.c.subject, outbox.c.attempts, outbox.c.claimed_until, outbox.c.worker).where(
    outbox.c.kind == bindparam("kind"), _OF_THESE
)
_ANY_AWAITS = text("SELECT 1 FROM source WHERE awaits IS NOT NULL LIMIT 1")
_AWAKE = (
    select(source.c.id, source.c.worker, file.c.owner)
    .join(resource, resource.c.id == source.c.awaits)
    .outerjoin(blob, blob.c.id == resource.c.blob_id)
    .outerjoin(file, file.c.id == blob.c.file_id)
    .where(resource.c.visited_at >= source.c.asked_at)
    .order_by(source.c.id)
)
RELEASE_CLAIMS = text(
    "UPDATE outbox SET worker = NULL, claimed_until = 0 WHERE worker = :worker AND id NOT IN :claims"
).bindparams(bindparam("claims", type_=BigInteger, expanding=True))


class SqlOutbox:
    """Implements the port Outbox on SQL."""

    database: Database

    def put(self, kind: str, subjects: Iterable[int]) -> int:
        """Put work into the outbox, and return how much."""
        wanted = set(subjects)

        def work(connection: Connection) -> None:
            if kind == READ:
                put_owned_work(connection, kind, owners_of(connection, sorted(wanted)))
            else:
                put_work(connection, kind, wanted)

        self.database.write(work)
        return len(wanted)

    def claim(
        self,
        kinds: Collection[str],
        *,
        worker: str,
        limit: int,
        ttl: float,
        now: datetime,
        files: Collection[str] = (),
        subjects: Collection[int] | None = None,
        retake: bool = False,
    ) -> Sequence[Claim]:
        """Return work that nobody else gets until ``ttl``, the oldest first; each subject once, with all its rows."""
        if DISCOVER in kinds:
            self._wake_sources()
        at, until = to_micros(now), to_micros(now + timedelta(seconds=ttl))
        # One query for each kind and owner: asked for all at once, a database would sort everything that waits.
        queries = [
            (_RETAKEN if retake else _FREE, {"at": at, "worker": worker, "kind": kind, "owner": owner})
            for kind in kinds
            for owner in ("", storable(worker))
        ]
        if files and READ in kinds:
            queries.append((_IN_FILES, {"at": at, "files": sorted(files)}))
        if subjects is not None:
            queries = [(query.where(_OF_THESE), values | {"these": sorted(subjects)}) for query, values in queries]

        def work(connection: Connection) -> list[Claim]:
            self.database.dialect.guard(connection, Guarded.CLAIMS)
            rows: list[Any] = []
            for query, values in queries:
                if len(rows) < limit:
                    locked = query.with_for_update(skip_locked=True, of=outbox)
                    rows += connection.execute(locked, values | {"most": limit - len(rows)})
            claims = _gather(connection, rows, at, mine=worker if retake else "")
            _CLAIM.run(connection, [(row, worker, until) for claim in claims for row in claim.ids])
            return claims

        with self.database.reading() as connection:
            if all(connection.execute(query, values | {"most": 1}).first() is None for query, values in queries):
                return []  # without waiting for those who write
        # A power cut takes back at most what was claimed, and what was claimed can be claimed again.
        return self.database.write(work, lasting=False)

    def _wake_sources(self) -> None:
        """Put sources there whose awaited URL has been visited."""

        def work(connection: Connection) -> None:
            awake = connection.execute(_AWAKE.with_for_update(of=source, skip_locked=True)).all()
            ids = [row.id for row in awake]
            connection.execute(update(source).where(source.c.id.in_(ids)).values(awaits=None))
            put_owned_work(connection, DISCOVER, [(row.id, row.worker or row.owner or "") for row in awake])

        with self.database.reading() as connection:
            if connection.execute(_ANY_AWAITS).first() is None or connection.execute(_AWAKE.limit(1)).first() is None:
                return
        self.database.write(work)

    def renew_claims(self, claims: Sequence[Claim], *, worker: str, ttl: float, now: datetime) -> Sequence[Claim]:
        """Keep claims for longer, and return those that are this worker's still."""
        until = to_micros(now + timedelta(seconds=ttl))
        ids = [row for claim in claims for row in claim.ids]

        def work(connection: Connection) -> set[int]:
            query = select(outbox.c.id).where(outbox.c.worker == worker).order_by(outbox.c.id).with_for_update()
            rows = select_in_chunks(connection, ids, lambda part: query.where(outbox.c.id.in_(part)))
            mine = {row.id for row in rows}
            _CLAIM.run(connection, [(row, worker, until) for row in sorted(mine)])
            return mine

        mine = self.database.write(work, lasting=False)
        return [claim for claim in claims if mine.issuperset(claim.ids)]

    def finish(self, claims: Sequence[Claim]) -> None:
        """Take work out of the outbox: it is done."""
        ids = [row for claim in claims for row in claim.ids]
        self.database.write(lambda connection: delete_work(connection, ids))

    def waiting_files(self, *, worker: str, limit: int) -> Mapping[str, str]:
        """Return files with bytes that wait to be read and lie in the folders of other workers, with these workers' names."""
        others = select(outbox.c.subject, outbox.c.owner).where(
            outbox.c.kind == READ, outbox.c.owner.not_in(("", storable(worker)))
        )
        first = others.order_by(outbox.c.owner, outbox.c.id).limit(limit).subquery()
        query = (
            select(file.c.name, first.c.owner)
            .join(version, version.c.id == first.c.subject)
            .join(blob, blob.c.id == version.c.blob_id)
            .join(file, file.c.id == blob.c.file_id)
            .distinct()
        )
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return {row.name: row.owner for row in rows}


def count_work(connection: Connection) -> dict[str, int]:
    """Return how much waits of each kind of work."""
    rows = connection.execute(select(outbox.c.kind, func.count().label("n")).group_by(outbox.c.kind))
    return {row.kind: row.n for row in rows}


def owners_of(connection: Connection, versions: Sequence[int]) -> list[tuple[int, str]]:
    """Return versions with the workers in whose folders their bytes lie; empty where everybody can read them."""
    query = select(version.c.id, file.c.owner).join(blob, blob.c.id == version.c.blob_id)
    query = query.join(file, file.c.id == blob.c.file_id)
    rows = select_in_chunks(connection, versions, lambda part: query.where(version.c.id.in_(part)))
    return [(row.id, row.owner) for row in rows]


def _gather(connection: Connection, rows: Sequence[Any], at: int, *, mine: str) -> list[Claim]:
    """Return the subjects of rows, each with all that waits for it, without those that another worker has claimed."""
    subjects = list(dict.fromkeys((row.kind, row.subject) for row in rows))
    waiting: defaultdict[tuple[str, int], list[Any]] = defaultdict(list)
    for kind in {kind for kind, _ in subjects}:
        ids = [subject for other, subject in subjects if other == kind]
        for part in chunks(ids):
            for row in connection.execute(_WAITING, {"kind": kind, "these": part}):
                waiting[kind, row.subject].append(row)
    return [
        Claim(kind, subject, tuple(sorted(row.id for row in rows_of)), max(row.attempts for row in rows_of))
        for (kind, subject) in subjects
        if (rows_of := waiting[kind, subject])
        and all(row.claimed_until <= at or (mine and row.worker == mine) for row in rows_of)
    ]


def put_work(connection: Connection, kind: str, subjects: Iterable[int]) -> None:
    """Put work into the outbox that every worker can do. Always as new rows: somebody may be busy with older ones."""
    _INSERT.run(connection, [(kind, subject, "") for subject in sorted(subjects)])


def put_owned_work(connection: Connection, kind: str, owners: Iterable[tuple[int, str]]) -> None:
    """Put work into the outbox that is best done where its bytes lie: subjects, each with the worker that has them."""
    _INSERT.run(connection, [(kind, subject, owner) for subject, owner in owners])


def delete_work(connection: Connection, ids: Iterable[int]) -> None:
    """Delete rows of the outbox: the work is done."""
    _DELETE.run(connection, sorted(ids))

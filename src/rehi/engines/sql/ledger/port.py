"""The port Ledger on SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select, tuple_, union, update

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.frontier.resources import find_ids
from rehi.engines.sql.ledger.bodies import VERSIONS, move_blobs, to_version
from rehi.engines.sql.ledger.captures import list_captures
from rehi.engines.sql.ledger.problems import has_problems, keep_problems, strike_problems
from rehi.engines.sql.statements.driver import SelectByUrl, SelectMany, select_in_chunks
from rehi.engines.sql.statements.values import from_micros, key_of, lots, to_micros
from rehi.engines.sql.tables import blob, resource, version, visit
from rehi.engines.sql.tables import file as files
from rehi.errors import NotFound
from rehi.model.capture import Capture, CaptureFilter
from rehi.model.inventory import KnownBody, KnownFile, Replacement
from rehi.model.problem import Problem, ProblemKey
from rehi.model.retention import Pruning
from rehi.model.version import Digest, RecordRef, Version

_PAGE = 10_000
_BODIES = select(
    blob.c.id, blob.c.digest, blob.c.size, files.c.name, blob.c.offset, blob.c.length, blob.c.dropped_at,
    blob.c.dropped_by,
).join(files, files.c.id == blob.c.file_id)  # fmt: skip
_BY_DIGEST = SelectMany(
    'SELECT blob.id, digest, size, name, "offset", length, dropped_at, dropped_by FROM blob JOIN file ON file.id = file_id',
    "digest",
    "text",
)
_VERSIONS_OF = SelectByUrl(str(VERSIONS.join(resource, resource.c.id == version.c.resource_id).order_by(None)))


class SqlLedger:
    """Implements the port Ledger on SQL."""

    database: Database

    def find_bodies(self, digests: Iterable[Digest]) -> Mapping[Digest, KnownBody]:
        """Return where the bytes of each known digest lie, or lay until they were pruned."""
        wanted = sorted(set(digests))
        rows = self.database.read(lambda connection: _BY_DIGEST.run(connection, wanted)) if wanted else []
        return {Digest(row.digest): _to_body(row) for row in rows}

    def bodies(self, *, pruned_before: datetime | None = None) -> Iterator[KnownBody]:
        """Return all bodies that must be there when this is called, or those that were pruned before a moment."""
        if pruned_before is not None:
            return self._paged(_BODIES.where(blob.c.dropped_at < to_micros(pruned_before)))
        return self._paged(_BODIES.where(blob.c.dropped_at.is_(None), blob.c.id <= self._last_body()))

    def sample_bodies(self, count: int) -> Sequence[KnownBody]:
        """Return so many of the bodies that must be there, chosen by lot."""
        last = self._last_body()
        query = _BODIES.where(blob.c.dropped_at.is_(None)).order_by(blob.c.id).limit(1)
        chosen = lots(last, count)
        bodies: dict[int, KnownBody] = {}
        for start in chosen:
            for row in self._rows(query.where(blob.c.id >= start)):
                bodies[row.id] = _to_body(row)
        return list(bodies.values())

    def known_files(self) -> Sequence[KnownFile]:
        """Return the files in which records lie, derived ones too, in the order of their names."""
        query = select(files.c.name, files.c.known_end, files.c.owner).order_by(files.c.name)
        with self.database.reading() as connection:
            return [KnownFile(*row) for row in connection.execute(query)]

    def record_starts(self, file: str) -> Sequence[int]:
        """Return the offsets of the records in a file that are known: those of bodies, and of visits."""
        of_file = select(files.c.id).where(files.c.key == key_of(file)).scalar_subquery()
        parts = (select(table.c.offset).where(table.c.file_id == of_file) for table in (blob, visit))
        return self.database.read(lambda connection: connection.execute(union(*parts)).scalars().all())

    @transaction
    def shorten_files(self, connection: Connection, ends: Mapping[str, int]) -> None:
        """Note that files end sooner than they did, 0 for those that are gone; what lay behind is lost."""
        for name, end in sorted(ends.items()):
            connection.execute(update(files).where(files.c.key == key_of(name)).values(known_end=end))

    @transaction
    def replace_bodies(self, connection: Connection, places: Mapping[Digest, Replacement], *, worker: str) -> None:
        """Note that bytes lie elsewhere from now on, in files of this worker, but for those that are pruned or moved already."""
        move_blobs(connection, places, owner=worker)

    def versions(self, url: str) -> Sequence[Version]:
        """Return all versions of a URL in the order of time, whatever their numbers; NotFound if it has none."""
        rows = self.database.read(lambda connection: _VERSIONS_OF.run(connection, [url]))
        if not rows:
            raise NotFound(f"there are no versions of {url}")
        return [to_version(row) for row in sorted(rows, key=lambda row: (row.taken_at, row.number))]

    def on_record(self, visits: Iterable[tuple[str, datetime]]) -> Set[tuple[str, datetime]]:
        """Return which of these visits, by URL and moment, are on record."""
        wanted = set(visits)
        key = tuple_(visit.c.resource_id, visit.c.at)
        query = select(visit.c.resource_id, visit.c.at)
        with self.database.reading() as connection:
            ids = find_ids(connection, {url for url, _ in wanted})
            keys = {(ids[url], to_micros(at)): (url, at) for url, at in wanted if url in ids}
            rows = select_in_chunks(connection, keys, lambda part: query.where(key.in_(part)))
            return {keys[row.resource_id, row.at] for row in rows}

    def captures(
        self, where: CaptureFilter, *, after: tuple[str, datetime] | None = None, limit: int | None = None
    ) -> Iterator[Capture]:
        """Return visits whose answers are kept, in the order of URLs and then of time; memory does not grow with them."""
        return list_captures(self.database, where, after=after, limit=limit)

    def note(self, problems: Sequence[Problem], *, solved: Iterable[ProblemKey] = ()) -> None:
        """Put problems on the list, after those were taken off it that hold no longer."""
        keys = set(solved)
        # Most often there is nothing to take off, and nobody has to wait for it.
        if keys and not self.database.read(lambda connection: has_problems(connection, keys)):
            keys = set()

        def work(connection: Connection) -> None:
            strike_problems(connection, keys)
            keep_problems(connection, problems)

        if problems or keys:
            self.database.write(work)

    def _last_body(self) -> int:
        return self.database.read(lambda connection: connection.execute(select(func.max(blob.c.id))).scalar()) or 0

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        return self.database.read(lambda connection: connection.execute(query).all())

    def _paged(self, query: Select[Any]) -> Iterator[KnownBody]:
        after = 0
        query = query.order_by(blob.c.id).limit(_PAGE)
        while rows := self._rows(query.where(blob.c.id > after)):
            yield from map(_to_body, rows)
            after = rows[-1].id


def _to_body(row: Any) -> KnownBody:
    pruned = None if row.dropped_at is None else Pruning(at=from_micros(row.dropped_at), rule=row.dropped_by)
    return KnownBody(Digest(row.digest), row.size, RecordRef(row.name, row.offset, row.length), pruned, row.id)

"""The ledger: which bytes are kept, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime

from sqlalchemy import Connection, select, tuple_

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.resources import find_ids
from rehi.engines.sql.ledger.bodies import select_versions, to_version
from rehi.engines.sql.statements.batches import select_in_chunks
from rehi.engines.sql.statements.moment import to_micros
from rehi.engines.sql.statements.text import key_of
from rehi.engines.sql.tables import blob, resource, version, visit
from rehi.engines.sql.tables import file as files
from rehi.engines.sql.upkeep.problems import has_problems, keep_problems, strike_problems
from rehi.errors import NotFound
from rehi.model.problem import Problem, Stage
from rehi.model.version import Digest, RecordRef, Version


class SqlLedger:
    """The port Ledger."""

    database: Database

    def find_body(self, digests: Iterable[Digest], *, dropped: bool = False) -> Mapping[Digest, RecordRef]:
        """Where each known digest's bytes lie; where those that were dropped lay, too, if they are wanted."""
        wanted = sorted(set(digests))
        query = select(blob.c.digest, files.c.name, blob.c.offset, blob.c.length).join(files)
        query = query if dropped else query.where(blob.c.dropped_at.is_(None))

        def work(connection: Connection) -> Mapping[Digest, RecordRef]:
            rows = select_in_chunks(connection, wanted, lambda part: query.where(blob.c.digest.in_(part)))
            return {Digest(row.digest): RecordRef(row.name, row.offset, row.length) for row in rows}

        return self.database.read(work)

    def versions(self, url: str) -> Sequence[Version]:
        """All versions of a URL in the order of time, whatever their numbers; NotFound if it has none."""
        query = select_versions().join(resource, resource.c.id == version.c.resource_id)
        query = query.where(self.database.dialect.url_in([url]))
        rows = self.database.read(lambda connection: connection.execute(query).all())
        if not rows:
            raise NotFound(f"there are no versions of {url}")
        return [to_version(row) for row in rows]

    def on_record(self, visits: Iterable[tuple[str, datetime]]) -> Set[tuple[str, datetime]]:
        """Those of the visits, by URL and moment, that are on record."""
        wanted = set(visits)
        which = tuple_(visit.c.resource_id, visit.c.at)
        query = select(visit.c.resource_id, visit.c.at)

        def work(connection: Connection) -> Set[tuple[str, datetime]]:
            ids = find_ids(connection, self.database, {url for url, _ in wanted})
            keys = {(ids[url], to_micros(at)): (url, at) for url, at in wanted if url in ids}
            rows = select_in_chunks(connection, keys, lambda part: query.where(which.in_(part)))
            return {keys[row.resource_id, row.at] for row in rows}

        return self.database.read(work)

    def known_end(self, file: str) -> int:
        """The end of the last record of a file that the catalogue knows; 0 for a new file."""
        query = select(files.c.known_end).where(files.c.key == key_of(file))
        return self.database.read(lambda connection: connection.execute(query).scalar()) or 0

    def note(self, problems: Sequence[Problem]) -> None:
        """Put problems on the list; one that is there already is counted again."""
        self.database.write(lambda connection: keep_problems(connection, problems))

    def strike_out(self, stage: Stage, subjects: Iterable[str], *, code: str) -> None:
        """Take problems of one code off the list: what they say holds no longer."""
        which = set(subjects)
        if self.database.read(lambda connection: has_problems(connection, stage, which, code=code)):
            self.database.write(lambda connection: strike_problems(connection, stage, which, code=code))

    def digest_of(self, url: str) -> Digest | None:
        """The digest of the URL's newest version."""
        query = select(blob.c.digest).join(resource, resource.c.blob_id == blob.c.id)
        query = query.where(self.database.dialect.url_in([url]))
        found = self.database.read(lambda connection: connection.execute(query).scalar())
        return None if found is None else Digest(found)

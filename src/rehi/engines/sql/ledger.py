"""The ledger: which bytes are kept, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, select

from rehi.engines.sql.bodies import select_versions, to_version
from rehi.engines.sql.database import Database, gather
from rehi.engines.sql.problems import keep_problems
from rehi.engines.sql.schema import blob, resource, version
from rehi.engines.sql.schema import file as files
from rehi.engines.sql.text import key_of
from rehi.errors import NotFound
from rehi.model.problem import Problem
from rehi.model.version import Digest, RecordRef, Version


class SqlLedger:
    """The port Ledger."""

    database: Database

    def find_body(self, digests: Iterable[Digest]) -> Mapping[Digest, RecordRef]:
        """Where each known digest's bytes lie."""
        wanted = sorted(set(digests))
        query = select(blob.c.digest, files.c.name, blob.c.offset, blob.c.length).join(files)

        def work(connection: Connection) -> Mapping[Digest, RecordRef]:
            rows = gather(connection, wanted, lambda part: query.where(blob.c.digest.in_(part)))
            return {Digest(row.digest): RecordRef(row.name, row.offset, row.length) for row in rows}

        return self.database.read(work)

    def versions(self, url: str) -> Sequence[Version]:
        """All versions of a URL, the oldest first; NotFound if it has none."""
        query = select_versions().join(resource, resource.c.id == version.c.resource_id)
        query = query.where(self.database.dialect.url_in([url]))
        rows = self.database.read(lambda connection: connection.execute(query).all())
        if not rows:
            raise NotFound(f"there are no versions of {url}")
        return [to_version(row) for row in rows]

    def known_end(self, file: str) -> int:
        """The end of the last record of a file that the catalogue knows; 0 for a new file."""
        query = select(files.c.known_end).where(files.c.key == key_of(file))
        return self.database.read(lambda connection: connection.execute(query).scalar()) or 0

    def note(self, problems: Sequence[Problem]) -> None:
        """Put problems on the list; one that is there already is counted again."""
        self.database.write(lambda connection: keep_problems(connection, problems))

    def digest_of(self, url: str) -> Digest | None:
        """The digest of the URL's newest version."""
        query = select(blob.c.digest).join(resource, resource.c.blob_id == blob.c.id)
        query = query.where(self.database.dialect.url_in([url]))
        found = self.database.read(lambda connection: connection.execute(query).scalar())
        return None if found is None else Digest(found)

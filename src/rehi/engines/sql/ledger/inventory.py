"""The inventory: what must be in the archive's files, by the catalogue's knowledge."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from rehi.engines.sql.database import Database
from rehi.engines.sql.statements.moment import to_micros
from rehi.engines.sql.tables import blob
from rehi.engines.sql.tables import file as files
from rehi.model.inventory import KnownBody, KnownFile
from rehi.model.version import Digest, RecordRef

_PAGE = 10_000

_BODIES = select(blob.c.id, blob.c.digest, blob.c.size, files.c.name, blob.c.offset, blob.c.length).join(
    files, files.c.id == blob.c.file_id
)


class SqlInventory:
    """The port Inventory."""

    database: Database

    def known_files(self) -> Sequence[KnownFile]:
        """The files in which records lie, derived ones too, in the order of their names."""
        query = select(files.c.name, files.c.known_end, files.c.owner).order_by(files.c.name)
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return [KnownFile(*row) for row in rows]

    def last_body(self) -> int:
        """The number of the body that came last; 0 if there is none."""
        return self.database.read(lambda connection: connection.execute(select(func.max(blob.c.id))).scalar()) or 0

    def bodies(self, *, until: int) -> Iterator[KnownBody]:
        """All bytes that must be there, in the order in which they came, up to that number."""
        yield from self._paged(_BODIES.where(blob.c.dropped_at.is_(None), blob.c.id <= until))

    def dropped_bodies(self, *, before: datetime) -> Iterator[KnownBody]:
        """Those that were dropped before a moment, with where they lay."""
        yield from self._paged(_BODIES.where(blob.c.dropped_at < to_micros(before)))

    def sample_bodies(self, count: int) -> Sequence[KnownBody]:
        """Some of those that must be there, chosen by lot."""
        highest = self.last_body()
        query = _BODIES.where(blob.c.dropped_at.is_(None)).order_by(blob.c.id).limit(1)
        chosen = {random.randint(1, highest) for _ in range(count)} if highest else set()  # noqa: S311 - no secret
        found: dict[int, KnownBody] = {}
        for start in sorted(chosen):
            for row in self._rows(query.where(blob.c.id >= start)):
                found[row.id] = _body(row)
        return list(found.values())

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        return self.database.read(lambda connection: connection.execute(query).all())

    def _paged(self, query: Select[Any]) -> Iterator[KnownBody]:
        after = 0
        query = query.order_by(blob.c.id).limit(_PAGE)
        while rows := self._rows(query.where(blob.c.id > after)):
            yield from map(_body, rows)
            after = rows[-1].id


def _body(row: Any) -> KnownBody:
    return KnownBody(Digest(row.digest), row.size, RecordRef(row.name, row.offset, row.length))

"""Latecomers: visits that lie before one that is on record, and their place in the past.

A version's number says when it arrived, its moment since when it was valid. What a resource is now stays as it is, unless
the late version is the newest all the same. Where visits after it have found the version before it unchanged, that one was
valid again from the first of them on, and gets a version that says so.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, text

from rehi.engines.sql.ledger.bodies import select_versions, to_version
from rehi.engines.sql.ledger.files import to_ref
from rehi.engines.sql.statements.batches import execute_for_each, select_in_chunks
from rehi.engines.sql.statements.moment import to_micros
from rehi.engines.sql.tables import file, version, visit
from rehi.model.version import RecordRef
from rehi.model.visit import Outcome

_RENAME = text("UPDATE visit SET outcome = 'new' WHERE resource_id = :resource AND at = :moment")
_UNCHANGED = (
    select(visit.c.at, file.c.name, visit.c.offset, visit.c.length)
    .outerjoin(file, file.c.id == visit.c.file_id)
    .where(visit.c.outcome == Outcome.UNCHANGED.value)
    .order_by(visit.c.at)
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Stand:
    """What a resource was from some moment on."""

    at: int
    digest: str
    size: int
    media_type: str
    status: int
    record: RecordRef
    body: RecordRef


class Timelines:
    """The versions of resources in the order of time, those of this transaction among them."""

    def __init__(self, connection: Connection, resources: Iterable[int]) -> None:
        self._connection = connection
        self._stands: dict[int, list[Stand]] = {row: [] for row in resources}
        query = select_versions()
        for row in select_in_chunks(
            connection, sorted(self._stands), lambda part: query.where(version.c.resource_id.in_(part))
        ):
            self._stands[row.resource_id].append(_stand(row))
        for stands in self._stands.values():
            stands.sort(key=_moment)

    def before(self, resource_id: int, at: int) -> Stand | None:
        """What the resource was just before a moment, or at it."""
        stands = self._stands[resource_id]
        place = bisect_right(stands, at, key=_moment)
        return stands[place - 1] if place else None

    def enter(self, resource_id: int, stand: Stand) -> Stand | None:
        """Put a late version into its place; what the resource was again when it was next found unchanged, if it was."""
        stands = self._stands[resource_id]
        before = self.before(resource_id, stand.at)
        place = bisect_right(stands, stand.at, key=_moment)
        until = stands[place].at if place < len(stands) else None
        insort(stands, stand, key=_moment)
        if before is None:
            return None
        query = _UNCHANGED.where(visit.c.resource_id == resource_id, visit.c.at > stand.at)
        found = self._connection.execute(query if until is None else query.where(visit.c.at < until)).first()
        if found is None:
            return None
        record = to_ref(found.name, found.offset, found.length) or before.record
        again = Stand(found.at, before.digest, before.size, before.media_type, before.status, record, before.body)
        insort(stands, again, key=_moment)
        return again


def rename_visits(connection: Connection, echoes: Iterable[tuple[int, int]]) -> None:
    """Visits, by resource and moment, that found a change after all."""
    execute_for_each(connection, _RENAME, [{"resource": row, "moment": at} for row, at in echoes])


def _moment(stand: Stand) -> int:
    return stand.at


def _stand(row: Any) -> Stand:
    known = to_version(row)
    return Stand(
        to_micros(known.taken_at), known.digest, known.size, known.media_type, known.status, known.record, known.body
    )

"""The past of resources: what is on record, for visits that lie before the newest one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select, text

from rehi.engines.sql.ledger.bodies import select_versions, to_version
from rehi.engines.sql.ledger.files import to_ref
from rehi.engines.sql.statements.driver import execute_for_each, select_in_chunks
from rehi.engines.sql.statements.values import from_micros, to_micros
from rehi.engines.sql.tables import file, version, visit
from rehi.model.resource import Correction, PastVersion, PastVisit, ResourcePast
from rehi.model.visit import Outcome

_CORRECT = text("UPDATE visit SET outcome = :outcome WHERE resource_id = :resource AND at = :moment")
_NEXT_VISIT = (
    select(visit.c.at, file.c.name, visit.c.offset, visit.c.length)
    .outerjoin(file, file.c.id == visit.c.file_id)
    .order_by(visit.c.at)
    .limit(1)
)


def load_pasts(
    connection: Connection, late: Mapping[int, Iterable[int]], *, confirming: Outcome
) -> dict[int, ResourcePast]:
    """Return the versions of resources, and the first visit of an outcome after each of the given moments, by id."""
    versions: defaultdict[int, list[PastVersion]] = defaultdict(list)
    query = select_versions()  # in the order of time
    for row in select_in_chunks(connection, sorted(late), lambda part: query.where(version.c.resource_id.in_(part))):
        versions[row.resource_id].append(_to_past(row))
    pasts = {}
    for resource_id, moments in late.items():
        known = versions[resource_id]
        # Nothing can be confirmed before the first version.
        asked = [at for at in moments if known and to_micros(known[0].at) <= at]
        visits = {row.at: row for at in asked if (row := _next_visit(connection, resource_id, at, confirming))}
        confirmed = [PastVisit(from_micros(at), to_ref(*row[1:])) for at, row in sorted(visits.items())]
        pasts[resource_id] = ResourcePast(tuple(known), tuple(confirmed))
    return pasts


def _next_visit(connection: Connection, resource_id: int, at: int, outcome: Outcome) -> Any:
    mine = (visit.c.resource_id == resource_id, visit.c.outcome == outcome.value, visit.c.at > at)
    return connection.execute(_NEXT_VISIT.where(*mine)).first()


def _to_past(row: Any) -> PastVersion:
    known = to_version(row)
    return PastVersion(
        at=known.taken_at,
        digest=known.digest,
        size=known.size,
        media_type=known.media_type,
        status=known.status,
        record=known.record,
        body=known.body,
    )


def correct_visits(connection: Connection, corrections: Iterable[tuple[int, Correction]]) -> None:
    """Store other outcomes of visits on record, by the resources' ids."""
    rows = [
        {"resource": resource_id, "moment": to_micros(one.at), "outcome": one.after.value}
        for resource_id, one in corrections
    ]
    execute_for_each(connection, _CORRECT, rows)

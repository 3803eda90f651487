"""The step from version 6 to version 7: what resources come to counts for all their sources, not for the first alone."""

from __future__ import annotations

from sqlalchemy import Connection

# Source 0 is the whole house, and every sum is over all slots.
_ADD = """INSERT INTO tally (source_id, what, slot, n)
    SELECT finding.source_id, {what}, 0, {n}
    FROM finding JOIN resource ON resource.id = finding.resource_id {joined}
    WHERE resource.source_id IS NULL OR resource.source_id <> finding.source_id GROUP BY 1, 2
    ON CONFLICT (source_id, what, slot) DO UPDATE SET n = tally.n + excluded.n"""
_VISITS = "JOIN visit ON visit.resource_id = resource.id"
_DOCUMENTS = "JOIN document ON document.resource_id = resource.id JOIN reading ON reading.id = document.reading_id"
_COUNTS = (
    ("'visited'", "count(*)", _VISITS),
    ("visit.outcome", "count(*)", _VISITS),
    ("'bytes'", "sum(visit.size)", _VISITS),
    ("'seconds:fetch'", "sum(visit.seconds)", _VISITS),
    ("'documents'", "count(*)", _DOCUMENTS),
    ("'names'", "sum(reading.names)", _DOCUMENTS),
    ("'statements'", "sum(resource.statements)", ""),
)


def counts(connection: Connection) -> None:
    """Add to each source's numbers what its resources have come to that another source had named first."""
    for what, n, joined in _COUNTS:
        connection.exec_driver_sql(_ADD.format(what=what, n=n, joined=joined))

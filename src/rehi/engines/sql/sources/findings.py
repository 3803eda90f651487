"""Findings: the rows that say which source has named which resource, and what it claims of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, select, text

from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, Upsert, fetch_all, select_in_chunks
from rehi.engines.sql.tables import document, finding, reading, resource, visit
from rehi.model.claims import SourceOrders
from rehi.model.resource import Depths

FOLLOW = "follow"  # the kind of work whose subjects are resources that were read, and whose links may be followed
_ANY_RULE = "SELECT id FROM source WHERE follow <> ''"
# Who has the text: its links are followed there.
_SHOWN = """FROM finding JOIN document ON document.resource_id = finding.resource_id
    JOIN reading ON reading.id = document.reading_id LEFT JOIN file ON file.id = reading.file_id"""
_FOLLOWED = SelectMany(
    f"SELECT DISTINCT finding.resource_id, coalesce(file.owner, '') AS owner {_SHOWN}",
    f"finding.source_id IN ({_ANY_RULE}) AND finding.resource_id", "bigint", order="finding.resource_id",
)  # fmt: skip
_FOLLOW_ALL = text(f"""
    INSERT INTO outbox (kind, subject, owner) SELECT :kind, finding.resource_id, coalesce(file.owner, '') {_SHOWN}
    WHERE finding.source_id = :source ORDER BY finding.resource_id
""")
_PAIR = ("source_id", "resource_id")
_ENTER = Upsert(
    finding, (*_PAIR, "first_at", "last_at", "depth", "origin_id", "claims"), unique=_PAIR, returning=_PAIR
)  # fmt: skip
_NAMED_AGAIN = BulkUpdate(
    finding, {"source": "bigint", "resource": "bigint", "moment": "bigint"}, {"last_at": "new.moment"},
    where="finding.source_id = new.source AND finding.resource_id = new.resource",
)  # fmt: skip
_DEPTHS = SelectMany("SELECT resource_id, source_id, depth FROM finding", "resource_id", "bigint")
_PAIRS = SelectMany("SELECT resource_id, source_id FROM finding", "resource_id", "bigint")
_LOCK = SelectMany("SELECT id FROM resource", "id", "bigint", order="id", lock="FOR NO KEY UPDATE")
# What resources have come to so far.
_VISITS = select(
    visit.c.outcome, func.count().label("n"), func.sum(visit.c.size).label("bytes"), func.sum(visit.c.seconds).label("s")
).group_by(visit.c.outcome)  # fmt: skip
_READINGS = (
    select(
        func.count(document.c.resource_id).label("documents"), func.sum(reading.c.names).label("names"),
        func.sum(resource.c.statements).label("statements"),
    )
    .select_from(resource)
    .outerjoin(document, document.c.resource_id == resource.c.id)
    .outerjoin(reading, reading.c.id == document.c.reading_id)
)  # fmt: skip
_OF_RESOURCES = SelectMany(
    """SELECT finding.resource_id, finding.claims, source.policy, source.weight, source.keep
    FROM finding JOIN source ON source.id = finding.source_id""",
    "finding.resource_id",
    "bigint",
    order="finding.resource_id, finding.source_id",
)


def has_source(source_ids: Iterable[int]) -> Any:
    """Return the condition that a resource was named by one of these sources."""
    return resource.c.id.in_(resources_of(source_ids))


def resources_of(source_ids: Iterable[int]) -> Select[Any]:
    """Return a query for the ids of the resources of sources."""
    return select(finding.c.resource_id).where(finding.c.source_id.in_(sorted(source_ids)))


def join_source(connection: Connection, pairs: Iterable[tuple[int, int]], at: int, additions: Additions) -> None:
    """Enter resources as findings of sources, unless they are; given as pairs of a source's and a resource's id."""
    enter_findings(connection, [(*pair, at, at, 0, None, "") for pair in sorted(set(pairs))], additions)


def enter_findings(connection: Connection, rows: Sequence[tuple[Any, ...]], additions: Additions) -> None:
    """Enter what sources name, with depth, origin and claims; what a source has already is only named again."""
    new = {tuple(row) for row in _ENTER.run(connection, rows)}
    _NAMED_AGAIN.run(connection, [(*row[:2], row[3]) for row in rows if row[:2] not in new])
    count_past(connection, new, additions)


def depths_of(connection: Connection, resource_ids: Iterable[int]) -> Depths:
    """Return how far resources lie from where each of their sources began; those without a source are left out."""
    depths: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for resource_id, source_id, depth in _DEPTHS.run(connection, sorted(resource_ids)):
        depths[resource_id][source_id] = depth
    return depths


def enter_depths(connection: Connection, depths: Depths, at: int, additions: Additions, *, new: frozenset[int]) -> None:
    """Enter resources as their sources', unless they are so already; those that are ``new`` have no past."""
    rows = sorted((source, row, depth) for row, sources in depths.items() for source, depth in sources.items())
    entered = _ENTER.run(connection, [(source, row, at, at, depth, None, "") for source, row, depth in rows])
    count_past(connection, [tuple(pair) for pair in entered if pair.resource_id not in new], additions)


def count_past(connection: Connection, pairs: Iterable[tuple[int, int]], additions: Additions) -> None:
    """Add to each source's numbers what its resources came to before it named them; given as pairs of ids.

    The resources are locked first, as by whoever records visits and readings: each either is seen here, or sees the pairs.
    """
    named: defaultdict[int, list[int]] = defaultdict(list)
    for source_id, resource_id in sorted(pairs):
        named[source_id].append(resource_id)
    _LOCK.run(connection, sorted({row for ids in named.values() for row in ids}))
    for source_id, ids in named.items():
        for row in select_in_chunks(connection, ids, lambda part: _VISITS.where(visit.c.resource_id.in_(part))):
            for name, n in (("visited", row.n), (row.outcome, row.n), ("bytes", row.bytes), ("seconds:fetch", row.s)):
                additions.add(source_id, name, float(n))
        for row in select_in_chunks(connection, ids, lambda part: _READINGS.where(resource.c.id.in_(part))):
            for name in ("documents", "names", "statements"):
                additions.add(source_id, name, float(getattr(row, name) or 0))


def source_ids_of(connection: Connection, resource_ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
    """Return the ids of the sources of each resource that has any, for whoever has locked the resources."""
    ids: dict[int, tuple[int, ...]] = {}
    for resource_id, source_id in _PAIRS.run(connection, sorted(resource_ids)):
        ids[resource_id] = (*ids.get(resource_id, ()), source_id)
    return ids


def orders_of(connection: Connection, resource_ids: Iterable[int]) -> Mapping[int, tuple[SourceOrders, ...]]:
    """Return what the sources of each resource that has any claim and order, the first source first."""
    orders: dict[int, tuple[SourceOrders, ...]] = {}
    for resource_id, *columns in _OF_RESOURCES.run(connection, sorted(set(resource_ids))):
        orders[resource_id] = (*orders.get(resource_id, ()), SourceOrders(*columns))
    return orders


def those_followed(connection: Connection, resource_ids: Iterable[int]) -> list[tuple[int, str]]:
    """Return the resources whose links are followed by a rule of a source, each with the worker that has its text."""
    if not fetch_all(connection, _ANY_RULE):
        return []
    return [(row.resource_id, row.owner) for row in _FOLLOWED.run(connection, sorted(set(resource_ids)))]


def follow_all(connection: Connection, source_id: int) -> None:
    """Put all documents of a source that were read before into the outbox, so that their links are followed."""
    connection.execute(_FOLLOW_ALL, {"kind": FOLLOW, "source": source_id})

"""Findings: the rows that say which source has named which resource, and what it claims of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, select, text

from rehi.engines.sql.statements.driver import SelectMany, Upsert, execute_many, fetch_all
from rehi.engines.sql.tables import finding, resource

FOLLOW = "follow"  # the kind of work whose subjects are resources that were read, and whose links may be followed
_ANY_RULE = "SELECT id FROM source WHERE follow <> ''"
_FOLLOWED = SelectMany(
    "SELECT DISTINCT resource_id FROM finding", "source_id IN (SELECT id FROM source WHERE follow <> '') AND resource_id",
    "bigint", order="resource_id",
)  # fmt: skip
_FOLLOW_ALL = text("""
    INSERT INTO outbox (kind, subject, owner)
    SELECT :kind, finding.resource_id, coalesce(file.owner, '') FROM finding
    JOIN document ON document.resource_id = finding.resource_id JOIN reading ON reading.id = document.reading_id
    LEFT JOIN file ON file.id = reading.file_id WHERE finding.source_id = :source ORDER BY finding.resource_id
""")
_JOIN = Upsert(
    finding, ("source_id", "resource_id", "first_at", "last_at"), unique=("source_id", "resource_id"),
    change={"last_at": "new.last_at"},
)  # fmt: skip
_LINKED = Upsert(
    finding, ("source_id", "resource_id", "first_at", "last_at", "depth", "origin_id", "claims"),
    unique=("source_id", "resource_id"), change={"last_at": "new.last_at"},
)  # fmt: skip
_INHERIT = """INSERT INTO finding (source_id, resource_id, first_at, last_at, depth)
    SELECT source_id, {0}, {0}, {0}, depth FROM finding WHERE resource_id = {0}
    ON CONFLICT (source_id, resource_id) DO NOTHING"""
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


def join_source(connection: Connection, pairs: Iterable[tuple[int, int]], at: int) -> None:
    """Enter resources as a source's, if they are not; pairs of a source's and a resource's id."""
    _JOIN.run(connection, [(source_id, row, at, at) for source_id, row in sorted(set(pairs))])


def enter_links(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Enter what documents link to; a resource that its source has already stays as near as it was."""
    _LINKED.run(connection, rows)


def inherit_sources(connection: Connection, targets: Mapping[int, int | None], at: int) -> None:
    """Enter what resources redirect to as theirs whose the resources are."""
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    rows = [(target, at, at, row) for row, target in sorted(targets.items()) if target is not None]
    if rows:
        execute_many(connection, _INHERIT.format(mark), rows)


def sources_of(connection: Connection, resource_ids: Iterable[int]) -> Mapping[int, list[Any]]:
    """Return what sources order and claim for each resource, the first source first."""
    rows: defaultdict[int, list[Any]] = defaultdict(list)
    for row in _OF_RESOURCES.run(connection, sorted(set(resource_ids))):
        rows[row.resource_id].append(row)
    return rows


def those_followed(connection: Connection, resource_ids: Iterable[int]) -> list[int]:
    """Return those of the resources that a source with a rule for links has."""
    if not fetch_all(connection, _ANY_RULE):
        return []
    return [row.resource_id for row in _FOLLOWED.run(connection, sorted(set(resource_ids)))]


def follow_all(connection: Connection, source_id: int) -> None:
    """Have the links looked at of all documents of a source that were read before."""
    connection.execute(_FOLLOW_ALL, {"kind": FOLLOW, "source": source_id})

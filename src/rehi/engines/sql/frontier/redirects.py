"""Redirects: where chains of them end, and which go round in a circle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.resources import ResourceState, lock_resources
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.outbox.rows import put_work
from rehi.engines.sql.statements.batches import execute_for_each, select_in_chunks
from rehi.engines.sql.statements.select_many import SelectMany
from rehi.engines.sql.statements.text import key_of
from rehi.engines.sql.tables import problem, resource
from rehi.engines.sql.upkeep.problems import clear_problems, keep_problems
from rehi.errors import RedirectLoop
from rehi.model.problem import Problem, Stage
from rehi.model.visit import Outcome

Edges = Mapping[int, int | None]  # from a resource to the one it redirects to

_TARGETS = SelectMany("SELECT id, redirect_to FROM resource", "id", "bigint")
_VERSIONS = SelectMany("SELECT id, versions FROM resource", "id", "bigint")
_UPDATE = update(resource).where(resource.c.id == bindparam("row")).values(redirect_to=bindparam("target"))


def change_redirects(
    connection: Connection,
    database: Database,
    seen: Edges,
    states: Mapping[int, ResourceState],
    *,
    new: frozenset[int],
    now: datetime,
    additions: Additions,
) -> set[int]:
    """Store the redirects that visits have seen; the resources that are found on a circle, which have failed by that.

    Changes of redirects are made under one guard, so that whoever closes a circle sees all of it. Only a first redirect
    to a resource that nobody else can see yet closes none and opens none, whatever others do.
    """
    changed = {row: target for row, target in seen.items() if states[row].redirect_to != target}
    if any(states[row].redirect_to is not None or target not in new for row, target in changed.items()):
        database.dialect.guard_redirects(connection)
    before = _chains(connection, {*seen, *(target for target in seen.values() if target is not None)})
    after = {**before, **changed}
    execute_for_each(connection, _UPDATE, [{"row": row, "target": target} for row, target in sorted(changed.items())])
    looped: set[int] = set()
    for row in seen:
        circle = circle_through(after, row)
        # A circle that was closed before is marked already, all but this visit.
        looped |= circle if circle & changed.keys() else circle & {row}
    freed = {row for start in changed for row in circle_through(before, start)} - looped - set(seen)
    _mark(connection, looped, now, additions)
    _unmark(connection, freed, additions)
    ends = {end for row in changed for edges in (before, after) if (end := end_of(edges, row)) is not None}
    put_work(connection, "resource", _with_versions(connection, ends))
    return looped


def circle_through(edges: Edges, row: int) -> set[int]:
    """The resources on the circle on which this one lies; none if it lies on none."""
    passed = {row}
    at = edges.get(row)
    while at is not None and at not in passed:
        passed.add(at)
        at = edges.get(at)
    return passed if at == row else set()


def end_of(edges: Edges, row: int) -> int | None:
    """The resource at which the redirects from this one end; None if they never do."""
    passed: set[int] = set()
    at = row
    while (target := edges.get(at)) is not None:
        if at in passed:
            return None
        passed.add(at)
        at = target
    return at


def _chains(connection: Connection, rows: Iterable[int]) -> dict[int, int | None]:
    edges: dict[int, int | None] = {}
    ahead = set(rows)
    while ahead:  # one question for each hop of the longest chain, which fetch.max_redirects keeps short
        found = _TARGETS.run(connection, sorted(ahead))
        edges.update((row.id, row.redirect_to) for row in found)
        ahead = {row.redirect_to for row in found if row.redirect_to is not None} - edges.keys()
    return edges


def _set_state(
    connection: Connection, rows: Mapping[int, ResourceState], outcome: Outcome, additions: Additions
) -> None:
    moved = [row for row in rows.values() if row.state != outcome]
    for row in moved:
        additions.add_to_house(f"state:{row.state}", -1)
        additions.add_to_house(f"state:{outcome.value}")
    if moved:
        statement = update(resource).where(resource.c.id.in_([row.id for row in moved]))
        connection.execute(statement.values(state=outcome.value))


def _mark(connection: Connection, looped: set[int], now: datetime, additions: Additions) -> None:
    rows = lock_resources(connection, looped)
    _set_state(connection, rows, Outcome.FAILED, additions)
    error = RedirectLoop("its redirects lead back to it")
    keep_problems(connection, [Problem.of(error, stage=Stage.FETCH, subject=row.url, at=now) for row in rows.values()])


def _unmark(connection: Connection, freed: set[int], additions: Additions) -> None:
    rows = lock_resources(connection, freed)
    keys = {key_of(Stage.FETCH, row.url): row for row in rows.values()}
    query = select(problem.c.key).where(problem.c.code == RedirectLoop.code)
    marked = select_in_chunks(connection, keys, lambda part: query.where(problem.c.key.in_(part)))
    rows = {keys[row.key].id: keys[row.key] for row in marked}
    _set_state(connection, rows, Outcome.REDIRECT, additions)
    clear_problems(connection, Stage.FETCH, [row.url for row in rows.values()])


def _with_versions(connection: Connection, rows: Iterable[int]) -> list[int]:
    return [row.id for row in _VERSIONS.run(connection, rows) if row.versions]

"""Redirects: loaded as chains, stored as the rules for visits say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.resources import ResourceRow, lock_resources, set_outcomes
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.ledger.problems import clear_problems, keep_problems
from rehi.engines.sql.outbox.rows import put_work
from rehi.engines.sql.statements.bulk import SelectMany
from rehi.engines.sql.statements.driver import execute_for_each, select_in_chunks
from rehi.engines.sql.statements.values import key_of
from rehi.engines.sql.tables import problem, resource
from rehi.model.problem import Stage
from rehi.model.resource import LoopMember, RedirectChange, Redirects
from rehi.ports import VisitRules

_TARGETS = SelectMany("SELECT id, redirect_to FROM resource", "id", "bigint")
_VERSIONS = SelectMany("SELECT id, versions FROM resource", "id", "bigint")
_UPDATE = update(resource).where(resource.c.id == bindparam("row")).values(redirect_to=bindparam("target"))


def change_redirects(
    connection: Connection,
    database: Database,
    seen: Redirects,
    rows: Mapping[int, ResourceRow],
    *,
    new: frozenset[int],
    rules: VisitRules,
    now: datetime,
    additions: Additions,
) -> frozenset[int]:
    """Store the redirects that visits have seen, and return the resources that are on a circle of them.

    Changes of redirects are made under one guard, so that whoever closes a circle sees all of it. Only a first redirect
    to a resource that nobody else can see yet closes none and opens none, whatever others do.
    """
    known = {row: rows[row].redirect_to for row in seen}
    if any(known[row] != target and (known[row] is not None or target not in new) for row, target in seen.items()):
        database.dialect.guard_redirects(connection)
    before = _chains(connection, {*seen, *(target for target in seen.values() if target is not None)})
    change = rules.follow_redirects(before, seen)
    execute_for_each(
        connection, _UPDATE, [{"row": row, "target": target} for row, target in sorted(change.changed.items())]
    )
    if change.looped or change.freed:
        _mark_loops(connection, change, rules, now, additions)
    put_work(connection, "resource", [row.id for row in _VERSIONS.run(connection, change.ends) if row.versions])
    return change.looped


def _chains(connection: Connection, rows: Iterable[int]) -> dict[int, int | None]:
    redirects: dict[int, int | None] = {}
    ahead = set(rows)
    while ahead:  # one question for each hop of the longest chain, which fetch.max_redirects keeps short
        targets = _TARGETS.run(connection, sorted(ahead))
        redirects.update((row.id, row.redirect_to) for row in targets)
        ahead = {row.redirect_to for row in targets if row.redirect_to is not None} - redirects.keys()
    return redirects


def _mark_loops(
    connection: Connection, change: RedirectChange, rules: VisitRules, now: datetime, additions: Additions
) -> None:
    rows = lock_resources(connection, change.looped | change.freed)
    keys = {key_of(Stage.FETCH, row.url): row.id for row in rows.values()}
    query = select(problem.c.key, problem.c.code)
    noted = select_in_chunks(connection, keys, lambda part: query.where(problem.c.key.in_(part)))
    codes = {keys[bytes(row.key)]: row.code for row in noted}
    members = {row.id: LoopMember(row.id, row.url, codes.get(row.id, "")) for row in rows.values()}
    looped = [member for row, member in members.items() if row in change.looped]
    marks = rules.mark_loops(looped, [member for row, member in members.items() if row in change.freed], now=now)
    set_outcomes(connection, rows.values(), marks.outcomes, additions)
    keep_problems(connection, marks.problems)
    clear_problems(connection, Stage.FETCH, marks.solved)

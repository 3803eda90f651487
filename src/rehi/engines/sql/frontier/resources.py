"""Resources: the rows of URLs, as a transaction finds, makes, locks and changes them, and where they redirect to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from rehi.engines.sql.database import Database
from rehi.engines.sql.dialects.dialect import Guarded, NewResource
from rehi.engines.sql.frontier.hosts import ensure_hosts, origin_of
from rehi.engines.sql.index.tally import HOUSE, Additions
from rehi.engines.sql.ledger.problems import clear_problems, keep_problems
from rehi.engines.sql.outbox.port import put_work
from rehi.engines.sql.statements.driver import BulkUpdate, SelectByUrl, SelectMany, select_in_chunks
from rehi.engines.sql.statements.values import from_micros, key_of, storable, tail_of, to_due, to_micros
from rehi.engines.sql.tables import problem, resource
from rehi.model.problem import Stage
from rehi.model.resource import LoopMember, RedirectChange, Redirects, ResourceChange, ResourceState
from rehi.model.version import Digest
from rehi.model.visit import Outcome
from rehi.ports import VisitRules

_TARGETS = SelectMany("SELECT id, redirect_to FROM resource", "id", "bigint")
_VERSIONS = SelectMany("SELECT id, versions FROM resource", "id", "bigint")
_REDIRECT = BulkUpdate(
    resource, {"id": "bigint", "target": "bigint"}, {"redirect_to": "new.target"}, where="resource.id = new.id"
)
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


class ResourceRow(NamedTuple):
    """A resource's row as a transaction has read and locked it: what a row of ``_STATES`` is, by name and place."""

    id: int
    url: str
    host_id: int
    source_id: int | None
    state: str
    due_at: int | None
    status: int
    failures: int
    hops: int
    versions: int
    blob_id: int | None
    digest: str | None
    redirect_to: int | None
    visited_at: int | None
    changed_at: int | None
    media_type: str
    etag: str
    last_modified: str
    failing_since: int | None
    gone_at: int | None
    remarked: int
    history: bytes | None


_CHANGED = {
    "state": "text", "due_at": "bigint", "status": "bigint", "failures": "bigint", "versions": "bigint",
    "blob_id": "bigint", "visited_at": "bigint", "changed_at": "bigint", "media_type": "text", "etag": "text",
    "last_modified": "text", "failing_since": "bigint", "gone_at": "bigint", "remarked": "bigint", "history": "bytea",
}  # fmt: skip
_CHANGE = BulkUpdate(
    resource,
    {"id": "bigint", **_CHANGED},
    {name: f"new.{name}" for name in _CHANGED},
    where="resource.id = new.id",
)
_SET_STATE = BulkUpdate(
    resource, {"id": "bigint", "state": "text"}, {"state": "new.state"}, where="resource.id = new.id"
)
_COLUMNS = ", ".join("digest" if name == "digest" else f"resource.{name}" for name in ResourceRow._fields)
_STATES = f"SELECT {_COLUMNS} FROM resource LEFT JOIN blob ON blob.id = resource.blob_id"  # noqa: S608
_LOCK = "FOR NO KEY UPDATE OF resource"
_BY_ID = SelectMany(_STATES, "resource.id", "bigint", order="resource.id", lock=_LOCK)
_BY_URL = SelectByUrl(_STATES, lock=_LOCK)
_IDS = SelectByUrl("SELECT id, url FROM resource")


class Wanted(NamedTuple):
    """A URL that must have a row, and what a new row says."""

    url: str
    source_id: int | None = None
    due_at: int | None = None
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Ensured:
    """URLs that have rows."""

    ids: Mapping[str, int]
    woken: Mapping[int, int]  # by host when its new URLs are due
    new: frozenset[int]  # which nobody else can see yet; empty unless that is certain of all that were missing
    entered: int = 0  # how many have got their rows now


NONE_ENSURED = Ensured({}, {}, frozenset())


def find_ids(connection: Connection, urls: Iterable[str]) -> dict[str, int]:
    """Return the ids of those URLs that are known."""
    return {row.url: row.id for row in _IDS.run(connection, urls)}


def ensure_resources(
    connection: Connection, database: Database, wanted: Sequence[Wanted], additions: Additions
) -> Ensured:
    """See that URLs have rows; the first of several decides what a new row says."""
    by_url = {want.url: want for want in reversed(wanted)}
    known = find_ids(connection, by_url)
    missing = [want for url, want in sorted(by_url.items()) if url not in known]
    if not missing:
        return Ensured(known, {}, frozenset())
    hosts = ensure_hosts(connection, {origin_of(want.url) for want in missing})
    rows: list[NewResource] = [
        (hosts[origin_of(w.url)], w.url, tail_of(w.url), w.source_id, w.due_at, w.hops) for w in missing
    ]
    entered = database.dialect.insert_resources(connection, rows)
    additions.add(HOUSE, "state:waiting", entered)
    new = find_ids(connection, [want.url for want in missing])
    own = frozenset(new.values()) if entered == len(rows) else frozenset()
    return Ensured(known | new, {host_id: due for host_id, _, _, _, due, _ in rows if due is not None}, own, entered)


def lock_urls(
    connection: Connection, database: Database, wanted: Sequence[Wanted], additions: Additions
) -> dict[str, ResourceRow]:
    """Return the rows of URLs, locked until the transaction ends; those that are new are entered."""
    urls = {want.url for want in wanted}
    rows: dict[str, ResourceRow] = {row.url: row for row in _BY_URL.run(connection, urls)}
    if len(rows) < len(urls):
        ensure_resources(connection, database, [want for want in wanted if want.url not in rows], additions)
        rows |= {row.url: row for row in _BY_URL.run(connection, urls - rows.keys())}
    return rows


def lock_resources(connection: Connection, ids: Iterable[int]) -> dict[int, ResourceRow]:
    """Return the rows of resources by id, locked until the transaction ends."""
    return {row.id: row for row in _BY_ID.run(connection, sorted(set(ids)))}


def to_state(row: ResourceRow) -> ResourceState:
    """Return a row as the rules for visits see it."""
    return ResourceState(
        id=row.id,
        url=row.url,
        outcome=_OUTCOMES.get(row.state),
        status=row.status,
        failures=row.failures,
        failing_since=from_micros(row.failing_since),
        gone_at=from_micros(row.gone_at),
        remarked=bool(row.remarked),
        versions=row.versions,
        digest=None if row.digest is None else Digest(row.digest),
        changed_at=from_micros(row.changed_at),
        visited_at=from_micros(row.visited_at),
        media_type=row.media_type,
        etag=row.etag,
        last_modified=row.last_modified,
        history=row.history or b"",
        hops=row.hops,
    )


def write_resources(
    connection: Connection, changes: Iterable[tuple[ResourceRow, ResourceChange]], blob_ids: Mapping[str, int]
) -> None:
    """Store what has changed; ``blob_ids`` are those of digests that are new to a resource. Redirects are stored apart."""
    rows = []
    for row, change in changes:
        state = change.state
        rows.append(
            (
                row.id,
                row.state if state.outcome is None else state.outcome.value,
                row.due_at if change.due_at is None else to_due(change.due_at),
                state.status,
                state.failures,
                state.versions,
                row.blob_id if state.digest is None or state.digest == row.digest else blob_ids[state.digest],
                to_micros(state.visited_at),
                to_micros(state.changed_at),
                storable(state.media_type),
                storable(state.etag),
                storable(state.last_modified),
                to_micros(state.failing_since),
                to_micros(state.gone_at),
                int(state.remarked),
                state.history or None,
            )
        )
    _CHANGE.run(connection, rows)


def set_outcomes(
    connection: Connection, rows: Iterable[ResourceRow], outcomes: Mapping[int, Outcome], additions: Additions
) -> None:
    """Store other outcomes of the newest visits, by the resources' ids."""
    moved = [(row, outcomes[row.id].value) for row in rows if row.id in outcomes and row.state != outcomes[row.id]]
    for row, state in moved:
        additions.add(HOUSE, f"state:{row.state}", -1)
        additions.add(HOUSE, f"state:{state}")
    _SET_STATE.run(connection, [(row.id, state) for row, state in moved])


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
        database.dialect.guard(connection, Guarded.REDIRECTS)
    before = _chains(connection, {*seen, *(target for target in seen.values() if target is not None)})
    change = rules.follow_redirects(before, seen)
    _REDIRECT.run(connection, sorted(change.changed.items()))
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
    clear_problems(connection, [(Stage.FETCH, url) for url in marks.solved])

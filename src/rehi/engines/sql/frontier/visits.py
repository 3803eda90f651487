"""Visits: recorded with all that the rules for visits make of them and of the past, in one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import Connection, select, tuple_

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.hosts import settle_hosts
from rehi.engines.sql.frontier.resources import (
    NONE_ENSURED,
    ResourceRow,
    Wanted,
    change_redirects,
    ensure_resources,
    lock_urls,
    to_state,
    write_resources,
)
from rehi.engines.sql.index.tally import DAYS, HOUSE, Additions, day_of
from rehi.engines.sql.ledger.bodies import (
    VERSIONS,
    keep_blobs,
    keep_files,
    keep_versions,
    place_of,
    revive_blobs,
    to_ref,
    to_version,
)
from rehi.engines.sql.ledger.holdings import count_versions
from rehi.engines.sql.ledger.problems import clear_problems, keep_problems
from rehi.engines.sql.outbox.port import put_work
from rehi.engines.sql.sources.findings import depths_of, enter_depths, join_source, source_ids_of
from rehi.engines.sql.statements.driver import BulkUpdate, Upsert, select_in_chunks
from rehi.engines.sql.statements.values import from_micros, to_due, to_micros
from rehi.engines.sql.tables import file, version, visit
from rehi.engines.sql.workers.port import add_to_share
from rehi.model.problem import Stage
from rehi.model.resource import NO_PAST, Correction, PastVersion, PastVisit, ResourceChange, ResourcePast
from rehi.model.version import RecordRef
from rehi.model.visit import Outcome, Visited
from rehi.model.work import HostRelease
from rehi.ports import VisitRules

_CORRECT = BulkUpdate(
    visit,
    {"resource": "bigint", "moment": "bigint", "outcome": "text"},
    {"outcome": "new.outcome"},
    where="visit.resource_id = new.resource AND visit.at = new.moment",
)
_NEXT_VISIT = (
    select(visit.c.at, file.c.name, visit.c.offset, visit.c.length)
    .outerjoin(file, file.c.id == visit.c.file_id)
    .order_by(visit.c.at)
    .limit(1)
)
_ENTER = Upsert(
    visit,
    ("resource_id", "at", "outcome", "status", "seconds", "size", "file_id", "offset", "length"),
    unique=("resource_id", "at"),
)
_DAY = 86_400_000_000  # microseconds
_Change = tuple[ResourceRow, ResourceChange]
_Moments = dict[int, dict[int, Visited]]  # visits by the ids of their resources and by when they were


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """How visits are recorded: by which worker and rules, for which update, and when."""

    worker: str
    rules: VisitRules
    update_id: int | None
    now: datetime


@dataclass(frozen=True, slots=True)
class _Batch:
    """The changes that the visits of one transaction make."""

    recording: Recording
    changes: Sequence[_Change]
    additions: Additions

    def refs(self) -> Iterator[RecordRef | None]:
        """Yield the places of records that the catalogue may not know of."""
        for _, change in self.changes:
            for seen, _ in change.visits:
                yield seen.record
                if seen.body is not seen.record:
                    yield seen.body
            for new in change.versions:
                if not new.held:
                    yield new.record
                    yield new.body


def record_visits(
    connection: Connection,
    database: Database,
    visited: Sequence[Visited],
    released: Sequence[HostRelease],
    recording: Recording,
) -> None:
    """Record the visits that are not on record yet, and take leases back."""
    additions = Additions()
    wanted = [
        Wanted(seen.url, seen.source_id, None if seen.next_at is None else to_due(seen.next_at)) for seen in visited
    ]
    by_url = lock_urls(connection, database, wanted, additions)
    if mine := {(seen.source_id, by_url[seen.url].id) for seen in visited if seen.source_id is not None}:
        join_source(connection, mine, to_micros(recording.now), additions)
    rows = {row.id: row for row in by_url.values()}
    visits: _Moments = defaultdict(dict)
    for seen in visited:
        visits[by_url[seen.url].id].setdefault(to_micros(seen.at), seen)
    if any(row.visited_at is not None for row in rows.values()):
        _leave_out_recorded(connection, rows, visits)
    batch = _Batch(recording, _judge(connection, rows, visits, recording), additions)
    _count(batch, source_ids_of(connection, [row.id for row, _ in batch.changes]))
    _write(connection, database, batch, released)
    additions.write(connection, database)
    if recording.update_id is not None:
        counts = Counter(chain.from_iterable(change.counts for _, change in batch.changes))
        add_to_share(connection, recording.update_id, recording.worker, counts)


def _leave_out_recorded(connection: Connection, rows: Mapping[int, ResourceRow], visits: _Moments) -> None:
    # What is later than the last visit can't be on record.
    doubtful = [
        (row, at)
        for row, moments in visits.items()
        if (last := rows[row].visited_at) is not None
        for at in moments
        if at <= last
    ]
    query = select(visit.c.resource_id, visit.c.at)
    key = tuple_(visit.c.resource_id, visit.c.at)
    for row, at in select_in_chunks(connection, doubtful, lambda part: query.where(key.in_(part))):
        del visits[row][at]


def _judge(
    connection: Connection, rows: Mapping[int, ResourceRow], visits: _Moments, recording: Recording
) -> list[_Change]:
    """Return what the rules make of each resource; the past of those is loaded that have a visit before their newest."""
    rules, now = recording.rules, recording.now
    late = {}
    for row, moments in visits.items():
        last = rows[row].visited_at
        if last is not None and moments and min(moments) < last:
            late[row] = [at for at in moments if at < last]
    pasts = _load_pasts(connection, late, confirming=rules.confirming) if late else {}
    return [
        (rows[row], rules.apply_visits(to_state(rows[row]), [*moments.values()], pasts.get(row, NO_PAST), now=now))
        for row, moments in visits.items()
        if moments
    ]


def _count(batch: _Batch, sources: Mapping[int, tuple[int, ...]]) -> None:
    """Count visits by day and by the sources of their resources; most of a batch are of one day, and of a few sources."""
    additions = batch.additions
    days: Counter[int] = Counter()
    by_sources: defaultdict[tuple[int, ...], defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row, change in batch.changes:
        numbers, state = by_sources[sources.get(row.id, ())], change.state.outcome
        if state is not None and row.state != state:
            additions.add(HOUSE, f"state:{row.state}", -1)
            additions.add(HOUSE, f"state:{state.value}")
        for seen, outcome in change.visits:
            days[to_micros(seen.at) // _DAY] += 1
            numbers["visited"] += 1
            numbers[outcome.value] += 1
            numbers["bytes"] += seen.size
            numbers["seconds:fetch"] += seen.seconds
        for new in change.versions:
            additions.add(HOUSE, "versions")
            additions.add(HOUSE, "bytes", new.size)
        for correction in change.corrections:
            numbers[correction.before.value] -= 1
            numbers[correction.after.value] += 1
    for source_ids, numbers in by_sources.items():
        additions.add_all(source_ids, numbers)
    additions.add(HOUSE, "visits", days.total())
    for day, n in days.items():
        additions.add(DAYS, day_of(from_micros(day * _DAY)), n)


def _write(connection: Connection, database: Database, batch: _Batch, released: Sequence[HostRelease]) -> None:
    changes = batch.changes
    versions = list(chain.from_iterable(change.versions for _, change in changes))
    files = keep_files(connection, batch.refs(), owner=batch.recording.worker)
    blobs = keep_blobs(connection, versions, files)
    write_resources(connection, changes, {digest: blob.id for digest, blob in blobs.items()})
    rows = [
        (
            row.id, to_micros(seen.at), outcome.value, seen.status, float(seen.seconds), seen.size,
            *place_of(seen.record, files),
        )
        for row, change in changes
        for seen, outcome in change.visits
    ]  # fmt: skip
    _ENTER.run(connection, rows)
    if corrections := [(row.id, one) for row, change in changes for one in change.corrections]:
        _correct_visits(connection, corrections)
    revived = keep_versions(connection, versions, blobs, files)
    again = {change.state.digest: change.kept_again for _, change in changes if change.kept_again is not None}
    if again:
        revived |= revive_blobs(connection, {digest: ref for digest, ref in again.items() if digest is not None}, files)
    hosts = {row.id: row.host_id for row, _ in changes}
    count_versions(connection, versions, blobs, hosts, batch.additions, revived=revived)
    put_work(connection, "resource", [row.id for row, change in changes if change.tells_graph])
    looped = _settle(connection, database, batch, released)
    ended = [(Stage.FETCH, row.url) for row, change in changes if change.problems_end and row.id not in looped]
    clear_problems(connection, ended)
    if problems := [one for _, change in changes for one in change.problems]:
        keep_problems(connection, problems)


def _settle(
    connection: Connection, database: Database, batch: _Batch, released: Sequence[HostRelease]
) -> frozenset[int]:
    """Wake the hosts on which something is due, give back those that were held, and store redirects with their targets.

    Returns the resources that are on a circle of redirects.
    """
    now, rules = batch.recording.now, batch.recording.rules
    seen = [
        (row, change)
        for row, change in batch.changes
        if change.redirect_to or (change.redirect_to is not None and row.redirect_to is not None)
    ]
    due = to_micros(now)
    wanted = [
        Wanted(change.redirect_to, row.source_id, due if change.target_due else None, change.target_hops)
        for row, change in seen
        if change.redirect_to
    ]
    targets = ensure_resources(connection, database, wanted, batch.additions) if wanted else NONE_ENSURED
    wake = dict(targets.woken)
    for row, change in batch.changes:
        due_at = row.due_at if change.due_at is None else to_due(change.due_at)
        if due_at is not None:
            wake[row.host_id] = min(due_at, wake.get(row.host_id, due_at))
    settle_hosts(connection, wake, released, now=now)
    if not seen:
        return frozenset()
    edges = {row.id: targets.ids[change.redirect_to] if change.redirect_to else None for row, change in seen}
    depths = rules.inherit_sources(edges, depths_of(connection, edges))
    enter_depths(connection, depths, due, batch.additions, new=targets.new)
    return change_redirects(
        connection,
        database,
        edges,
        {row.id: row for row, _ in seen},
        new=targets.new,
        rules=rules,
        now=now,
        additions=batch.additions,
    )


def _load_pasts(
    connection: Connection, late: Mapping[int, Iterable[int]], *, confirming: Outcome
) -> dict[int, ResourcePast]:
    """Return the versions of resources, and the first visit of an outcome after each of the given moments, by id."""
    versions: defaultdict[int, list[PastVersion]] = defaultdict(list)
    for row in select_in_chunks(connection, sorted(late), lambda part: VERSIONS.where(version.c.resource_id.in_(part))):
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


def _correct_visits(connection: Connection, corrections: Iterable[tuple[int, Correction]]) -> None:
    """Store other outcomes of visits on record, by the resources' ids; the last one of a visit holds."""
    outcomes = {(resource_id, to_micros(one.at)): one.after.value for resource_id, one in corrections}
    _CORRECT.run(connection, [(*key, outcome) for key, outcome in outcomes.items()])

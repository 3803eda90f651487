"""Visits: recorded with all that follows from them, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, select, tuple_

from rehi.engines.sql.database import Database
from rehi.engines.sql.frontier.backfill import Stand, Timelines, rename_visits
from rehi.engines.sql.frontier.hosts import settle_hosts
from rehi.engines.sql.frontier.redirects import change_redirects
from rehi.engines.sql.frontier.resources import ResourceState, Wanted, ensure_resources, lock_urls, write_resources
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.ledger.bodies import NewVersion, keep_blobs, keep_versions, revive_blobs
from rehi.engines.sql.ledger.files import File, keep_files
from rehi.engines.sql.ledger.holdings import count_versions
from rehi.engines.sql.outbox.rows import put_work
from rehi.engines.sql.sources.findings import inherit_sources, join_source
from rehi.engines.sql.statements.batches import select_in_chunks
from rehi.engines.sql.statements.moment import from_micros, to_due, to_micros
from rehi.engines.sql.statements.text import storable
from rehi.engines.sql.statements.upsert import Upsert
from rehi.engines.sql.tables import visit
from rehi.engines.sql.upkeep.problems import clear_problems, keep_problems
from rehi.engines.sql.upkeep.updates import add_to_share
from rehi.errors import FetchError
from rehi.model.problem import Problem, Stage
from rehi.model.version import RecordRef
from rehi.model.visit import Outcome, Visited
from rehi.model.work import HostRelease

_ENTER = Upsert(
    visit,
    ("resource_id", "at", "outcome", "status", "seconds", "size", "file_id", "offset", "length"),
    unique=("resource_id", "at"),
)
_DAY = 86_400_000_000  # microseconds
_BAD = (Outcome.FAILED, Outcome.FORBIDDEN, Outcome.GONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Who records visits, for which update, and when."""

    worker: str
    update_id: int | None
    now: datetime


@dataclass(slots=True)
class _Batch:
    """What the visits of one transaction come to."""

    recording: Recording
    additions: Additions
    counts: Counter[str] = field(default_factory=Counter)  # for the update
    visits: list[tuple[ResourceState, Visited, int, Outcome]] = field(default_factory=list)  # and when, in microseconds
    versions: list[NewVersion] = field(default_factory=list)
    problems: dict[int, list[Problem]] = field(default_factory=dict)
    cleared: set[int] = field(default_factory=set)
    targets: dict[int, str | None] = field(default_factory=dict)  # where it redirects from now on; None for nowhere
    told: set[int] = field(default_factory=set)  # of which the graph must be told
    echoes: list[tuple[int, int]] = field(default_factory=list)  # resources and moments of visits that found a change
    quiet: set[int] = field(default_factory=set)  # whose visits make nothing due


def record_visits(
    connection: Connection,
    database: Database,
    visited: Sequence[Visited],
    released: Sequence[HostRelease],
    recording: Recording,
) -> None:
    """Record the visits that are not on record yet, and take leases back."""
    additions = Additions()
    wanted = [Wanted(seen.url, seen.source_id, _due(seen)) for seen in visited]
    states = lock_urls(connection, database, wanted, additions)
    mine = {(seen.source_id, states[seen.url].id) for seen in visited if seen.source_id is not None}
    join_source(connection, mine, to_micros(recording.now))
    fresh = _unrecorded(connection, [(states[seen.url], seen, to_micros(seen.at)) for seen in visited])
    fresh.sort(key=itemgetter(2))  # so that only those are late that lie before what is on record
    batch = _Batch(recording, additions)
    timelines = Timelines(connection, {state.id for state, _, at in fresh if at < (state.visited_at or 0)})
    for state, seen, at in fresh:
        if at < (state.visited_at or 0):
            _apply_late(batch, timelines, state, seen, at)
        else:
            _apply(batch, state, seen, at)
    _count(batch)
    _write(connection, database, batch, {state.id: state for state, _, _ in fresh}, released)
    additions.write(connection, database)
    if recording.update_id is not None:
        add_to_share(connection, recording.update_id, recording.worker, batch.counts)


def _unrecorded(
    connection: Connection, found: Sequence[tuple[ResourceState, Visited, int]]
) -> list[tuple[ResourceState, Visited, int]]:
    by_key = {(one[0].id, one[2]): one for one in reversed(found)}
    # What is later than the last visit can't be on record.
    doubtful = [
        key for key, (state, _, at) in by_key.items() if state.visited_at is not None and at <= state.visited_at
    ]
    query = select(visit.c.resource_id, visit.c.at)
    which = tuple_(visit.c.resource_id, visit.c.at)
    known = {tuple(row) for row in select_in_chunks(connection, doubtful, lambda part: query.where(which.in_(part)))}
    return [one for key, one in reversed(by_key.items()) if key not in known]


def _apply(batch: _Batch, state: ResourceState, seen: Visited, at: int) -> None:
    outcome = seen.outcome
    if outcome is Outcome.NEW and (seen.digest is None or seen.digest == state.digest):
        outcome = Outcome.UNCHANGED
    batch.visits.append((state, seen, at, outcome))
    _note_problem(batch, state, seen, outcome)
    if outcome not in _BAD:
        state.failures, state.failing_since = 0, None
        batch.targets[state.id] = seen.redirect_to if outcome is Outcome.REDIRECT else None
    elif outcome is not Outcome.FORBIDDEN:
        state.failures += 1
        state.failing_since = state.failing_since or at
    _note_absence(batch, state, at, outcome)
    _describe(batch, state, seen, at, outcome)
    _count_for_update(batch, state, outcome)


def _apply_late(batch: _Batch, timelines: Timelines, state: ResourceState, seen: Visited, at: int) -> None:
    """A visit that lies before one that is on record changes the past, and the present only if nothing was found since."""
    outcome, digest = seen.outcome, seen.digest
    if outcome in (Outcome.NEW, Outcome.UNCHANGED):
        before = timelines.before(state.id, at)
        same = digest is None or (before is not None and before.digest == digest)
        outcome = Outcome.UNCHANGED if same else Outcome.NEW
    batch.visits.append((state, seen, at, outcome))
    if outcome is Outcome.NEW and digest is not None:
        new = _add_version(batch, state, seen, at, digest)
        stand = Stand(at, digest, new.size, new.media_type, new.status, new.record, new.body)
        if (again := timelines.enter(state.id, stand)) is not None:
            _repeat_version(batch, state, again)
    _count_for_update(batch, state, outcome)


def _repeat_version(batch: _Batch, state: ResourceState, again: Stand) -> None:
    """What an unchanged visit found is a version of its own now, since another one lies before it."""
    newest = again.at >= (state.changed_at or 0)
    if newest:
        batch.versions[-1] = replace(batch.versions[-1], read=False)
        state.digest, state.blob_id, state.changed_at = again.digest, None, again.at
        state.media_type = storable(again.media_type)
    state.versions += 1
    batch.versions.append(
        NewVersion(
            resource_id=state.id, number=state.versions, taken_at=again.at, digest=again.digest, size=again.size,
            media_type=again.media_type, status=again.status, record=again.record, body=again.body,
            read=newest, held=False,
        )
    )  # fmt: skip
    batch.echoes.append((state.id, again.at))
    batch.additions.add_to_house("versions")
    batch.additions.add_to_house("bytes", again.size)
    batch.additions.add(state.source_id, Outcome.UNCHANGED.value, -1)
    batch.additions.add(state.source_id, Outcome.NEW.value)


def _note_problem(batch: _Batch, state: ResourceState, seen: Visited, outcome: Outcome) -> None:
    bad = outcome in _BAD
    error = seen.error if bad else seen.remark
    if bad and error is None:
        error = FetchError(f"the visit {outcome.value}")
    if error is not None:
        problem = Problem.of(error, stage=Stage.FETCH, subject=state.url, at=batch.recording.now)
        batch.problems.setdefault(state.id, []).append(problem)
        batch.cleared.discard(state.id)
    else:
        if state.failures or state.remarked or state.state in _BAD:
            batch.cleared.add(state.id)
        batch.problems.pop(state.id, None)
    state.remarked = int(error is not None and not bad)


def _note_absence(batch: _Batch, state: ResourceState, at: int, outcome: Outcome) -> None:
    was = state.gone_at
    if outcome is Outcome.GONE:
        state.gone_at = state.gone_at or at
    elif outcome not in _BAD:
        state.gone_at = None
    if state.gone_at != was and state.versions:  # the graph knows nothing of what never had a version
        batch.told.add(state.id)


def _describe(batch: _Batch, state: ResourceState, seen: Visited, at: int, outcome: Outcome) -> None:
    if outcome is Outcome.NEW:
        assert seen.digest is not None
        _add_version(batch, state, seen, at, seen.digest)
    elif outcome is Outcome.UNCHANGED:
        state.etag = storable(seen.etag) or state.etag
        state.last_modified = storable(seen.last_modified) or state.last_modified
    if state.state != outcome:
        batch.additions.add_to_house(f"state:{state.state}", -1)
        batch.additions.add_to_house(f"state:{outcome.value}")
        state.state = outcome.value
    state.status = seen.status
    state.visited_at = max(at, state.visited_at or 0)
    if seen.next_at is not None:
        state.due_at = to_due(seen.next_at)
    else:
        batch.quiet.add(state.id)
    state.history = seen.history or state.history


def _add_version(batch: _Batch, state: ResourceState, seen: Visited, at: int, digest: str) -> NewVersion:
    record = seen.record or seen.body
    if record is None:
        raise ValueError(f"a new version of {seen.url} without a record")
    state.versions += 1
    newest = at >= (state.changed_at or 0)
    if newest:
        state.digest = digest
        state.blob_id = None
        state.changed_at = at
        state.media_type = storable(seen.media_type)
        state.etag = storable(seen.etag)
        state.last_modified = storable(seen.last_modified)
    new = NewVersion(
        resource_id=state.id,
        number=state.versions,
        taken_at=at,
        digest=digest,
        size=seen.size,
        media_type=seen.media_type,
        status=seen.status,
        record=record,
        body=seen.body or record,
        read=newest,
    )
    batch.versions.append(new)
    batch.additions.add_to_house("versions")
    batch.additions.add_to_house("bytes", seen.size)
    return new


def _count(batch: _Batch) -> None:
    """Count visits by day and source; most of a batch are of one day, and of a few sources."""
    additions = batch.additions
    additions.add_to_house("visits", len(batch.visits))
    for day, n in Counter(at // _DAY for _, _, at, _ in batch.visits).items():
        additions.add_to_day(from_micros(day * _DAY), n)
    for (source_id, outcome), n in Counter((state.source_id, outcome) for state, _, _, outcome in batch.visits).items():
        additions.add(source_id, "visited", n)
        additions.add(source_id, outcome.value, n)
    for state, seen, _, _ in batch.visits:
        additions.add(state.source_id, "bytes", seen.size)
        additions.add(state.source_id, "seconds:fetch", seen.seconds)


def _count_for_update(batch: _Batch, state: ResourceState, outcome: Outcome) -> None:
    batch.counts["visited"] += 1
    if outcome is Outcome.NEW:
        batch.counts["first" if state.versions == 1 else "changed"] += 1
    elif outcome in (Outcome.UNCHANGED, Outcome.REDIRECT, Outcome.GONE):
        batch.counts[outcome.value] += 1
    if outcome in (Outcome.FAILED, Outcome.FORBIDDEN) or state.remarked:
        batch.counts["problems"] += 1


def _write(
    connection: Connection,
    database: Database,
    batch: _Batch,
    states: dict[int, ResourceState],
    released: Sequence[HostRelease],
) -> None:
    refs = [ref for _, seen, _, _ in batch.visits for ref in (seen.record, seen.body)]
    refs += [ref for new in batch.versions if not new.held for ref in (new.record, new.body)]
    files = keep_files(connection, refs, owner=batch.recording.worker)
    blobs = keep_blobs(connection, batch.versions, files)
    for new in batch.versions:
        if (state := states[new.resource_id]).blob_id is None:  # a late version leaves it as it is
            state.blob_id = blobs[state.digest or ""].id
    write_resources(connection, states.values())
    _ENTER.run_values(connection, [_visit_row(*visit, files) for visit in batch.visits])
    rename_visits(connection, batch.echoes)
    revived = keep_versions(connection, batch.versions, blobs, files)
    revived |= revive_blobs(connection, _kept_again(batch), files)
    hosts = {row: state.host_id for row, state in states.items()}
    count_versions(connection, batch.versions, blobs, hosts, batch.additions, revived=revived)
    put_work(connection, "resource", batch.told.union(new.resource_id for new in batch.versions))
    looped = _write_redirects(connection, database, batch, states, released)
    clear_problems(connection, Stage.FETCH, [states[row].url for row in batch.cleared - looped])
    keep_problems(connection, [one for many in batch.problems.values() for one in many])


def _kept_again(batch: _Batch) -> dict[str, RecordRef]:
    """Where bytes lie that are the resource's newest already, but were kept once more: they had been dropped."""
    return {
        seen.digest: seen.record
        for state, seen, _, outcome in batch.visits
        if outcome is Outcome.UNCHANGED and seen.record is not None and seen.record == seen.body
        if seen.digest is not None and seen.digest == state.digest
    }


def _write_redirects(
    connection: Connection,
    database: Database,
    batch: _Batch,
    states: dict[int, ResourceState],
    released: Sequence[HostRelease],
) -> set[int]:
    now = batch.recording.now
    targets = {row: url for row, url in batch.targets.items() if url or states[row].redirect_to is not None}
    due = to_micros(now)
    wanted = [
        Wanted(url, states[row].source_id, None if row in batch.quiet else due, states[row].hops + 1)
        for row, url in targets.items()
        if url
    ]
    there = ensure_resources(connection, database, wanted, batch.additions)
    wake: dict[int, int] = dict(there.woken)
    for state in states.values():
        if state.due_at is not None:
            wake[state.host_id] = min(state.due_at, wake.get(state.host_id, state.due_at))
    settle_hosts(connection, wake, released, now=now)
    edges = {row: there.ids[url] if url else None for row, url in targets.items()}
    inherit_sources(connection, edges, due)
    return change_redirects(connection, database, edges, states, new=there.new, now=now, additions=batch.additions)


def _due(seen: Visited) -> int | None:
    return None if seen.next_at is None else to_due(seen.next_at)


def _visit_row(
    state: ResourceState, seen: Visited, at: int, outcome: Outcome, files: Mapping[str, File]
) -> tuple[Any, ...]:
    record = seen.record
    place = (None, None, None) if record is None else (files[record.file].id, record.offset, record.length)
    return (state.id, at, outcome.value, seen.status, float(seen.seconds), seen.size, *place)

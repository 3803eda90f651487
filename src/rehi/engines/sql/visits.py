"""Visits: recorded with all that follows from them, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, tuple_

from rehi.engines.sql.bodies import NewVersion, keep_blobs, keep_versions
from rehi.engines.sql.database import Database, gather
from rehi.engines.sql.files import File, keep_files
from rehi.engines.sql.graphlist import list_for_graph
from rehi.engines.sql.hosts import settle_hosts
from rehi.engines.sql.insertion import Insertion
from rehi.engines.sql.moment import from_micros, to_due, to_micros
from rehi.engines.sql.problems import clear_problems, keep_problems, problem_of
from rehi.engines.sql.redirects import change_redirects
from rehi.engines.sql.resources import ResourceState, Wanted, ensure_resources, lock_urls, write_resources
from rehi.engines.sql.schema import visit
from rehi.engines.sql.tally import Additions
from rehi.engines.sql.text import storable
from rehi.engines.sql.updates import add_to_share
from rehi.errors import FetchError
from rehi.model.problem import Problem, Stage
from rehi.model.visit import Outcome, Visited
from rehi.model.work import HostRelease

_ENTER = Insertion(
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


def record_visits(
    connection: Connection,
    database: Database,
    visited: Sequence[Visited],
    released: Sequence[HostRelease],
    recording: Recording,
) -> None:
    """Record the visits that are not on record yet, and take leases back."""
    additions = Additions()
    wanted = [Wanted(seen.url, None, to_due(seen.next_at)) for seen in visited]
    states = lock_urls(connection, database, wanted, additions)
    fresh = _unrecorded(connection, [(states[seen.url], seen, to_micros(seen.at)) for seen in visited])
    batch = _Batch(recording, additions)
    for state, seen, at in fresh:
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
    known = {tuple(row) for row in gather(connection, doubtful, lambda part: query.where(which.in_(part)))}
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


def _note_problem(batch: _Batch, state: ResourceState, seen: Visited, outcome: Outcome) -> None:
    bad = outcome in _BAD
    error = seen.error if bad else seen.remark
    if bad and error is None:
        error = FetchError(f"the visit {outcome.value}")
    if error is not None:
        problem = problem_of(error, stage=Stage.FETCH, subject=state.url, at=batch.recording.now)
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
    state.due_at = to_due(seen.next_at)
    state.history = seen.history or state.history


def _add_version(batch: _Batch, state: ResourceState, seen: Visited, at: int, digest: str) -> None:
    record = seen.record or seen.body
    if record is None:
        raise ValueError(f"a new version of {seen.url} without a record")
    state.versions += 1
    state.digest = digest
    state.blob_id = None
    state.changed_at = at
    state.media_type = storable(seen.media_type)
    state.etag = storable(seen.etag)
    state.last_modified = storable(seen.last_modified)
    batch.versions.append(
        NewVersion(
            resource_id=state.id,
            number=state.versions,
            taken_at=at,
            digest=digest,
            size=seen.size,
            media_type=seen.media_type,
            status=seen.status,
            record=record,
            body=seen.body or record,
        )
    )
    batch.additions.add_to_house("versions")
    batch.additions.add_to_house("bytes", seen.size)


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
    files = keep_files(connection, refs, owner=batch.recording.worker)
    blobs = keep_blobs(connection, batch.versions, files)
    for new in batch.versions:
        states[new.resource_id].blob_id = blobs[states[new.resource_id].digest or ""].id
    write_resources(connection, states.values())
    _ENTER.enter_values(connection, [_visit_row(*visit, files) for visit in batch.visits])
    keep_versions(connection, batch.versions, blobs, files)
    list_for_graph(connection, resources=batch.told.union(new.resource_id for new in batch.versions))
    looped = _write_redirects(connection, database, batch, states, released)
    clear_problems(connection, Stage.FETCH, [states[row].url for row in batch.cleared - looped])
    keep_problems(connection, [one for many in batch.problems.values() for one in many])


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
    wanted = [Wanted(url, states[row].source_id, due, states[row].hops + 1) for row, url in targets.items() if url]
    there = ensure_resources(connection, database, wanted, batch.additions)
    wake: dict[int, int] = dict(there.woken)
    for state in states.values():
        if state.due_at is not None:
            wake[state.host_id] = min(state.due_at, wake.get(state.host_id, state.due_at))
    settle_hosts(connection, wake, released, now=now)
    edges = {row: there.ids[url] if url else None for row, url in targets.items()}
    return change_redirects(connection, database, edges, states, new=there.new, now=now, additions=batch.additions)


def _visit_row(
    state: ResourceState, seen: Visited, at: int, outcome: Outcome, files: Mapping[str, File]
) -> tuple[Any, ...]:
    record = seen.record
    place = (None, None, None) if record is None else (files[record.file].id, record.offset, record.length)
    return (state.id, at, outcome.value, seen.status, float(seen.seconds), seen.size, *place)

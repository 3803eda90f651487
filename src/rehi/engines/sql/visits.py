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
from rehi.engines.sql.files import File, keep_files, place_of
from rehi.engines.sql.graphlist import list_for_graph
from rehi.engines.sql.hosts import settle_hosts
from rehi.engines.sql.insertion import Insertion
from rehi.engines.sql.moment import to_due, to_micros
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
    visits: list[tuple[ResourceState, Visited, Outcome]] = field(default_factory=list)
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
    fresh = _unrecorded(connection, [(states[seen.url], seen) for seen in visited])
    batch = _Batch(recording, additions)
    for state, seen in fresh:
        _apply(batch, state, seen)
    _write(connection, database, batch, {state.id: state for state, _ in fresh}, released)
    additions.write(connection, database)
    if recording.update_id is not None:
        add_to_share(connection, recording.update_id, recording.worker, batch.counts)


def _unrecorded(
    connection: Connection, pairs: Sequence[tuple[ResourceState, Visited]]
) -> list[tuple[ResourceState, Visited]]:
    by_key = {(state.id, to_micros(seen.at)): (state, seen) for state, seen in reversed(pairs)}
    # What is later than the last visit can't be on record.
    doubtful = [
        key for key, (state, _) in by_key.items() if state.visited_at is not None and key[1] <= state.visited_at
    ]
    query = select(visit.c.resource_id, visit.c.at)
    which = tuple_(visit.c.resource_id, visit.c.at)
    known = {tuple(row) for row in gather(connection, doubtful, lambda part: query.where(which.in_(part)))}
    return [pair for name, pair in reversed(by_key.items()) if name not in known]


def _apply(batch: _Batch, state: ResourceState, seen: Visited) -> None:
    outcome = seen.outcome
    if outcome is Outcome.NEW and (seen.digest is None or seen.digest == state.digest):
        outcome = Outcome.UNCHANGED
    batch.visits.append((state, seen, outcome))
    _note_problem(batch, state, seen, outcome)
    if outcome not in _BAD:
        state.failures, state.failing_since = 0, None
        batch.targets[state.id] = seen.redirect_to if outcome is Outcome.REDIRECT else None
    elif outcome is not Outcome.FORBIDDEN:
        state.failures += 1
        state.failing_since = state.failing_since or to_micros(seen.at)
    _note_absence(batch, state, seen, outcome)
    _describe(batch, state, seen, outcome)
    _count(batch, state, seen, outcome)


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


def _note_absence(batch: _Batch, state: ResourceState, seen: Visited, outcome: Outcome) -> None:
    was = state.gone_at
    if outcome is Outcome.GONE:
        state.gone_at = state.gone_at or to_micros(seen.at)
    elif outcome not in _BAD:
        state.gone_at = None
    if state.gone_at != was and state.versions:  # the graph knows nothing of what never had a version
        batch.told.add(state.id)


def _describe(batch: _Batch, state: ResourceState, seen: Visited, outcome: Outcome) -> None:
    if outcome is Outcome.NEW:
        assert seen.digest is not None
        _add_version(batch, state, seen, seen.digest)
    elif outcome is Outcome.UNCHANGED:
        state.etag = storable(seen.etag) or state.etag
        state.last_modified = storable(seen.last_modified) or state.last_modified
    batch.additions.add_to_house(f"state:{state.state}", -1)
    batch.additions.add_to_house(f"state:{outcome.value}")
    state.state = outcome.value
    state.status = seen.status
    state.visited_at = max(to_micros(seen.at), state.visited_at or 0)
    state.due_at = to_due(seen.next_at)
    state.history = seen.history or state.history


def _add_version(batch: _Batch, state: ResourceState, seen: Visited, digest: str) -> None:
    record = seen.record or seen.body
    if record is None:
        raise ValueError(f"a new version of {seen.url} without a record")
    state.versions += 1
    state.digest = digest
    state.blob_id = None
    state.changed_at = to_micros(seen.at)
    state.media_type = storable(seen.media_type)
    state.etag = storable(seen.etag)
    state.last_modified = storable(seen.last_modified)
    batch.versions.append(
        NewVersion(
            resource_id=state.id,
            number=state.versions,
            taken_at=to_micros(seen.at),
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


def _count(batch: _Batch, state: ResourceState, seen: Visited, outcome: Outcome) -> None:
    additions = batch.additions
    additions.add_to_house("visits")
    additions.add_to_day(seen.at)
    additions.add(state.source_id, "visited")
    additions.add(state.source_id, outcome.value)
    additions.add(state.source_id, "bytes", seen.size)
    additions.add(state.source_id, "seconds:fetch", seen.seconds)
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
    refs = [ref for _, seen, _ in batch.visits for ref in (seen.record, seen.body)]
    files = keep_files(connection, refs, owner=batch.recording.worker)
    blobs = keep_blobs(connection, batch.versions, files)
    for new in batch.versions:
        states[new.resource_id].blob_id = blobs[states[new.resource_id].digest or ""].id
    write_resources(connection, states.values())
    _ENTER.enter(connection, [_visit_row(*seen, files) for seen in batch.visits])
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
    ids, woken = ensure_resources(connection, database, wanted, batch.additions)
    wake: dict[int, int] = dict(woken)
    for state in states.values():
        if state.due_at is not None:
            wake[state.host_id] = min(state.due_at, wake.get(state.host_id, state.due_at))
    settle_hosts(connection, wake, released, now=now)
    edges = {row: ids[url] if url else None for row, url in targets.items()}
    return change_redirects(connection, database, edges, states, now=now, additions=batch.additions)


def _visit_row(state: ResourceState, seen: Visited, outcome: Outcome, files: Mapping[str, File]) -> dict[str, Any]:
    return {
        "resource_id": state.id,
        "at": to_micros(seen.at),
        "outcome": outcome.value,
        "status": seen.status,
        "seconds": float(seen.seconds),
        "size": seen.size,
        **place_of(seen.record, files),
    }

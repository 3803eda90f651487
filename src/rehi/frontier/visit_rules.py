"""The rules for visits: what becomes of a resource by them, and where its redirects end or go round in a circle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any

from rehi.errors import FetchError, RedirectLoop
from rehi.frontier.backfill import Timeline
from rehi.model.problem import Problem, Stage
from rehi.model.resource import (
    NO_PAST,
    Correction,
    Depths,
    LoopMarks,
    LoopMember,
    NewVersion,
    PastVersion,
    RedirectChange,
    Redirects,
    ResourceChange,
    ResourcePast,
    ResourceState,
)
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Outcome, Visited

_BAD = frozenset({Outcome.FAILED, Outcome.FORBIDDEN, Outcome.GONE})
_COUNTED = frozenset({Outcome.UNCHANGED, Outcome.REDIRECT, Outcome.GONE})  # by their own names
_CONFIRMING = Outcome.UNCHANGED
_moment = attrgetter("at")


@dataclass(slots=True)
class _Course:
    """A resource while visits are applied to it, one after the other."""

    state: ResourceState
    now: datetime
    past: ResourcePast
    timeline: Timeline | None = None  # made of the past when a visit is late
    visits: list[tuple[Visited, Outcome]] = field(default_factory=list)
    versions: list[NewVersion] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    problems_end: bool = False
    absence: bool = False
    redirect_to: str | None = None
    target_due: bool = True
    due_at: datetime | None = None


def apply_visits(
    state: ResourceState, visits: Sequence[Visited], past: ResourcePast = NO_PAST, *, now: datetime
) -> ResourceChange:
    """Return what visits to a resource make of it, whatever their order.

    ``past`` is needed if one of them lies before the resource's newest visit.
    """
    course = _Course(state, now, past)
    for visit in sorted(visits, key=_moment) if len(visits) > 1 else visits:
        if course.state.visited_at is not None and visit.at < course.state.visited_at:
            _apply_late(course, visit)
        else:
            _apply(course, visit)
    return ResourceChange(
        state=course.state,
        visits=tuple(course.visits),
        versions=tuple(course.versions),
        corrections=tuple(course.corrections),
        due_at=course.due_at,
        redirect_to=course.redirect_to,
        target_due=course.target_due,
        target_hops=state.hops + 1,
        problems=tuple(course.problems),
        problems_end=course.problems_end,
        tells_graph=course.absence or bool(course.versions),
        kept_again=_kept_again(course),
        counts=tuple(course.counts),
    )


def _apply(course: _Course, visit: Visited) -> None:
    """Apply a visit that lies after all that are on record: it changes what the resource is now."""
    before = course.state
    outcome = visit.outcome
    if outcome is Outcome.NEW and (visit.digest is None or visit.digest == before.digest):
        outcome = Outcome.UNCHANGED
    bad = outcome in _BAD
    error = _note(course, visit, outcome)
    if outcome is Outcome.NEW and visit.digest is not None:
        _add_version(course, visit, visit.digest)
    after = _state_after(before, visit, outcome, remarked=error is not None and not bad)
    course.state = after
    course.visits.append((visit, outcome))
    if not bad:
        course.redirect_to = visit.redirect_to if outcome is Outcome.REDIRECT else ""
        course.target_due = visit.next_at is not None
    # The graph knows nothing of what never had a version.
    course.absence = course.absence or (before.gone_at != after.gone_at and before.versions > 0)
    course.due_at = visit.next_at or course.due_at
    _count(course, outcome, remarked=after.remarked)


def _state_after(before: ResourceState, visit: Visited, outcome: Outcome, *, remarked: bool) -> ResourceState:
    """Return what a resource is after a visit. Made anew: ``replace`` takes three times as long, for each visit."""
    new, same = outcome is Outcome.NEW, outcome is Outcome.UNCHANGED
    failures, failing_since, gone_at = _failures(before, visit, outcome)
    return ResourceState(
        id=before.id,
        url=before.url,
        outcome=outcome,
        status=visit.status,
        failures=failures,
        failing_since=failing_since,
        gone_at=gone_at,
        remarked=remarked,
        versions=before.versions + new,
        digest=visit.digest if new else before.digest,
        changed_at=visit.at if new else before.changed_at,
        visited_at=visit.at,
        media_type=visit.media_type if new else before.media_type,
        etag=visit.etag if new or (same and visit.etag) else before.etag,
        last_modified=visit.last_modified if new or (same and visit.last_modified) else before.last_modified,
        history=visit.history or before.history,
        hops=before.hops,
    )


def _failures(state: ResourceState, visit: Visited, outcome: Outcome) -> tuple[int, datetime | None, datetime | None]:
    """Return how often a resource has failed, since when, and since when it is gone; being forbidden changes nothing."""
    if outcome not in _BAD:
        return 0, None, None
    if outcome is Outcome.FORBIDDEN:
        return state.failures, state.failing_since, state.gone_at
    gone_at = state.gone_at or visit.at if outcome is Outcome.GONE else state.gone_at
    return state.failures + 1, state.failing_since or visit.at, gone_at


def _note(course: _Course, visit: Visited, outcome: Outcome) -> FetchError | None:
    """Note what went wrong or is worth a remark, and return it; a visit without either ends what was noted before."""
    state = course.state
    error = visit.remark
    if outcome in _BAD:
        error = visit.error or FetchError(f"the visit {outcome.value}")
    if error is not None:
        problem = Problem.of(error, stage=Stage.FETCH, subject=state.url, at=course.now)
        course.problems.append(problem)
        course.problems_end = False
    else:
        noted = state.failures > 0 or state.remarked or state.outcome in _BAD
        course.problems_end = course.problems_end or noted
        course.problems.clear()
    return error


def _apply_late(course: _Course, visit: Visited) -> None:
    """Apply a visit before one that is on record: it changes the past, and the present only if nothing was found since."""
    outcome, digest = visit.outcome, visit.digest
    timeline = course.timeline = course.timeline or Timeline(course.past)
    if outcome in (Outcome.NEW, Outcome.UNCHANGED):
        valid = timeline.valid_at(visit.at)
        same = digest is None or (valid is not None and valid.digest == digest)
        outcome = Outcome.UNCHANGED if same else Outcome.NEW
    course.visits.append((visit, outcome))
    if outcome is Outcome.NEW and digest is not None:
        before = course.state
        new = _add_version(course, visit, digest)
        course.state = replace(before, versions=new.number, **(_validity(visit) if new.read else {}))
        if (repeated := timeline.enter(_to_past(new))) is not None:
            _repeat_version(course, repeated, before)
    _count(course, outcome, remarked=False)


def _repeat_version(course: _Course, repeated: PastVersion, before: ResourceState) -> None:
    """Make what a visit on record found unchanged a version of its own, since another one lies before it."""
    state, number = course.state, course.state.versions + 1
    newest = state.changed_at is None or repeated.at >= state.changed_at
    if newest:  # all is as it was before the late version, of which the present tells nothing
        course.versions[-1] = replace(course.versions[-1], read=False)
        state = replace(before, changed_at=repeated.at)
    course.state = replace(state, versions=number)
    course.versions.append(
        NewVersion(
            resource_id=state.id, number=number, taken_at=repeated.at, digest=repeated.digest,
            size=repeated.size, media_type=repeated.media_type, status=repeated.status, record=repeated.record,
            body=repeated.body, read=newest, held=False,
        )
    )  # fmt: skip
    course.corrections.append(Correction(repeated.at, _CONFIRMING, Outcome.NEW))


def _add_version(course: _Course, visit: Visited, digest: Digest) -> NewVersion:
    record = visit.record or visit.body
    if record is None:
        raise ValueError(f"a new version of {visit.url} without a record")
    state = course.state
    new = NewVersion(
        resource_id=state.id,
        number=state.versions + 1,
        taken_at=visit.at,
        digest=digest,
        size=visit.size,
        media_type=visit.media_type,
        status=visit.status,
        record=record,
        body=visit.body or record,
        read=state.changed_at is None or visit.at >= state.changed_at,
    )
    course.versions.append(new)
    return new


def _validity(visit: Visited) -> dict[str, Any]:
    """Return what a resource is from a visit on that brought its newest version."""
    return {
        "digest": visit.digest,
        "changed_at": visit.at,
        "media_type": visit.media_type,
        "etag": visit.etag,
        "last_modified": visit.last_modified,
    }


def _to_past(new: NewVersion) -> PastVersion:
    return PastVersion(
        at=new.taken_at, digest=new.digest, size=new.size, media_type=new.media_type, status=new.status,
        record=new.record, body=new.body,
    )  # fmt: skip


def _kept_again(course: _Course) -> RecordRef | None:
    """Return where the bytes of the valid version lie that were kept once more, since they had been pruned."""
    for visit, outcome in reversed(course.visits):
        whole = visit.record is not None and visit.record == visit.body
        if whole and outcome is Outcome.UNCHANGED and visit.digest == course.state.digest is not None:
            return visit.record
    return None


def _count(course: _Course, outcome: Outcome, *, remarked: bool) -> None:
    counts = course.counts
    counts.append("visited")
    if outcome is Outcome.NEW:
        counts.append("first" if course.state.versions == 1 else "changed")
    elif outcome in _COUNTED:
        counts.append(outcome.value)
    if remarked or outcome is Outcome.FAILED or outcome is Outcome.FORBIDDEN:
        counts.append("problems")


def follow_redirects(before: Redirects, seen: Redirects) -> RedirectChange:
    """Return what redirects that visits have seen change, given all chains that begin at these resources and targets.

    A resource of which nothing was known is missing from ``before``.
    """
    changed = {row: target for row, target in seen.items() if before.get(row) != target}
    after = {**before, **changed}
    looped: set[int] = set()
    for row in seen:
        circle = circle_through(after, row)
        # A circle that was closed before is marked already, all but this visit.
        looped |= circle if circle & changed.keys() else circle & {row}
    freed = {row for start in changed for row in circle_through(before, start)} - looped - set(seen)
    ends = {end for row in changed for chains in (before, after) if (end := end_of(chains, row)) is not None}
    return RedirectChange(changed=changed, looped=frozenset(looped), freed=frozenset(freed), ends=frozenset(ends))


def circle_through(redirects: Redirects, row: int) -> set[int]:
    """Return the resources on the circle on which this one lies; none if it lies on none."""
    passed = {row}
    at = redirects.get(row)
    while at is not None and at not in passed:
        passed.add(at)
        at = redirects.get(at)
    return passed if at == row else set()


def end_of(redirects: Redirects, row: int) -> int | None:
    """Return the resource at which the redirects from this one end; None if they never do."""
    passed: set[int] = set()
    at = row
    while (target := redirects.get(at)) is not None:
        if at in passed:
            return None
        passed.add(at)
        at = target
    return at


def inherit_sources(redirects: Redirects, depths: Depths) -> Depths:
    """Return whose the targets of redirects are: theirs whose the resources are that redirect there, at the least depth.

    A redirect is no link: its target lies as near as what leads there.
    """
    inherited: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for row, target in redirects.items():
        if target is not None:
            nearest = inherited[target]
            for source_id, depth in depths.get(row, {}).items():
                nearest[source_id] = min(depth, nearest.get(source_id, depth))
    return inherited


def mark_loops(looped: Iterable[LoopMember], freed: Iterable[LoopMember], *, now: datetime) -> LoopMarks:
    """Return what resources become that are on a circle of redirects, and those that are on it no longer.

    Of the freed ones only those are redirects again that had failed by the circle.
    """
    error = RedirectLoop("its redirects lead back to it")
    marked = list(looped)
    solved = [member for member in freed if member.problem == RedirectLoop.code]
    return LoopMarks(
        outcomes={
            **{member.id: Outcome.FAILED for member in marked},
            **{member.id: Outcome.REDIRECT for member in solved},
        },
        problems=tuple(Problem.of(error, stage=Stage.FETCH, subject=member.url, at=now) for member in marked),
        solved=tuple(member.url for member in solved),
    )


class FrontierRules:
    """The rules that the pipeline gives to the catalogue when visits are recorded."""

    confirming = _CONFIRMING
    apply_visits = staticmethod(apply_visits)
    follow_redirects = staticmethod(follow_redirects)
    inherit_sources = staticmethod(inherit_sources)
    mark_loops = staticmethod(mark_loops)


VISIT_RULES = FrontierRules()

"""Redirects: where chains of them end, and which go round in a circle."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rehi.errors import RedirectLoop
from rehi.model.problem import Problem, Stage
from rehi.model.resource import LoopMarks, LoopMember, RedirectChange, Redirects
from rehi.model.visit import Outcome


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

"""Chains of redirects end somewhere or go round in a circle, and both are noticed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.frontier.visit_rules import circle_through, end_of, follow_redirects, inherit_sources, mark_loops
from rehi.model.resource import LoopMember, RedirectChange
from rehi.model.visit import Outcome

NOW = datetime(2026, 3, 1, tzinfo=UTC)
GRAPHS = st.dictionaries(st.integers(1, 6), st.none() | st.integers(1, 6), max_size=6)


@pytest.mark.parametrize(
    ("before", "seen", "changed", "looped", "freed", "ends"),
    [
        ({1: None, 2: None}, {1: 2}, {1: 2}, set(), set(), {1, 2}),
        ({1: 2, 2: None}, {1: 2}, {}, set(), set(), set()),
        ({1: 2, 2: None}, {1: None}, {1: None}, set(), set(), {1, 2}),
        ({1: 2, 2: None, 3: None}, {1: 3}, {1: 3}, set(), set(), {2, 3}),
        ({1: None}, {1: 1}, {1: 1}, {1}, set(), {1}),
        ({1: 2, 2: None}, {2: 1}, {2: 1}, {1, 2}, set(), {2}),
        ({1: 2, 2: 1}, {2: 1}, {}, {2}, set(), set()),
        ({1: 2, 2: 1}, {2: None}, {2: None}, set(), {1}, {2}),
        ({1: 2, 2: 3, 3: 1}, {2: None}, {2: None}, set(), {1, 3}, {2}),
        ({1: 2, 2: 1, 3: None}, {3: 1}, {3: 1}, set(), set(), {3}),
    ],
)
def test_redirects_that_visits_have_seen(
    before: dict[int, int | None], seen: dict[int, int | None], changed: dict[int, int | None],
    looped: set[int], freed: set[int], ends: set[int],
) -> None:  # fmt: skip
    change = follow_redirects(before, seen)
    assert change == RedirectChange(
        changed=changed, looped=frozenset(looped), freed=frozenset(freed), ends=frozenset(ends)
    )


@given(redirects=GRAPHS, row=st.integers(1, 6))
def test_a_chain_ends_or_leads_into_a_circle(redirects: dict[int, int | None], row: int) -> None:
    end = end_of(redirects, row)
    if end is None:
        at = row
        for _ in range(6):
            target = redirects[at]
            assert target is not None
            at = target
        assert at in circle_through(redirects, at)
    else:
        assert redirects.get(end) is None
        assert circle_through(redirects, row) == set()


@given(before=GRAPHS, seen=GRAPHS)
def test_all_that_is_on_a_circle_after_a_change_is_marked_and_none_besides(
    before: dict[int, int | None], seen: dict[int, int | None]
) -> None:
    change = follow_redirects(before, seen)
    after = {**before, **change.changed}
    circles = {row for row in seen if circle_through(after, row)}
    assert circles <= change.looped
    assert all(circle_through(after, row) for row in change.looped)
    assert not any(circle_through(after, row) for row in change.freed)
    assert all(circle_through(before, row) for row in change.freed)


def test_who_is_on_a_circle_has_failed_and_who_is_off_it_redirects_again() -> None:
    looped = [LoopMember(1, "http://a.ee/", "")]
    freed = [LoopMember(2, "http://b.ee/", "redirect-loop"), LoopMember(3, "http://c.ee/", "timed-out")]
    marks = mark_loops(looped, freed, now=NOW)
    assert marks.outcomes == {1: Outcome.FAILED, 2: Outcome.REDIRECT}
    assert [(problem.code, problem.subject, problem.last_at) for problem in marks.problems] == [
        ("redirect-loop", "http://a.ee/", NOW)
    ]
    assert marks.solved == ("http://b.ee/",)


def test_what_is_redirected_to_lies_as_near_to_its_sources_as_the_nearest_that_leads_there() -> None:
    redirects = {1: 9, 2: 9, 3: 8, 4: None, 5: 7}
    depths = {1: {10: 2, 11: 0}, 2: {10: 1}, 3: {12: 4}, 4: {10: 0}}
    inherited = inherit_sources(redirects, depths)
    assert {target: dict(sources) for target, sources in inherited.items() if sources} == {
        9: {10: 1, 11: 0},
        8: {12: 4},
    }

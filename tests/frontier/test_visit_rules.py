"""Visits change a resource by the rules of the frontier, one table of cases for each rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rehi.errors import BadStatus, FetchError, TimedOut, WrongType
from rehi.frontier import apply_visits
from rehi.model.resource import Correction, PastVersion, PastVisit, ResourcePast, ResourceState
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Outcome, Visited

NOW = datetime(2026, 3, 1, tzinfo=UTC)
URL = "http://a.ee/"
NOTHING_KNOWN = ResourceState(id=7, url=URL)


def at(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


def ref(hours: float) -> RecordRef:
    return RecordRef("a.warc.gz", round(hours * 100), 10)


def digest(body: str) -> Digest:
    return Digest(f"sha256:{body}")


def visit(outcome: Outcome, hours: float, content: str = "", **facts: object) -> Visited:
    given = (
        {"digest": digest(content), "record": ref(hours), "body": ref(hours), "size": len(content)} if content else {}
    )
    return Visited(url=URL, at=at(hours), outcome=outcome, next_at=at(hours + 720), **given | facts)  # type: ignore[arg-type]


def known(**facts: object) -> ResourceState:
    """Return a resource whose version "one" was found at hour 1 and is valid."""
    state = ResourceState(
        id=7, url=URL, outcome=Outcome.NEW, status=200, versions=1, digest=digest("one"), changed_at=at(1),
        visited_at=at(1), media_type="text/html", etag='"1"', last_modified="yesterday", history=b"h",
    )  # fmt: skip
    return replace(state, **facts)  # type: ignore[arg-type]


ONE = PastVersion(
    at=at(1), digest=digest("one"), size=3, media_type="text/html", status=200, record=ref(1), body=ref(1)
)


@pytest.mark.parametrize(
    ("before", "seen", "outcome", "versions"),
    [
        (NOTHING_KNOWN, visit(Outcome.NEW, 2, "one"), Outcome.NEW, 1),
        (known(), visit(Outcome.NEW, 2, "one"), Outcome.UNCHANGED, 1),
        (known(), visit(Outcome.NEW, 2, "two"), Outcome.NEW, 2),
        (known(), visit(Outcome.NEW, 2), Outcome.UNCHANGED, 1),
        (known(), visit(Outcome.UNCHANGED, 2), Outcome.UNCHANGED, 1),
        (known(), visit(Outcome.REDIRECT, 2, redirect_to="http://b.ee/"), Outcome.REDIRECT, 1),
        (known(), visit(Outcome.FAILED, 2), Outcome.FAILED, 1),
        (known(), visit(Outcome.GONE, 2), Outcome.GONE, 1),
        (known(outcome=Outcome.FAILED, failures=3), visit(Outcome.NEW, 2, "one"), Outcome.UNCHANGED, 1),
    ],
)
def test_only_other_bytes_make_a_version_whatever_the_visit_says(
    before: ResourceState, seen: Visited, outcome: Outcome, versions: int
) -> None:
    change = apply_visits(before, [seen], now=NOW)
    assert [came_to for _, came_to in change.visits] == [outcome]
    assert (change.state.outcome, change.state.versions) == (outcome, versions)
    assert len(change.versions) == versions - before.versions
    assert change.state.visited_at == at(2)


def test_a_new_version_says_what_is_valid_from_then_on() -> None:
    seen = visit(Outcome.NEW, 2, "two", status=203, media_type="text/csv", etag='"2"', last_modified="today")
    change = apply_visits(known(), [seen], now=NOW)
    state = change.state
    assert (state.digest, state.changed_at, state.status) == (digest("two"), at(2), 203)
    assert (state.media_type, state.etag, state.last_modified) == ("text/csv", '"2"', "today")
    (new,) = change.versions
    assert (new.number, new.taken_at, new.size, new.record, new.read, new.held) == (2, at(2), 3, ref(2), True, True)


@pytest.mark.parametrize(("etag", "expected"), [('"2"', '"2"'), ("", '"1"')])
def test_an_unchanged_visit_may_bring_another_etag(etag: str, expected: str) -> None:
    assert apply_visits(known(), [visit(Outcome.UNCHANGED, 2, etag=etag)], now=NOW).state.etag == expected


def test_a_new_version_without_an_etag_has_none() -> None:
    assert apply_visits(known(), [visit(Outcome.NEW, 2, "two")], now=NOW).state.etag == ""


def test_a_version_without_a_record_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="without a record"):
        apply_visits(known(), [visit(Outcome.NEW, 2, digest=digest("two"))], now=NOW)


@pytest.mark.parametrize(
    ("outcome", "failures", "failing_since", "gone_at"),
    [
        (Outcome.FAILED, 3, at(1), None),
        (Outcome.GONE, 3, at(1), at(9)),
        (Outcome.FORBIDDEN, 2, at(1), None),
        (Outcome.UNCHANGED, 0, None, None),
        (Outcome.REDIRECT, 0, None, None),
    ],
)
def test_failures_in_a_row_are_counted_from_the_first(
    outcome: Outcome, failures: int, failing_since: datetime | None, gone_at: datetime | None
) -> None:
    before = known(outcome=Outcome.FAILED, failures=2, failing_since=at(1))
    state = apply_visits(before, [visit(outcome, 9)], now=NOW).state
    assert (state.failures, state.failing_since, state.gone_at) == (failures, failing_since, gone_at)


@pytest.mark.parametrize(
    ("before", "outcome", "told"),
    [
        (known(), Outcome.GONE, True),
        (known(outcome=Outcome.GONE, gone_at=at(1)), Outcome.GONE, False),
        (known(outcome=Outcome.GONE, gone_at=at(1)), Outcome.FAILED, False),
        (known(outcome=Outcome.GONE, gone_at=at(1)), Outcome.FORBIDDEN, False),
        (known(outcome=Outcome.GONE, gone_at=at(1)), Outcome.UNCHANGED, True),
        (NOTHING_KNOWN, Outcome.GONE, False),
    ],
)
def test_the_graph_is_told_when_absence_begins_or_ends(before: ResourceState, outcome: Outcome, told: bool) -> None:
    assert apply_visits(before, [visit(outcome, 2)], now=NOW).tells_graph is told


def test_the_graph_is_told_of_new_versions_and_of_none_that_are_the_same() -> None:
    told = [apply_visits(known(), [visit(Outcome.NEW, 2, body)], now=NOW).tells_graph for body in ("one", "two")]
    assert told == [False, True]


@pytest.mark.parametrize(
    ("before", "visits", "codes", "ended"),
    [
        (known(), [visit(Outcome.FAILED, 2, error=TimedOut("x"))], ["timed-out"], False),
        (known(), [visit(Outcome.FAILED, 2)], ["fetch-error"], False),
        (known(), [visit(Outcome.UNCHANGED, 2)], [], False),
        (known(), [visit(Outcome.UNCHANGED, 2, remark=WrongType("x"))], ["wrong-type"], False),
        (known(failures=1), [visit(Outcome.UNCHANGED, 2)], [], True),
        (known(remarked=True), [visit(Outcome.UNCHANGED, 2)], [], True),
        (known(outcome=Outcome.FORBIDDEN), [visit(Outcome.REDIRECT, 2)], [], True),
        (known(failures=1), [visit(Outcome.UNCHANGED, 2, remark=WrongType("x"))], ["wrong-type"], False),
        (known(), [visit(Outcome.FAILED, 2), visit(Outcome.UNCHANGED, 3)], [], True),
        (known(failures=1), [visit(Outcome.UNCHANGED, 2), visit(Outcome.FAILED, 3)], ["fetch-error"], False),
        (known(), [visit(Outcome.FAILED, 3, error=TimedOut("x")), visit(Outcome.FAILED, 2)], ["fetch-error", "timed-out"], False),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_noted_until_it_goes_well(
    before: ResourceState, visits: list[Visited], codes: list[str], ended: bool
) -> None:
    change = apply_visits(before, visits, now=NOW)
    assert ([problem.code for problem in change.problems], change.problems_end) == (codes, ended)
    assert all((problem.subject, problem.first_at) == (URL, NOW) for problem in change.problems)


def test_a_remark_is_remembered_until_the_next_visit() -> None:
    change = apply_visits(known(), [visit(Outcome.UNCHANGED, 2, remark=WrongType("x"))], now=NOW)
    assert change.state.remarked
    assert not apply_visits(change.state, [visit(Outcome.FAILED, 3)], now=NOW).state.remarked


@pytest.mark.parametrize(
    ("visits", "target"),
    [
        ([visit(Outcome.REDIRECT, 2, redirect_to="http://b.ee/")], "http://b.ee/"),
        ([visit(Outcome.UNCHANGED, 2)], ""),
        ([visit(Outcome.FAILED, 2)], None),
        ([visit(Outcome.REDIRECT, 2, redirect_to="http://b.ee/"), visit(Outcome.GONE, 3)], "http://b.ee/"),
        ([visit(Outcome.REDIRECT, 2, redirect_to="http://b.ee/"), visit(Outcome.NEW, 3, "two")], ""),
    ],
)
def test_a_failure_says_nothing_of_where_a_page_redirects(visits: list[Visited], target: str | None) -> None:
    assert apply_visits(known(), visits, now=NOW).redirect_to == target


def test_a_visit_without_a_plan_leaves_the_schedule_and_makes_no_target_due() -> None:
    seen = visit(Outcome.REDIRECT, 2, redirect_to="http://b.ee/")
    planned, unplanned = (apply_visits(known(), [one], now=NOW) for one in (seen, replace(seen, next_at=None)))
    assert (planned.due_at, planned.target_due) == (seen.next_at, True)
    assert (unplanned.due_at, unplanned.target_due) == (None, False)


@pytest.mark.parametrize(
    ("before", "seen", "counts"),
    [
        (NOTHING_KNOWN, visit(Outcome.NEW, 2, "one"), ["visited", "first"]),
        (known(), visit(Outcome.NEW, 2, "two"), ["visited", "changed"]),
        (known(), visit(Outcome.NEW, 2, "one"), ["visited", "unchanged"]),
        (known(), visit(Outcome.REDIRECT, 2), ["visited", "redirect"]),
        (known(), visit(Outcome.GONE, 2), ["visited", "gone"]),
        (known(), visit(Outcome.FAILED, 2), ["visited", "problems"]),
        (known(), visit(Outcome.FORBIDDEN, 2), ["visited", "problems"]),
        (known(), visit(Outcome.UNCHANGED, 2, remark=WrongType("x")), ["visited", "unchanged", "problems"]),
    ],
)
def test_visits_count_for_an_update(before: ResourceState, seen: Visited, counts: list[str]) -> None:
    assert list(apply_visits(before, [seen], now=NOW).counts) == counts


@pytest.mark.parametrize(
    ("seen", "place"),
    [
        (visit(Outcome.UNCHANGED, 2, "one"), ref(2)),
        (visit(Outcome.NEW, 2, "one"), ref(2)),
        (visit(Outcome.UNCHANGED, 2, "one", body=ref(1)), None),
        (visit(Outcome.UNCHANGED, 2, record=ref(2), body=ref(2)), None),
        (visit(Outcome.NEW, 2, "two"), None),
    ],
)
def test_bytes_that_were_kept_whole_once_more_are_told(seen: Visited, place: RecordRef | None) -> None:
    assert apply_visits(known(), [seen], now=NOW).kept_again == place


def test_a_late_visit_leaves_the_present_as_it_is() -> None:
    before = known(visited_at=at(9), changed_at=at(9), failures=1, remarked=True)
    late = [
        visit(Outcome.FAILED, 3, error=BadStatus("x")), visit(Outcome.REDIRECT, 4, redirect_to="http://b.ee/"),
        visit(Outcome.GONE, 5), visit(Outcome.UNCHANGED, 6, etag='"late"'),
    ]  # fmt: skip
    change = apply_visits(before, late, ResourcePast((replace(ONE, at=at(9)),)), now=NOW)
    assert change.state == before
    assert (change.redirect_to, change.due_at, change.problems, change.problems_end) == (None, None, (), False)
    assert [outcome for _, outcome in change.visits] == [one.outcome for one in late]


def test_a_late_version_is_not_read_if_a_later_one_is_valid() -> None:
    two = replace(ONE, at=at(9), digest=digest("two"))
    before = known(visited_at=at(9), changed_at=at(9), digest=two.digest)
    change = apply_visits(before, [visit(Outcome.NEW, 3, "zero")], ResourcePast((two,)), now=NOW)
    (new,) = change.versions
    assert (new.number, new.taken_at, new.read) == (2, at(3), False)
    assert change.state == replace(before, versions=2)


def test_what_was_confirmed_after_a_late_version_is_a_version_again() -> None:
    before = known(visited_at=at(9), outcome=Outcome.UNCHANGED)
    past = ResourcePast((ONE,), (PastVisit(at(9), ref(9)),))
    change = apply_visits(before, [visit(Outcome.NEW, 3, "two", etag='"2"', media_type="text/csv")], past, now=NOW)
    late, repeated = change.versions
    assert (late.number, late.digest, late.read, late.held) == (2, digest("two"), False, True)
    assert (repeated.number, repeated.digest, repeated.read, repeated.held) == (3, digest("one"), True, False)
    assert (repeated.taken_at, repeated.record, repeated.body) == (at(9), ref(9), ref(1))
    assert change.corrections == (Correction(at(9), Outcome.UNCHANGED, Outcome.NEW),)
    # Its ETag is still that of the bytes which are valid: another one could be taken for them by the server.
    assert change.state == replace(before, versions=3, changed_at=at(9))


def test_an_error_of_a_late_visit_that_has_none_is_no_problem_of_today() -> None:
    change = apply_visits(known(visited_at=at(9)), [visit(Outcome.FAILED, 3, error=FetchError("x"))], now=NOW)
    assert (change.problems, list(change.counts)) == ((), ["visited", "problems"])

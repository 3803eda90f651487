"""What the catalogue promises of visits: versions, bytes, redirects and problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import permutations

import pytest

from rehi.errors import NotFound, RobotsDenied, TimedOut
from rehi.frontier.visit_rules import FrontierRules
from rehi.model.inventory import KnownBody
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Problem, Stage
from rehi.model.resource import ResourceChange, ResourcePast, ResourceState
from rehi.model.version import RecordRef
from rehi.model.visit import Outcome, Visited
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    claim,
    claim_descriptions,
    digest_of,
    drain,
    failed,
    fetched,
    given_back,
    known_end,
    lease_one,
    record,
    redirected,
    unchanged,
)

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"


def _problems(catalogue: Catalogue) -> dict[str, Problem]:
    return {problem.subject: problem for problem in catalogue.problems(stage=Stage.FETCH, page=Page())[0]}


def _states(catalogue: Catalogue) -> dict[str, str]:
    return {row.url: row.state for row in catalogue.documents(DocumentFilter(), Page())[0]}


class _AllIsGone(FrontierRules):
    """Other rules than those of the house: whatever was found, it is gone, and is told of by another problem."""

    def apply_visits(  # type: ignore[override]
        self, state: ResourceState, visits: Sequence[Visited], past: ResourcePast, *, now: datetime
    ) -> ResourceChange:
        """Return that a resource is gone."""
        note = Problem.of(TimedOut("by these rules"), stage=Stage.FETCH, subject=state.url, at=now)
        return ResourceChange(
            state=replace(state, outcome=Outcome.GONE, failures=7),
            visits=tuple((one, Outcome.GONE) for one in visits),
            due_at=at(50),
            problems=(note,),
        )


class VisitsContract:
    """What ``record`` and the port Ledger promise."""

    def test_what_is_stored_is_what_the_rules_say(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [fetched(A, "one", 1)], rules=_AllIsGone(), now=at(1))
        row = catalogue.document(A)
        assert (row.state, row.versions) == ("gone", 0)
        assert (_problems(catalogue)[A].message, catalogue.source(source.id).counts["gone"]) == ("by these rules", 1)
        assert lease_one(catalogue, 50).tasks[0].failures == 7

    def test_problems_that_belong_to_no_visit_are_on_the_list_and_counted(self, catalogue: Catalogue) -> None:
        torn = Problem(
            stage=Stage.ARCHIVE, code="record-damaged", subject="a.warc.gz:100", message="torn", next_step="quarantine",
            first_at=at(1), last_at=at(1),
        )  # fmt: skip
        catalogue.note([torn])
        catalogue.note([replace(torn, first_at=at(5), last_at=at(5))])
        (problem,), (counted,) = catalogue.problems(stage=Stage.ARCHIVE, page=Page())
        assert (counted.problems, problem.count, problem.first_at, problem.last_at) == (1, 2, at(1), at(5))

    def test_a_new_body_makes_a_version(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        (version,) = catalogue.versions(A)
        assert (version.number, version.taken_at, version.digest, version.size) == (1, at(1), digest_of("one"), 3)
        assert version.record == version.body == RecordRef("a.warc.gz", 1000, 100)
        assert catalogue.document(A).changed_at == at(1)
        counts = catalogue.source(source.id).counts
        assert {name: counts[name] for name in ("visited", "new", "bytes", "seconds:fetch")} == {
            "visited": 1, "new": 1, "bytes": 3, "seconds:fetch": 0.5,
        }  # fmt: skip

    def test_a_url_without_versions_has_none(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        with pytest.raises(NotFound):
            catalogue.versions(A)

    def test_an_unchanged_page_makes_no_new_version(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        record(catalogue, [unchanged(A, 2, etag='"new"')], [], worker="one", now=at(2))
        assert len(catalogue.versions(A)) == 1
        assert lease_one(catalogue, 10**8).tasks[0].etag == '"new"'
        assert catalogue.source(source.id).counts["unchanged"] == 1

    def test_the_same_bytes_again_are_unchanged_whatever_the_visit_says(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [fetched(A, "one", 1), fetched(A, "one", 2)], [], worker="one", now=at(2))
        record(catalogue, [fetched(A, "one", 3)], [], worker="one", now=at(3))
        assert len(catalogue.versions(A)) == 1
        assert len(claim(catalogue, 3)) == 1
        assert catalogue.source(source.id).counts["unchanged"] == 2
        assert _states(catalogue) == {A: "unchanged"}

    def test_versions_are_counted_and_old_bytes_may_come_back(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(A, "two", 2)], [], worker="one", now=at(2))
        record(catalogue, [fetched(A, "one", 3)], [], worker="one", now=at(3))
        versions = catalogue.versions(A)
        assert [version.number for version in versions] == [1, 2, 3]
        assert versions[2].body == versions[0].body
        assert versions[2].record == RecordRef("a.warc.gz", 3000, 100)

    def test_the_first_place_of_bytes_wins(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "same", 1)], [], worker="one", now=at(1))
        record(catalogue, [fetched(B, "same", 2, ref=RecordRef("b.warc.gz", 7, 7))], [], worker="one", now=at(2))
        bodies = catalogue.find_bodies([digest_of("same"), digest_of("unknown")])
        assert bodies == {digest_of("same"): KnownBody(digest_of("same"), 4, RecordRef("a.warc.gz", 1000, 100))}
        assert catalogue.versions(B)[0].body == bodies[digest_of("same")].place

    def test_the_same_visit_is_recorded_once(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B)
        batch = [fetched(A, "one", 1), failed(B, 1)]
        for _ in range(3):
            record(catalogue, batch + batch, [], worker="one", now=at(1))
        assert len(catalogue.versions(A)) == 1
        assert catalogue.source(source.id).counts["visited"] == 2
        assert catalogue.totals(now=at(1)).visits == 2
        assert _problems(catalogue)[B].count == 1

    def test_a_visit_to_an_unknown_url_makes_it_known(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", next_in=50)], [], worker="one", now=at(0))
        assert catalogue.next_ready() == at(50)
        (task,) = lease_one(catalogue, 50).tasks
        assert (task.url, task.source_id) == (A, 0)

    def test_the_end_of_each_file_is_known(self, catalogue: Catalogue) -> None:
        assert known_end(catalogue, "a.warc.gz") == 0
        record(catalogue, [fetched(A, "one", 2), fetched(B, "two", 1)], [], worker="one", now=at(2))
        assert known_end(catalogue, "a.warc.gz") == 2100
        revisit = replace(unchanged(A, 3), record=RecordRef("a.warc.gz", 5000, 50))
        record(catalogue, [revisit], [], worker="one", now=at(3))
        assert known_end(catalogue, "a.warc.gz") == 5050
        assert known_end(catalogue, "b.warc.gz") == 0

    def test_a_failed_visit_is_a_problem_that_counts_until_it_goes_well(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        record(catalogue, [failed(A, 1)], [], worker="one", now=at(1))
        record(catalogue, [failed(A, 2, error=TimedOut("no answer\0"))], [], worker="one", now=at(2))
        problem = _problems(catalogue)[A]
        assert (problem.code, problem.message, problem.count) == ("timed-out", "no answer", 2)
        assert (problem.first_at, problem.last_at, problem.next_step) == (at(1), at(2), "retry")
        assert problem.advice == TimedOut.advice
        assert _states(catalogue) == {A: "failed"}
        record(catalogue, [unchanged(A, 3)], [], worker="one", now=at(3))
        assert _problems(catalogue) == {}
        assert lease_one(catalogue, 10**8).tasks[0].failures == 0

    def test_what_robots_forbid_is_a_problem_but_no_failure(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        denied = failed(A, 1, error=RobotsDenied("robots.txt says no"), outcome=Outcome.FORBIDDEN)
        record(catalogue, [denied], [], worker="one", now=at(1))
        assert (_problems(catalogue)[A].code, _states(catalogue)[A]) == ("robots-denied", "forbidden")
        assert lease_one(catalogue, 10**8).tasks[0].failures == 0

    def test_a_redirect_makes_its_target_due_for_the_same_source(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [redirected(A, B, 1)], [given_back(lease_one(catalogue))], worker="one", now=at(1))
        (task,) = lease_one(catalogue, 1).tasks
        assert (task.url, task.hops, task.source_id) == (B, 1, source.id)
        record(catalogue, [redirected(B, C, 2)], [], worker="one", now=at(2))
        assert lease_one(catalogue, 2).tasks[0].hops == 2
        row = catalogue.document(A)
        assert (row.state, row.status, row.redirect_to) == ("redirect", 301, B)

    def test_a_redirect_to_a_known_url_leaves_its_schedule(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(B, "one", next_in=500)], [], worker="one", now=at(0))
        record(catalogue, [redirected(A, B, 1)], [], worker="one", now=at(1))
        assert catalogue.lease(worker="w", hosts=5, urls=5, ttl=5, now=at(499)) == []

    def test_a_url_that_stops_redirecting_redirects_no_more(self, catalogue: Catalogue) -> None:
        record(catalogue, [redirected(A, B, 1)], [], worker="one", now=at(1))
        record(catalogue, [failed(A, 2)], [], worker="one", now=at(2))
        assert catalogue.document(A).redirect_to == B
        record(catalogue, [fetched(A, "one", 3)], [], worker="one", now=at(3))
        assert catalogue.document(A).redirect_to == ""

    @pytest.mark.parametrize("together", [True, False])
    def test_a_circle_of_redirects_fails_whatever_the_order(self, catalogue: Catalogue, together: bool) -> None:
        for number, order in enumerate(permutations(range(3))):
            a, b, c, outside = (f"http://{name}.ee/{number}" for name in "abcd")
            visits = [redirected(a, b, 1), redirected(b, c, 2), redirected(c, a, 3)]
            batch = [visits[index] for index in order] + [redirected(outside, a, 4)]
            for part in [batch] if together else [[one] for one in batch]:
                record(catalogue, part, [], worker="one", now=at(5))
            states = {url: catalogue.document(url).state for url in (a, b, c, outside)}
            assert states == {a: "failed", b: "failed", c: "failed", outside: "redirect"}
        problems = _problems(catalogue).values()
        assert [(one.code, one.count) for one in problems] == [("redirect-loop", 1)] * 18
        assert catalogue.totals(now=at(5)).outcomes == {"failed": 18, "redirect": 6}

    def test_a_url_that_redirects_to_itself_fails(self, catalogue: Catalogue) -> None:
        record(catalogue, [redirected(A, A, 1)], [], worker="one", now=at(1))
        record(catalogue, [redirected(A, A, 2)], [], worker="one", now=at(2))
        assert (_states(catalogue), _problems(catalogue)[A].count) == ({A: "failed"}, 2)

    def test_a_circle_that_is_broken_is_no_problem_any_more(self, catalogue: Catalogue) -> None:
        record(catalogue, [redirected(A, B, 1), redirected(B, A, 2)], [], worker="one", now=at(2))
        record(catalogue, [fetched(A, "one", 3)], [], worker="one", now=at(3))
        assert _states(catalogue) == {A: "new", B: "redirect"}
        assert _problems(catalogue) == {}

    def test_a_changed_redirect_tells_the_graph_of_both_ends(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(B, "b", 1), fetched(C, "c", 1), redirected(A, B, 1)], [], worker="one", now=at(1))
        record(catalogue, [redirected("http://x.ee/", A, 2)], [], worker="one", now=at(2))
        drain(catalogue)
        record(catalogue, [redirected(A, B, 3)], [], worker="one", now=at(3))
        assert not claim_descriptions(catalogue, 99).claims
        record(catalogue, [redirected(A, C, 4)], [], worker="one", now=at(4))
        aliases = {described.url: described.aliases for described in claim_descriptions(catalogue, 99).resources}
        assert aliases == {B: (), C: (A, "http://x.ee/")}

    def test_a_page_that_begins_to_redirect_gives_its_aliases_away(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(B, "b", 1), fetched(C, "c", 1), redirected(A, B, 1)], [], worker="one", now=at(1))
        drain(catalogue)
        record(catalogue, [redirected(B, C, 2)], [], worker="one", now=at(2))
        aliases = {described.url: described.aliases for described in claim_descriptions(catalogue, 99).resources}
        assert aliases == {B: (), C: (A, B)}

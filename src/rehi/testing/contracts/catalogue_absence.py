"""What the catalogue promises of pages that are gone, and of visits that went well but for a remark."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from rehi.errors import BadStatus, RobotsDenied, WrongType
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Problem, Stage
from rehi.model.visit import Outcome, Visited
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    claim_descriptions,
    drain,
    failed,
    fetched,
    lease_one,
    record,
    redirected,
    unchanged,
)

A, B = "http://a.ee/", "http://b.ee/"


def _gone(url: str, when: float) -> Visited:
    return failed(url, when, error=BadStatus("the server answered 404"), outcome=Outcome.GONE)


def _remarked(visit: Visited) -> Visited:
    return replace(visit, remark=WrongType("a page, not a table"))


def _record(catalogue: Catalogue, *visits: Visited) -> None:
    record(catalogue, visits, [], worker="one", now=visits[-1].at)


def _problems(catalogue: Catalogue) -> list[Problem]:
    return list(catalogue.problems(stage=Stage.FETCH, page=Page())[0])


def _describe(catalogue: Catalogue) -> dict[str, datetime | None]:
    descriptions = claim_descriptions(catalogue, 99)
    catalogue.record_descriptions(descriptions.claims, statements={})
    return {described.url: described.gone_at for described in descriptions.resources}


class AbsenceContract:
    """What ``record`` promises of pages that are gone, and of remarks."""

    def test_a_page_that_is_gone_is_kept_and_stays_a_problem(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        _record(catalogue, fetched(A, "one", 1))
        _record(catalogue, failed(A, 2))
        _record(catalogue, _gone(A, 3))
        (problem,) = _problems(catalogue)
        assert (problem.code, problem.message, problem.count) == ("bad-status", "the server answered 404", 2)
        assert [row.state for row in catalogue.documents(DocumentFilter(), Page())[0]] == ["gone"]
        assert len(catalogue.versions(A)) == 1
        (task,) = lease_one(catalogue, 3603).tasks
        assert (task.failures, task.failing_since) == (2, at(2))
        assert catalogue.source(source.id).counts["gone"] == 1
        assert catalogue.totals(now=at(3)).outcomes == {"gone": 1}

    def test_the_graph_hears_once_that_a_page_is_gone_and_once_that_it_is_back(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "one", 1), fetched(B, "two", 1))
        drain(catalogue)
        _record(catalogue, _gone(A, 2))
        assert _describe(catalogue) == {A: at(2)}
        _record(catalogue, _gone(A, 3))
        _record(catalogue, failed(A, 4))
        _record(catalogue, failed(A, 5, error=RobotsDenied("no"), outcome=Outcome.FORBIDDEN))
        assert _describe(catalogue) == {}
        _record(catalogue, unchanged(A, 6))
        assert _describe(catalogue) == {A: None}
        assert _problems(catalogue) == []
        _record(catalogue, _gone(A, 7))
        assert _describe(catalogue) == {A: at(7)}
        _record(catalogue, redirected(A, B, 8))
        assert _describe(catalogue) == {A: None, B: None}

    def test_the_graph_knows_nothing_of_what_never_was_there(self, catalogue: Catalogue) -> None:
        _record(catalogue, _gone(A, 1))
        assert not claim_descriptions(catalogue, 99).claims

    def test_a_remark_is_a_problem_though_the_visit_went_well(self, catalogue: Catalogue) -> None:
        _record(catalogue, _remarked(fetched(A, "one", 1)))
        (problem,) = _problems(catalogue)
        assert (problem.code, problem.subject, problem.next_step) == ("wrong-type", A, "skip")
        assert len(catalogue.versions(A)) == 1
        assert lease_one(catalogue, 10**8).tasks[0].failures == 0
        _record(catalogue, _remarked(unchanged(A, 2)))
        assert [(one.code, one.count) for one in _problems(catalogue)] == [("wrong-type", 2)]
        _record(catalogue, unchanged(A, 3))
        assert _problems(catalogue) == []

    def test_a_remark_and_a_failure_take_turns(self, catalogue: Catalogue) -> None:
        _record(catalogue, failed(A, 1), _remarked(fetched(A, "one", 2)))
        assert [one.code for one in _problems(catalogue)] == ["wrong-type"]
        _record(catalogue, failed(A, 3))
        assert [one.code for one in _problems(catalogue)] == ["bad-status"]
        _record(catalogue, _remarked(unchanged(A, 4)), unchanged(A, 5))
        assert _problems(catalogue) == []

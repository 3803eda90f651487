"""What the catalogue promises of the problems list: classes are counted, and what holds no longer is struck out."""

from __future__ import annotations

from rehi.errors import DnsFailed, ReaderCrashed, TimedOut
from rehi.model.listing import Page
from rehi.model.problem import Problem, ProblemClass, ProblemKey, Stage
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    at,
    claim,
    count_listed,
    failed,
    fetched,
    misread,
    record,
    record_reads,
)

PAGE, ROBOTS = "http://a.ee/page", "http://a.ee/robots.txt"
HOSTILE = ("%", "_", "x" * 9000, "\0", "'; DROP TABLE problem; --", "\ud800")


def note_on(subject: str, when: float, code: str = "crawl-delay-capped") -> Problem:
    """Return a note that belongs to no visit."""
    return Problem(
        stage=Stage.FETCH, code=code, subject=subject, message="too long", next_step="skip", first_at=at(when),
        last_at=at(when),
    )  # fmt: skip


def _fill(catalogue: Catalogue) -> None:
    for when in range(3):
        record(catalogue, [failed(f"http://slow{when}.ee/", when, error=TimedOut("x"))], [], worker="one", now=at(when))
    record(catalogue, [failed("http://no.ee/", 3, error=DnsFailed("no such name"))], [], worker="one", now=at(3))
    record(catalogue, [fetched("http://b.ee/", "body", 4)], [], worker="one", now=at(4))
    (task,) = claim(catalogue, 4)
    record_reads(catalogue, misread(task, ReaderCrashed("it died"), when=5), when=5)


def capped(*subjects: str) -> list[ProblemKey]:
    """Return which notes on pauses hold no longer."""
    return [ProblemKey(Stage.FETCH, subject, "crawl-delay-capped") for subject in subjects]


class ProblemsContract:
    """``problems`` and ``note``."""

    def test_a_house_without_problems_has_no_classes(self, catalogue: Catalogue) -> None:
        assert catalogue.problems(stage=None, page=Page())[1] == []

    def test_classes_are_counted_the_most_frequent_first(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        slow = ProblemClass(stage=Stage.FETCH, code="timed-out", problems=3, last_at=at(2))
        nowhere = ProblemClass(stage=Stage.FETCH, code="dns-failed", problems=1, last_at=at(3))
        crashed = ProblemClass(stage=Stage.EXTRACT, code="reader-crashed", problems=1, last_at=at(5))
        assert catalogue.problems(stage=None, page=Page())[1] == [slow, crashed, nowhere]
        assert catalogue.problems(stage=Stage.FETCH, page=Page())[1] == [slow, nowhere]
        assert catalogue.problems(stage=Stage.GRAPH, page=Page())[1] == []

    def test_a_class_is_counted_by_what_is_wrong_and_not_by_how_often(self, catalogue: Catalogue) -> None:
        for when in (1, 2, 7):
            record(catalogue, [failed(PAGE, when, error=TimedOut("x"))], [], worker="one", now=at(when))
        (only,) = catalogue.problems(stage=None, page=Page())[1]
        assert (only.problems, only.last_at) == (1, at(7))
        record(catalogue, [failed(PAGE, 8, error=DnsFailed("x"))], [], worker="one", now=at(8))
        assert [one.code for one in catalogue.problems(stage=None, page=Page())[1]] == ["dns-failed"]

    def test_the_problems_of_one_class_are_listed_page_by_page(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        problems, classes = catalogue.problems(stage=None, code="timed-out", page=Page(limit=2))
        assert [one.subject for one in problems] == ["http://slow2.ee/", "http://slow1.ee/"]
        assert (classes[0].code, classes[0].problems) == ("timed-out", 3)
        assert len(classes) == 3  # the others too, so that whoever asked for one in vain sees what there is
        problems, _ = catalogue.problems(stage=Stage.FETCH, code="timed-out", page=Page(limit=2, offset=2))
        assert [one.subject for one in problems] == ["http://slow0.ee/"]
        assert catalogue.problems(stage=Stage.EXTRACT, code="timed-out", page=Page())[0] == []

    def test_a_class_that_there_is_not_has_no_problems(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        for code in HOSTILE:
            assert catalogue.problems(stage=None, code=code, page=Page())[0] == []
        assert count_listed(catalogue.problems(stage=None, page=Page())[1]) == 5

    def test_a_note_that_holds_no_longer_is_struck_out(self, catalogue: Catalogue) -> None:
        others = [f"http://{number}.ee/robots.txt" for number in range(3)]
        catalogue.note([note_on(subject, 1) for subject in (ROBOTS, *others)])
        catalogue.note([], solved=capped(ROBOTS, *others[:2], "http://unknown.ee/\0"))
        assert [one.subject for one in catalogue.problems(stage=None, page=Page())[0]] == others[2:]
        catalogue.note([], solved=[])
        assert count_listed(catalogue.problems(stage=None, page=Page())[1]) == 1

    def test_only_the_note_is_struck_out_and_no_other_problem_of_the_same_thing(self, catalogue: Catalogue) -> None:
        record(catalogue, [failed(ROBOTS, 1, error=TimedOut("x"))], [], worker="one", now=at(1))
        catalogue.note([note_on(PAGE, 2)])
        catalogue.note([], solved=[*capped(ROBOTS, PAGE), ProblemKey(Stage.EXTRACT, ROBOTS, "timed-out")])
        assert [one.subject for one in catalogue.problems(stage=None, page=Page())[0]] == [ROBOTS]

    def test_what_is_noted_with_what_it_solves_stays(self, catalogue: Catalogue) -> None:
        catalogue.note([note_on(PAGE, 1), note_on(ROBOTS, 1)])
        catalogue.note([note_on(PAGE, 2)], solved=capped(PAGE, ROBOTS))
        assert [(one.subject, one.count) for one in catalogue.problems(stage=None, page=Page())[0]] == [(PAGE, 1)]

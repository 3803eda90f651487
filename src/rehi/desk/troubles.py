"""Troubles: what went wrong, by class, and what happens next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rehi.app import House
from rehi.model.listing import Page
from rehi.model.problem import Problem, ProblemClass, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """A page of problems, how many match in all, and how many there are of each class in the rooms asked for."""

    total: int
    classes: Sequence[ProblemClass]
    problems: Sequence[Problem]


def list_troubles(house: House, *, stage: Stage | None, code: str, page: Page) -> Troubles:
    """The problems of a room, of a class or all, the newest first."""
    wanted = code.strip().lower()
    problems, total = house.catalogue.problems(stage=stage, code=wanted, page=page)
    return Troubles(total=total, classes=house.catalogue.problem_classes(stage=stage), problems=problems)


def explain_nothing(troubles: Troubles, code: str) -> str:
    """What to say when there is nothing to show: which classes there are, if another was asked for."""
    if not code or not troubles.classes:
        return "No problems."
    known = ", ".join(sorted({one.code for one in troubles.classes}))
    return f"No problems of the class {code.strip()[:80]}; there are {known}."

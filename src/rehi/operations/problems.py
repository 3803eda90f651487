"""Problems: what went wrong, by class, and what happens next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.model.listing import Page
from rehi.model.problem import Problem, ProblemClass, Stage
from rehi.operations.parameters import ROWS, Limit, Offset, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemList:
    """A page of problems, how many match in all, and how many there are of each class in the rooms asked for."""

    total: int
    classes: Sequence[ProblemClass]
    problems: Sequence[Problem]


def list_problems(
    house: House,
    *,
    stage: Annotated[Stage | None, Field(description="Only those of one room.")] = None,
    code: Annotated[Text, Field(description="Only those of one class, as in timed-out.")] = "",
    limit: Limit = ROWS,
    offset: Offset = 0,
) -> ProblemList:
    """List the problems of a room, of a class or all, the newest first, and count those of each class."""
    page = Page(limit=limit, offset=offset)
    wanted = code.strip().lower()
    problems, classes = house.catalogue.problems(stage=stage, code=wanted, page=page)
    total = sum(one.problems for one in classes if wanted in ("", one.code))
    return ProblemList(total=total, classes=classes, problems=problems)


def explain_no_problems(listed: ProblemList, code: str) -> str:
    """Return what to say when there is nothing to show: which classes there are, if another was asked for."""
    if not code or not listed.classes:
        return "No problems."
    known = ", ".join(sorted({one.code for one in listed.classes}))
    return f"No problems of the class {code.strip()[:80]}; there are {known}."

"""Problems: entered once for each stage and subject, counted when they come again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete

from rehi.engines.sql.database import chunks
from rehi.engines.sql.insertion import Insertion, larger, newest
from rehi.engines.sql.moment import from_micros, to_micros
from rehi.engines.sql.schema import problem
from rehi.engines.sql.text import key_of, storable
from rehi.errors import RehiError
from rehi.model.problem import Problem, Stage

_COLUMNS = (
    "key", "stage", "code", "subject", "message", "next_step", "advice", "count", "first_at", "last_at",
)  # fmt: skip
_ENTER = Insertion(
    problem,
    _COLUMNS,
    unique=("key",),
    change={
        **newest(("code", "message", "next_step", "advice")),
        "count": "problem.count + new.count",
        "last_at": larger(problem, "last_at"),
    },
)


def problem_of(error: RehiError, *, stage: Stage, subject: str, at: datetime) -> Problem:
    """An error as a row of the problems list."""
    return Problem(
        stage=stage,
        code=error.code,
        subject=subject,
        message=str(error) or (type(error).__doc__ or "").partition("\n")[0],
        next_step=error.disposition,
        advice=error.advice,
        first_at=at,
        last_at=at,
    )


def keep_problems(connection: Connection, problems: Sequence[Problem]) -> None:
    """Enter problems, or count those that are known."""
    merged: dict[tuple[str, str], Problem] = {}
    for new in problems:
        known = merged.get((new.stage, new.subject))
        merged[new.stage, new.subject] = new if known is None else _again(known, new)
    _ENTER.enter(connection, sorted((_row(new) for new in merged.values()), key=lambda row: row["key"]))


def clear_problems(connection: Connection, stage: Stage, subjects: Iterable[str]) -> None:
    """Strike out what is no problem any more."""
    for keys in chunks(sorted(key_of(stage, subject) for subject in subjects)):
        connection.execute(delete(problem).where(problem.c.key.in_(keys)))


def to_problem(row: Any) -> Problem:
    """A row of the table as people see it."""
    return Problem(
        stage=Stage(row.stage),
        code=row.code,
        subject=row.subject,
        message=row.message,
        next_step=row.next_step,
        advice=row.advice,
        count=row.count,
        first_at=from_micros(row.first_at),
        last_at=from_micros(row.last_at),
    )


def _again(known: Problem, new: Problem) -> Problem:
    return replace(new, count=known.count + new.count, first_at=known.first_at)


def _row(new: Problem) -> dict[str, Any]:
    return {
        "key": key_of(new.stage, new.subject),
        "stage": new.stage.value,
        "code": new.code,
        "subject": storable(new.subject),
        "message": storable(new.message),
        "next_step": str(new.next_step),
        "advice": new.advice,
        "count": new.count,
        "first_at": to_micros(new.first_at),
        "last_at": to_micros(new.last_at),
    }

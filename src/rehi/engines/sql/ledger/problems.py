"""Problems: entered once for each stage and subject, counted when they come again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select

from rehi.engines.sql.statements.driver import BulkDelete, Upsert, chunks, larger, newest
from rehi.engines.sql.statements.values import from_micros, key_of, storable, to_micros
from rehi.engines.sql.tables import problem
from rehi.model.listing import Page
from rehi.model.problem import Problem, ProblemClass, ProblemKey, Stage

_COLUMNS = (
    "key", "stage", "code", "subject", "message", "next_step", "advice", "count", "first_at", "last_at",
)  # fmt: skip
_ENTER = Upsert(
    problem,
    _COLUMNS,
    unique=("key",),
    change={
        **newest(("code", "message", "next_step", "advice")),
        "count": "problem.count + new.count",
        "last_at": larger(problem, "last_at"),
    },
)
_DELETE = BulkDelete(problem.c.key)


def keep_problems(connection: Connection, problems: Sequence[Problem]) -> None:
    """Enter problems, or count those that are known."""
    merged: dict[tuple[str, str], Problem] = {}
    for new in problems:
        known = merged.get((new.stage, new.subject))
        merged[new.stage, new.subject] = new if known is None else _again(known, new)
    _ENTER.run(connection, sorted(_row(new) for new in merged.values()))  # by their keys, with which they begin


def clear_problems(connection: Connection, solved: Iterable[tuple[Stage, str]]) -> None:
    """Strike out what is no problem any more, by stage and subject."""
    _DELETE.run(connection, sorted(key_of(stage, subject) for stage, subject in solved))


def strike_problems(connection: Connection, keys: Iterable[ProblemKey]) -> None:
    """Strike out problems of one code each; another problem with the same subject stays."""
    for condition in _conditions(keys):
        connection.execute(delete(problem).where(condition))


def has_problems(connection: Connection, keys: Iterable[ProblemKey]) -> bool:
    """Whether there is anything to strike out."""
    queries = (select(problem.c.id).where(condition).limit(1) for condition in _conditions(keys))
    return any(connection.execute(query).first() is not None for query in queries)


def _conditions(keys: Iterable[ProblemKey]) -> Iterator[ColumnElement[bool]]:
    by_code: dict[str, set[bytes]] = {}
    for key in keys:
        by_code.setdefault(key.code, set()).add(key_of(key.stage, key.subject))
    for code, wanted in sorted(by_code.items()):
        for part in chunks(sorted(wanted)):
            yield problem.c.key.in_(part) & (problem.c.code == code)


def list_problems(connection: Connection, *, stage: Stage | None, code: str, page: Page) -> list[Problem]:
    """Return a page of problems, the newest first.

    Which rows they are is read from an index, so that none is looked at for the sake of those after it.
    """
    conditions: list[ColumnElement[bool]] = []
    if stage is not None or code:  # an index begins with the stage
        conditions.append(problem.c.stage.in_([stage.value] if stage is not None else [each.value for each in Stage]))
    if code:
        conditions.append(problem.c.code == storable(code))
    newest_first = (problem.c.last_at.desc(), problem.c.id.desc())
    chosen = select(problem.c.id).where(*conditions).order_by(*newest_first).limit(page.limit).offset(page.offset)
    rows = select(problem).where(problem.c.id.in_(chosen.scalar_subquery())).order_by(*newest_first)
    return [to_problem(row) for row in connection.execute(rows)]


def count_problems(connection: Connection, *, stage: Stage | None) -> list[ProblemClass]:
    """Return how many problems there are of each code in each room, the most frequent first."""
    many, last_at = func.count().label("problems"), func.max(problem.c.last_at).label("last_at")
    query = select(problem.c.stage, problem.c.code, many, last_at).group_by(problem.c.stage, problem.c.code)
    if stage is not None:
        query = query.where(problem.c.stage == stage.value)
    classes = [
        ProblemClass(stage=Stage(row.stage), code=row.code, problems=row.problems, last_at=from_micros(row.last_at))
        for row in connection.execute(query)
    ]
    return sorted(classes, key=lambda one: (-one.problems, one.stage, one.code))


def to_problem(row: Any) -> Problem:
    """Return a row of the table as a problem."""
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


def _row(new: Problem) -> tuple[Any, ...]:
    subject, message = storable(new.subject), storable(new.message)
    return (
        key_of(new.stage, new.subject), new.stage.value, new.code, subject, message, str(new.next_step), new.advice,
        new.count, to_micros(new.first_at), to_micros(new.last_at),
    )  # fmt: skip

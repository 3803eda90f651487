"""A problem: something that went wrong, where, and what happens next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rehi.errors import RehiError


class Stage(StrEnum):
    """A room in which something can go wrong, or the service of all of them."""

    SOURCES = "sources"
    FETCH = "fetch"
    ARCHIVE = "archive"
    EXTRACT = "extract"
    ENRICH = "enrich"
    GRAPH = "graph"
    SERVICE = "service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One row of the problems list: unique by stage and subject, counted when it comes again."""

    stage: Stage
    code: str  # RehiError.code: "bad-status", "timed-out" …
    subject: str  # the URL, or "name:line" of a source
    message: str
    next_step: str  # Disposition
    advice: str = ""
    count: int = 1
    first_at: datetime
    last_at: datetime

    @classmethod
    def of(cls, error: RehiError, *, stage: Stage, subject: str, at: datetime, advice: str = "") -> Problem:
        """Return an error as a row of the list, with its own advice unless there is better."""
        return cls(
            stage=stage,
            code=error.code,
            subject=subject,
            message=str(error) or (type(error).__doc__ or "").partition("\n")[0],
            next_step=error.disposition,
            advice=advice or error.advice,
            first_at=at,
            last_at=at,
        )


@dataclass(frozen=True, slots=True)
class ProblemKey:
    """Which problem: that of a subject in a room, as long as it has this code."""

    stage: Stage
    subject: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemClass:
    """The problems of one room that have the same code."""

    stage: Stage
    code: str
    problems: int  # rows of the list
    last_at: datetime

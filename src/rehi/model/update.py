"""An update: a round of visits, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rehi.model.listing import Page

COUNTS = ("visited", "first", "changed", "unchanged", "redirect", "gone", "problems")  # what an update came to
RUNNING = Page(limit=1_000)  # of updates that run: each worker has at most one harvest of its own


class UpdateKind(StrEnum):
    """Why an update was made."""

    HARVEST = "harvest"  # what was due, once
    ORDERED = "ordered"  # everything, because somebody wanted it
    SCHEDULED = "scheduled"  # everything, because it was time
    DAY = "day"  # what came due in the course of a day


class UpdateState(StrEnum):
    """How far an update has come."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"  # by a person or a kill; what it had not reached is still due


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One row of the table of updates."""

    id: int
    kind: UpdateKind
    state: UpdateState
    started_at: datetime
    ended_at: datetime | None
    due: int  # resources that were due when it began
    workers: int  # that have done something for it
    counts: Mapping[str, int]  # by COUNTS, each
    seconds: Mapping[str, float]  # spent by stage, all workers together


def open_update(running: Iterable[Update]) -> Update | None:
    """Return the one of the updates that run, the newest first, for which visits count: no worker's own harvest."""
    return next((update for update in running if update.kind is not UpdateKind.HARVEST), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many visits there are, against a budget."""

    visited: int  # since the day began
    planned: int  # due within the next day

"""An update: a round of visits, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

COUNTS = ("visited", "first", "changed", "unchanged", "redirect", "gone", "problems")  # what an update came to


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many visits there are, against a budget."""

    visited: int  # since the day began
    planned: int  # due within the next day

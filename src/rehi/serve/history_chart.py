"""A chart of a history: a line for each year, and on it a mark for each day of which something is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC

from rehi.model.visit import Outcome
from rehi.operations.mementos import Memento
from rehi.serve.webpath import web_path

DAYS = 366
MONTHS = (0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335)  # where each begins in a leap year
NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
PARTS = {"changed": "a new version", "unchanged": "unchanged", "redirect": "a redirect"}
_PART = {Outcome.NEW: "changed", Outcome.UNCHANGED: "unchanged", Outcome.REDIRECT: "redirect"}
_RANK = list(PARTS)


@dataclass(slots=True)
class Day:
    """A day with captures."""

    x: int
    date: str
    part: str
    href: str  # to the first capture of that kind
    captures: int = 0

    @property
    def label(self) -> str:
        """What is read out for the mark."""
        return f"{self.date}: {PARTS[self.part]}, {self.captures} capture{'' if self.captures == 1 else 's'}"


@dataclass(slots=True)
class Year:
    """A year with captures: a line of the picture."""

    year: int
    days: dict[int, Day] = field(default_factory=dict)


def draw_years(mementos: Iterable[Memento]) -> list[Year]:
    """Return the years of which something is kept, the newest first; memory grows with days and not with captures."""
    years: dict[int, Year] = {}
    for memento in mementos:
        capture = memento.capture
        at = capture.at.astimezone(UTC)
        x, part = MONTHS[at.month - 1] + at.day - 1, _PART[capture.outcome]
        days = years.setdefault(at.year, Year(at.year)).days
        day = days.get(x)
        if day is None or _RANK.index(part) < _RANK.index(day.part):
            seen = day.captures if day else 0
            day = days[x] = Day(x, f"{at:%Y-%m-%d}", part, web_path(capture.url, memento.stamp), seen)
        day.captures += 1
    return sorted(years.values(), key=lambda year: -year.year)

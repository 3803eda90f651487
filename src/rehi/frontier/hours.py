"""Hours: the times of the week at which a host may be visited."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from functools import lru_cache

from rehi.errors import SettingsError

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = "|".join(_DAYS)
_WINDOW = re.compile(
    rf"(?:(?P<first>{_DAY})(?:-(?P<last>{_DAY}))?\s+)?(?P<start>\d{{1,2}}:\d\d)\s*-\s*(?P<end>\d{{1,2}}:\d\d)"
)
_WEEK = 7


@dataclass(frozen=True, slots=True)
class Window:
    """A time of day on some days of the week; one that ends before it starts goes on to the next morning."""

    days: frozenset[int]  # 0 is Monday
    start: int  # minutes since midnight
    end: int


@dataclass(frozen=True, slots=True)
class Hours:
    """The windows of a week, in one time zone."""

    windows: tuple[Window, ...]
    time_zone: tzinfo

    def closes_at(self, now: datetime) -> datetime | None:
        """Return when the window ends that is open now; None if none is open."""
        end = now
        for start, until in self._spans(now):
            if start <= end < until:
                end = until
        return end if end > now else None

    def opens_at(self, now: datetime) -> datetime:
        """Return when the next window begins; now, if one is open."""
        if self.closes_at(now) is not None:
            return now
        return min(start for start, _ in self._spans(now) if start > now)

    def _spans(self, now: datetime) -> list[tuple[datetime, datetime]]:
        """Return the windows from yesterday to a week from now, in their order."""
        today = now.astimezone(self.time_zone).date()
        spans = []
        for offset in range(-1, _WEEK + 1):
            day = today + timedelta(days=offset)
            midnight = datetime.combine(day, time(), self.time_zone)
            for window in self.windows:
                if day.weekday() in window.days:
                    length = window.end if window.end > window.start else window.end + 24 * 60
                    # Added to wall-clock time: 20:00 is 20:00 also on the day on which the clocks change.
                    start, end = (midnight + timedelta(minutes=minutes) for minutes in (window.start, length))
                    spans.append((start.astimezone(now.tzinfo), end.astimezone(now.tzinfo)))
        return sorted(spans)


@lru_cache(maxsize=256)
def parse_hours(text: str, time_zone: tzinfo) -> Hours | None:
    """Read ``20:00-06:00`` or ``mon-fri 20:00-06:00, sat-sun 00:00-24:00``; None for always."""
    if not text.strip():
        return None
    return Hours(tuple(_parse_window(part, text) for part in text.lower().split(",")), time_zone)


def _parse_window(part: str, text: str) -> Window:
    match = _WINDOW.fullmatch(part.strip())
    minutes = [_minutes(match[name]) for name in ("start", "end")] if match else []
    if match is None or max(minutes) > 24 * 60 or minutes[0] == minutes[1]:
        raise SettingsError(
            f"{text!r} are no hours; write them as in 20:00-06:00, or mon-fri 20:00-06:00, sat-sun 00:00-24:00"
        )
    first = _DAYS.index(match["first"]) if match["first"] else 0
    last = _DAYS.index(match["last"]) if match["last"] else (first if match["first"] else _WEEK - 1)
    days = frozenset((first + step) % _WEEK for step in range((last - first) % _WEEK + 1))
    return Window(days, minutes[0], minutes[1])


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes) if int(minutes) < 60 else 24 * 60 + 1

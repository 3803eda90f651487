"""Politeness: at what pace and in which hours one host may be visited, by the settings and by an operator's orders.

And the rules for leases: how long a host rests whose lease was lost, and what a clock that was set makes of rests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rehi.errors import SettingsError
from rehi.frontier.schedule import next_time, parse_policy
from rehi.model.host import ClockCorrection, HostOrders
from rehi.settings import FetchSettings, Settings

MOST_STRAIN = 64.0
_RELIEF = 0.8  # with each good answer: from the highest strain, a host is visited as before after 19 of them
_LEAST = 1.0  # seconds; a shorter pause counts as this long when strain multiplies it
_NOTICED = timedelta(seconds=5)  # by which a last sign may be ahead: clocks are set in small steps
_WORTH = timedelta(days=1)  # what is due an hour late is not worth the writing
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = "|".join(_DAYS)
_WINDOW = re.compile(
    rf"(?:(?P<first>{_DAY})(?:-(?P<last>{_DAY}))?\s+)?(?P<start>\d{{1,2}}:\d\d)\s*-\s*(?P<end>\d{{1,2}}:\d\d)"
)
_WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The pause between two requests to a host: longer while it is slow or overloaded, shorter again when it recovers."""

    own: float  # seconds of pause by the settings or an operator's order
    asked: float = 0.0  # seconds of pause that the host asks for (Crawl-delay), capped
    slow_factor: float = 0.0  # a slow answer is followed by a pause so many times as long
    longest: float = 60.0  # no pause grows beyond this by itself
    strain: float = 1.0  # factor of the pause, above 1 while the host is overloaded

    @property
    def usual(self) -> float:
        """The pause after an answer that took no time."""
        return self.pause_after(0.0)

    def pause_after(self, seconds: float) -> float:
        """Return the seconds to pause after an answer that took ``seconds``."""
        least = max(self.own, self.asked)
        pause = max(least, min(self.slow_factor * seconds, self.longest))
        strained = pause + (self.strain - 1.0) * max(pause, _LEAST)
        return max(least, min(strained, self.longest)) if self.strain > 1.0 else pause

    def asking(self, seconds: float) -> Pace:
        """Return the pace with the pause that the host asks for."""
        return replace(self, asked=seconds)

    def tighten(self) -> Pace:
        """Return the pace after an answer that says the host is overloaded."""
        return replace(self, strain=min(self.strain * 2, MOST_STRAIN))

    def relax(self) -> Pace:
        """Return the pace after a good answer."""
        if self.strain <= 1.0:
            return self
        strain = self.strain * _RELIEF
        return replace(self, strain=strain if strain > 1.0 else 1.0)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """The rules of politeness for one host."""

    pace: Pace
    connections: int
    hours: Hours | None
    left_alone: str = ""  # who wants it not to be visited; empty if it may be


def politeness_for(
    origin: str, orders: HostOrders, *, settings: FetchSettings, time_zone: tzinfo, strain: float = 1.0
) -> Politeness:
    """Return the rules for a host: an operator's orders go before the settings for the host, and these before the general ones."""
    special = settings.for_host(host_name(origin))
    set_delay = special.delay if special else None
    delay = next((delay for delay in (orders.delay, set_delay) if delay is not None), settings.delay)
    reason = f"by order{f': {orders.why}' if orders.why else ''}" if orders.left_alone else ""
    return Politeness(
        pace=Pace(own=delay, slow_factor=settings.slow_factor, longest=max(settings.max_delay, delay), strain=strain),
        connections=orders.connections or (special.connections if special else 1),
        hours=parse_hours(orders.hours or (special.hours if special else ""), time_zone),
        left_alone=reason or ("by the settings" if special and special.leave_alone else ""),
    )


def host_name(origin: str) -> str:
    """Return the host name of an origin, without scheme and port."""
    authority = origin.partition("://")[2]
    name, colon, port = authority.rpartition(":")
    return name if colon and port.isdecimal() else authority


def zone_of(settings: Settings) -> tzinfo:
    """Return the time zone of the settings; SettingsError if it is not known."""
    try:
        return ZoneInfo(settings.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingsError(
            f"setting 'time_zone': {settings.time_zone!r} is not known; write one as in Europe/Tallinn or UTC"
        ) from error


def check_settings(settings: Settings) -> None:
    """Raise SettingsError if hours, policies or schedules can't be understood, before anything is visited."""
    time_zone = zone_of(settings)
    for special in settings.fetch.hosts:
        parse_hours(special.hours, time_zone)
    parse_policy(settings.revisit.policy)
    if settings.revisit.schedule:
        next_time(settings.revisit.schedule, after=datetime(2000, 1, 1, tzinfo=UTC), time_zone=time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseLeaseRules:
    """The rules that the pipeline gives to the catalogue; all in seconds."""

    least_rest: float = 0.0  # after a lease that was lost
    longest_rest: float = 0.0  # of any host
    longest_lease: float = 0.0

    def ready_after_loss(self, delay: float, now: datetime) -> datetime:
        """Return until when a host rests that was held: for its own delay at least, since it may just have been visited."""
        return now + timedelta(seconds=max(delay, self.least_rest))

    def correct_clock(self, last: datetime | None, now: datetime) -> ClockCorrection:
        """Return what holds if a worker was seen ``last``: whether the clock has gone back, and how far ahead things may lie."""
        ahead = last - now if last is not None and last - now > _NOTICED else timedelta()
        return ClockCorrection(
            ahead=ahead,
            rests_end=now + timedelta(seconds=self.longest_rest),
            leases_end=now + timedelta(seconds=self.longest_lease),
            moves_plans=ahead > _WORTH,
        )

"""Retry-After: how long a server asks to be left in peace (RFC 9110, 10.2.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from rehi.model.visit import Answer

LONGEST = timedelta(days=7)  # whoever asks for more is taken to mean this
_SECONDS = re.compile(r"[+-]?\d+(?:\.\d*)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)"
_FORMS = (
    # Sun, 06 Nov 1994 08:49:37 GMT; and with hyphens and two digits, Sunday, 06-Nov-94 08:49:37 GMT
    re.compile(
        rf"[a-z]+,\s*(?P<day>\d{{1,2}})[\s-](?P<month>[a-z]{{3}})[a-z]*[\s-](?P<year>\d{{2,4}})\s+{_TIME}(?P<zone>.*)"
    ),
    # Sun Nov  6 08:49:37 1994
    re.compile(rf"[a-z]+\s+(?P<month>[a-z]{{3}})[a-z]*\s+(?P<day>\d{{1,2}})\s+{_TIME}\s+(?P<year>\d{{4}})(?P<zone>)"),
    # 1994-11-06T08:49:37Z: no form of HTTP, but some servers send it
    re.compile(rf"(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)[t\s]{_TIME}(?:\.\d+)?(?P<zone>.*)"),
)
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)")


def retry_after(answer: Answer, *, now: datetime, longest: timedelta = LONGEST) -> timedelta | None:
    """Return how long to wait from now; None if the answer has no Retry-After that can be understood."""
    value = answer.header("Retry-After").strip().lower()[:100]
    if _SECONDS.fullmatch(value):
        return timedelta(seconds=min(max(float(value), 0.0), longest.total_seconds()))
    until = _date(value, now)
    return None if until is None else min(max(until - now, timedelta()), longest)


def _date(value: str, now: datetime) -> datetime | None:
    match = next((match for form in _FORMS if (match := form.fullmatch(value))), None)
    if match is None:
        return None
    zone = _zone(match["zone"].strip())
    month = int(match["month"]) if match["month"].isdecimal() else _month(match["month"])
    second = min(int(match["second"]), 59)  # a leap second is as good as the one before it
    try:
        moment = datetime(
            _year(match["year"], now),
            month,
            int(match["day"]),
            int(match["hour"]),
            int(match["minute"]),
            second,
            tzinfo=UTC,
        )
        return None if zone is None else moment - zone
    except (ValueError, OverflowError):  # no such day, or beyond the calendar's end
        return None


def _month(name: str) -> int:
    return _MONTHS.index(name) + 1 if name in _MONTHS else 0


def _year(text: str, now: datetime) -> int:
    """A year; one of two digits is the one that is no more than 50 years ahead."""
    if len(text) > 2:
        return int(text)
    last = now.year + 50
    return last - (last - int(text)) % 100


def _zone(text: str) -> timedelta | None:
    """How far a zone is ahead of UTC; None if we don't know it."""
    if text in ("", "gmt", "utc", "z", "ut"):
        return timedelta()
    match = _OFFSET.fullmatch(text)
    if match is None:
        return None
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
    return -offset if match["sign"] == "-" else offset

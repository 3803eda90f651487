"""Moments as people, WARC and ARC files write them: a day, a time, or digits from the year down to a part of a second.

``datetime.fromisoformat`` reads neither a year or a month alone nor 14 digits, and does not tell how exact a text is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

WEB_BEGAN = datetime(1990, 1, 1, tzinfo=UTC)  # what is said to be older can't be true of the web

_TEXT = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[Tt ](?P<hour>\d\d):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?[ ]?(?P<zone>[Zz]|[+-]\d\d:?\d\d)?)?)?)?"
)
_DIGITS = re.compile(
    r"(?P<year>\d{4})(?:(?P<month>\d\d)(?:(?P<day>\d\d)(?:[Tt]?(?P<hour>\d\d)(?:(?P<minute>\d\d)"
    r"(?:(?P<second>\d\d)(?P<part>\d{1,6})?)?)?)?)?)?(?P<zone>Z)?"
)
_PARTS = ("year", "month", "day", "hour", "minute", "second")
_STARTS = (1, 1, 1, 0, 0, 0)
_STEP = timedelta(microseconds=1)


def parse_moment(text: str, *, end: bool) -> datetime:
    """Return a moment in UTC, which is meant unless the text says otherwise; ValueError if it is none.

    Of a year, a month, a day, a minute … it is the end or the beginning.
    """
    match = _DIGITS.fullmatch(text) or _TEXT.fullmatch(text)
    if match is None or not text.isascii():
        raise ValueError(f"{text[:60]!r} is no moment")
    numbers = [int(match[part]) for part in _PARTS if match[part]]
    year, month, day, hour, minute, second = (*numbers, *_STARTS[len(numbers) :])
    part = (match["part"] or "")[:6]
    micros = int(part.ljust(6, "0"))
    try:
        # A leap second is as good as the one before it.
        start = datetime(year, month, day, hour, minute, 59 if second == 60 else second, micros, _zone(match["zone"]))
        return (_following(start, len(numbers), len(part)) - _STEP if end else start).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text[:60]!r} is beyond the calendar's end") from error


def digits_of(at: datetime, *, fine: bool = False) -> str:
    """Return the 14 digits of a moment, as web archives write it; 20 with the microseconds."""
    return at.astimezone(UTC).strftime("%Y%m%d%H%M%S%f" if fine else "%Y%m%d%H%M%S").rjust(20 if fine else 14, "0")


def _following(start: datetime, precision: int, fraction: int) -> datetime:
    """Return where the next year, month, day … of the same kind begins."""
    match precision:
        case 1:
            return start.replace(year=start.year + 1)
        case 2:
            return (start + timedelta(days=31)).replace(day=1)
        case 3:
            return start + timedelta(days=1)
        case 4:
            return start + timedelta(hours=1)
        case 5:
            return start + timedelta(minutes=1)
        case _:
            return start + timedelta(microseconds=10 ** (6 - fraction))


def _zone(text: str | None) -> timezone:
    if not text or text in "Zz":
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))

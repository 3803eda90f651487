"""Moments as people and web archives write them: a day, a time, or digits from the year down to the microsecond."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from rehi.errors import SettingsError

_TEXT = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[Tt ](?P<hour>\d\d):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,6}))?)?[ ]?(?P<zone>[Zz]|[+-]\d\d:?\d\d)?)?)?)?"
)
_DIGITS = re.compile(
    r"(?P<year>\d{4})(?:(?P<month>\d\d)(?:(?P<day>\d\d)(?:(?P<hour>\d\d)(?:(?P<minute>\d\d)"
    r"(?:(?P<second>\d\d)(?P<part>\d{1,6})?)?)?)?)?)?(?P<zone>Z)?"
)
_PARTS = ("year", "month", "day", "hour", "minute", "second")
_STARTS = (1, 1, 1, 0, 0, 0)
_STEP = timedelta(microseconds=1)


def parse_moment(text: str, *, end: bool = True) -> datetime:
    """A moment in UTC unless it says otherwise; of a year, a month, a day or a minute, its end or its beginning."""
    given = text.strip()
    match = _DIGITS.fullmatch(given) or _TEXT.fullmatch(given)
    if match is None or not given.isascii():
        raise _unclear(text)
    try:
        return _read(match, end=end)
    except (ValueError, OverflowError) as error:
        raise _unclear(text) from error


def digits_of(at: datetime, *, fine: bool = False) -> str:
    """The 14 digits of a moment, as web archives write it; 20 with the microseconds."""
    return at.astimezone(UTC).strftime("%Y%m%d%H%M%S%f" if fine else "%Y%m%d%H%M%S").rjust(20 if fine else 14, "0")


def _read(match: re.Match[str], *, end: bool) -> datetime:
    numbers = [int(match[part]) for part in _PARTS if match[part]]
    year, month, day, hour, minute, second = (*numbers, *_STARTS[len(numbers) :])
    start = datetime(year, month, day, hour, minute, second, tzinfo=_zone(match["zone"]))
    part = match["part"]
    if part:
        start += timedelta(microseconds=int(part.ljust(6, "0")))
    moment = _following(start, len(numbers), len(part or "")) - _STEP if end else start
    return moment.astimezone(UTC)


def _following(start: datetime, precision: int, fraction: int) -> datetime:
    """Where the next year, month, day … of the same kind begins."""
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


def _unclear(text: str) -> SettingsError:
    return SettingsError(
        f"{text[:60]!r} is no moment; give a day as in 2026-03-01, a time as in 2026-03-01T12:30:00Z, or 14 digits"
    )

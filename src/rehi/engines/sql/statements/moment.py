"""A moment: microseconds since 1970 in the database, an aware UTC datetime outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NEVER_YEAR = 9999  # datetime.max stands for "never"


def to_micros(moment: datetime) -> int:
    """The moment as a whole number; exact, which a float of seconds is not."""
    return (moment - _EPOCH) // _MICROSECOND


def maybe_to_micros(moment: datetime | None) -> int | None:
    """The moment as a whole number, if there is one."""
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def to_due(moment: datetime) -> int | None:
    """The moment at which something is due; None for never, which datetime.max stands for."""
    return None if moment.year >= _NEVER_YEAR else to_micros(moment)


def from_micros(micros: int) -> datetime:
    """The moment that a whole number stands for."""
    return _EPOCH + timedelta(microseconds=micros)


def maybe_from_micros(micros: int | None) -> datetime | None:
    """The moment that a whole number stands for, if there is one."""
    return None if micros is None else from_micros(micros)


def span(seconds: float) -> int:
    """A length of time in microseconds."""
    return round(seconds * 1_000_000)

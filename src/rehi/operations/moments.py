"""Moments that somebody asks for."""

from __future__ import annotations

from datetime import datetime

from rehi.errors import SettingsError
from rehi.model import moment
from rehi.model.moment import digits_of

__all__ = ["digits_of", "parse_moment"]


def parse_moment(text: str, *, end: bool = True) -> datetime:
    """Return a moment in UTC unless it says otherwise; of a year, a month, a day or a minute, its end or its beginning."""
    try:
        return moment.parse_moment(text.strip(), end=end)
    except ValueError as error:
        raise SettingsError(
            f"{text[:60]!r} is no moment; give a day as in 2026-03-01, a time as in 2026-03-01T12:30:00Z, or 14 digits"
        ) from error

"""The Last-Modified header: when a page says that it changed, if it can be believed."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_USUAL = len("Mon, 02 Mar 2026 08:00:00 GMT")
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
_NOW = 5.0  # seconds: a page that changed just as we came was most likely made for us


@lru_cache(maxsize=1024)
def parse_date(header: str) -> float | None:
    """The moment in seconds since 1970; None for what is no date."""
    if len(header) == _USUAL and header.endswith(" GMT"):  # a tenth of the cost of reading every form there is
        try:
            day, month, year = int(header[5:7]), _MONTHS[header[8:11]], int(header[12:16])
            clock = int(header[17:19]), int(header[20:22]), int(header[23:25])
            return datetime(year, month, day, *clock, tzinfo=UTC).timestamp()
        except (KeyError, ValueError, OverflowError):
            return None
    try:
        moment = parsedate_to_datetime(header[:64])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def believe(header: str, *, at: float, since: float | None, changed: bool | None) -> float | None:
    """When the page changed, if that agrees with what we saw: since the last visit if it changed, before it if not."""
    moment = parse_date(header) if header else None
    if moment is None or not _EARLIEST <= moment <= at - _NOW:
        return None
    if since is not None and changed is not None and (moment > since) != changed:
        return None
    return moment

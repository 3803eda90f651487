"""The Last-Modified header: when a page says that it changed, if it can be believed."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_NOW = 5.0  # seconds: a page that changed just as we came was most likely made for us


@lru_cache(maxsize=1024)
def parse_date(header: str) -> float | None:
    """The moment in seconds since 1970; None for what is no date."""
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

"""The Last-Modified header: when a page says that it changed, if it can be believed."""

from __future__ import annotations

from rehi.model.http import parse_http_date
from rehi.model.moment import WEB_BEGAN

_EARLIEST = WEB_BEGAN.timestamp()
_NOW = 5.0  # seconds: a page that changed just as we came was most likely made for us


def believe(header: str, *, at: float, since: float | None, changed: bool | None) -> float | None:
    """When the page changed, if that agrees with what we saw: since the last visit if it changed, before it if not."""
    date = parse_http_date(header) if header else None
    if date is None:
        return None
    moment = date.timestamp()
    if not _EARLIEST <= moment <= at - _NOW:
        return None
    if since is not None and changed is not None and (moment > since) != changed:
        return None
    return moment

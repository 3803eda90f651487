"""Retry-After: how long a server asks to be left in peace (RFC 9110, 10.2.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from rehi.model.http import parse_http_date
from rehi.model.visit import Answer

LONGEST = timedelta(days=7)  # whoever asks for more is taken to mean this
_SECONDS = re.compile(r"[+-]?\d+(?:\.\d*)?")


def retry_after(answer: Answer, *, now: datetime, longest: timedelta = LONGEST) -> timedelta | None:
    """Return how long to wait from now; None if the answer has no Retry-After that can be understood."""
    value = answer.header("Retry-After").strip()[:100]
    if _SECONDS.fullmatch(value):
        return timedelta(seconds=min(max(float(value), 0.0), longest.total_seconds()))
    until = parse_http_date(value) or _iso_date(value)
    return None if until is None else min(max(until - now, timedelta()), longest)


def _iso_date(text: str) -> datetime | None:
    """Return a moment in the form of ISO 8601, which is no form of HTTP, but some servers send it."""
    try:
        moment = datetime.fromisoformat(text).replace(microsecond=0)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

"""What several rooms know of HTTP: headers, the meaning of statuses, and how a date is written."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache

Headers = tuple[tuple[str, str], ...]  # in the order and spelling in which they came

NOT_MODIFIED = 304
PARTIAL = 206
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PERMANENT_REDIRECTS = frozenset({301, 308})
MISSING = frozenset({404, 410})
OVERLOADED = frozenset({429, 503})

_LONGEST = 64  # characters of a date
_USUAL = len("Mon, 02 Mar 2026 08:00:00 GMT")
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}


def find_header(headers: Headers, name: str) -> str:
    """Return the last value of a header, or an empty string."""
    lowered = name.lower()
    for key, value in reversed(headers):
        if key.lower() == lowered:
            return value
    return ""


def parse_headers(lines: Iterable[str]) -> Headers:
    """Return names and values; a line that begins with white space belongs to the one before."""
    headers: list[tuple[str, list[str]]] = []  # a value is joined at the end: it may be folded into 300,000 lines
    for line in lines:
        if line[:1] in (" ", "\t"):
            if headers:
                headers[-1][1].append(line.strip())
            continue
        name, _, value = line.partition(":")
        headers.append((name.strip(), [value.strip(" \t")]))
    return tuple(
        (name, parts[0] if len(parts) == 1 else " ".join(filter(None, parts)).strip()) for name, parts in headers
    )


@lru_cache(maxsize=1024)
def format_http_date(at: datetime) -> str:
    """Return a moment as HTTP writes it."""
    return format_datetime(at.astimezone(UTC).replace(microsecond=0), usegmt=True)


@lru_cache(maxsize=1024)
def parse_http_date(text: str) -> datetime | None:
    """Return the moment in UTC that a header tells, in any form that HTTP ever had; None for what is no date."""
    try:
        if len(text) == _USUAL and text.endswith(" GMT"):  # a tenth of the cost of reading every form there is
            day, month, year = int(text[5:7]), _MONTHS[text[8:11]], int(text[12:16])
            return datetime(year, month, day, int(text[17:19]), int(text[20:22]), int(text[23:25]), tzinfo=UTC)
        moment = parsedate_to_datetime(text[:_LONGEST])
        if moment.tzinfo is None and text.rstrip()[-1:].isalpha():  # a zone that nobody knows
            return None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return None

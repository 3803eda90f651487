"""Values in the form in which both databases can keep, compare and index them: moments and text.

A moment is a number of microseconds since 1970 in the database, and an aware UTC datetime outside.
"""

from __future__ import annotations

import random
import unicodedata
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import overload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NEVER_YEAR = 9999  # datetime.max stands for "never"


@overload
def to_micros(moment: datetime) -> int: ...
@overload
def to_micros(moment: datetime | None) -> int | None: ...
def to_micros(moment: datetime | None) -> int | None:
    """Return a moment, if there is one, as a whole number; exact, which a float of seconds is not."""
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def to_due(moment: datetime) -> int | None:
    """Return the moment at which something is due; None for never, which is datetime.max outside."""
    return None if moment.year >= _NEVER_YEAR else to_micros(moment)


@overload
def from_micros(micros: int) -> datetime: ...
@overload
def from_micros(micros: int | None) -> datetime | None: ...
def from_micros(micros: int | None) -> datetime | None:
    """Return the moment that a whole number is, if there is one."""
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


# PostgreSQL refuses index entries over 2,704 bytes; URLs are ASCII, so a head of 600 characters is safe.
HEAD = 600
INDEXED_URL = f"(left(resource.url, {HEAD}) || resource.tail)"  # PostgreSQL's index of URLs
FOLDED = 200  # characters, at most 800 bytes


def lots(last: int, count: int) -> list[int]:
    """Return up to ``count`` ids from 1 to ``last``, drawn by lot and in order; all of them if there are no more."""
    if last <= count:
        return list(range(1, last + 1))
    return sorted({random.randint(1, last) for _ in range(count)})  # noqa: S311 - no secret


def storable(text: str) -> str:
    """Return a text without what a database refuses: PostgreSQL has no NUL, and neither has lone surrogates."""
    if text.isascii():
        return text.replace("\0", "")
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def folded(text: str) -> str:
    """Return a text as it is searched: without case, composed, not too long for an index."""
    return unicodedata.normalize("NFC", storable(text).casefold())[:FOLDED]


def key_of(*parts: str) -> bytes:
    """Return sixteen bytes that are the key of texts of any length in a unique index."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


def tail_of(url: str) -> str:
    """Return what tells URLs apart that share their first 600 characters; empty for all that are shorter."""
    return "" if len(url) <= HEAD else blake2b(url.encode("utf-8", "replace"), digest_size=32).hexdigest()

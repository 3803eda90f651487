"""Text in the form in which both databases can keep, compare and index it."""

from __future__ import annotations

import unicodedata
from hashlib import blake2b

# PostgreSQL refuses index entries over 2,704 bytes; URLs are ASCII, so a head of 600 characters is safe.
HEAD = 600
FOLDED = 200  # characters, at most 800 bytes


def storable(text: str) -> str:
    """The text without what a database refuses: PostgreSQL has no NUL, and neither has lone surrogates."""
    if text.isascii():
        return text.replace("\0", "")
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def folded(text: str) -> str:
    """The text as it is searched: without case, composed, not too long for an index."""
    return unicodedata.normalize("NFC", storable(text).casefold())[:FOLDED]


def key_of(*parts: str) -> bytes:
    """Sixteen bytes that stand for texts of any length in a unique index."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


def tail_of(url: str) -> str:
    """What tells URLs apart that share their first 600 characters; empty for all that are shorter."""
    return "" if len(url) <= HEAD else blake2b(url.encode("utf-8", "replace"), digest_size=32).hexdigest()

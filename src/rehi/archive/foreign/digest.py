"""A digest as other archives write it: ``sha1:`` and base 32, but also other algorithms, base 16 and base 64."""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

_ALGORITHMS = {"md5": 16, "sha1": 20, "sha-1": 20, "sha256": 32, "sha-256": 32, "sha512": 64, "sha-512": 64}


class Hash(Protocol):
    """A hash object: takes bytes, and returns their digest."""

    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...


@lru_cache(maxsize=256)  # each is asked for twice, and base 32 takes 20 microseconds
def parse_digest(text: str) -> tuple[str, bytes] | None:
    """Return the algorithm and the bytes of a digest; None for one that we can't make."""
    name, colon, value = text.strip().partition(":")
    name, value = name.strip().lower(), value.strip()
    size = _ALGORITHMS.get(name)
    if not colon or size is None:
        return None
    for decode in (_base16, _base32, _base64):
        with suppress(ValueError):  # binascii's own is one
            if len(digest := decode(value)) == size:
                return name.replace("-", ""), digest
    return None


def new_hash(algorithm: str) -> Hash:
    """Return a hash object that makes digests of this algorithm."""
    return hashlib.new(algorithm, usedforsecurity=False)


def _base16(value: str) -> bytes:
    return bytes.fromhex(value)


def _base32(value: str) -> bytes:
    value = value.rstrip("=")
    return base64.b32decode(value + "=" * (-len(value) % 8), casefold=True)


def _base64(value: str) -> bytes:
    return base64.b64decode(value, altchars=b"-_" if {"-", "_"} & set(value) else None, validate=True)

"""Checksums: those that a server declares for its body, compared with those of the body that came.

``Content-MD5``, ``Digest`` (RFC 3230), ``Content-Digest`` and ``Repr-Digest`` (RFC 9530). By the letter some are of the
bytes on the wire and others of the representation, but servers behind a compressing proxy send any of them of the plain
bytes. So a body is right when one checksum fits it, coded or decoded, and wrong only when none does.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from base64 import b64decode
from collections.abc import Iterable

from rehi.errors import WrongChecksum

CHECKSUM_HEADERS = frozenset({"content-md5", "digest", "content-digest", "repr-digest"})
_NAMES = {"md5": "md5", "sha-256": "sha256", "sha-512": "sha512"}
_SIZES = {"md5": 16, "sha256": 32, "sha512": 64}
_MAX_VALUE = 2_000  # characters
_MEMBER = re.compile(r"\s*([A-Za-z0-9-]+)\s*=\s*:?([A-Za-z0-9+/_=-]+):?\s*")


class Checksums:
    """The checksums that one body should have, and those of the bytes so far."""

    def __init__(self, headers: Iterable[tuple[str, str]], *, coded: bool) -> None:
        self._expected = frozenset(sum_ for name, value in headers for sum_ in _read(name.lower(), value))
        algorithms = {algorithm for algorithm, _ in self._expected}
        self._wire = [hashlib.new(algorithm, usedforsecurity=False) for algorithm in algorithms]
        self._plain = [hashlib.new(algorithm, usedforsecurity=False) for algorithm in algorithms] if coded else []

    def add_wire(self, data: bytes) -> None:
        """Add bytes as they came over the wire."""
        for sum_ in self._wire:
            sum_.update(data)

    def add_plain(self, data: bytes) -> None:
        """Add bytes as they are after decoding."""
        for sum_ in self._plain:
            sum_.update(data)

    def check(self) -> None:
        """Raise WrongChecksum if the whole body has none of the declared checksums."""
        sums = {(sum_.name, sum_.digest()) for sum_ in (*self._wire, *self._plain)}
        if self._expected and not sums & self._expected:
            names = " and ".join(sorted(algorithm for algorithm, _ in self._expected))
            raise WrongChecksum(f"the body is not the one that its headers describe (its {names} is another)")


def _read(name: str, value: str) -> list[tuple[str, bytes]]:
    """Return the checksums in a header, each with its algorithm; what is not understood is passed over."""
    if len(value) > _MAX_VALUE:
        return []
    if name == "content-md5":
        members = [("md5", value.strip())]
    else:
        matches = [_MEMBER.fullmatch(member) for member in value.split(",")]
        members = [(match[1].lower(), match[2]) for match in matches if match is not None]
    sums = [(algorithm, _bytes(text, _SIZES[algorithm])) for word, text in members if (algorithm := _NAMES.get(word))]
    return [(algorithm, sum_) for algorithm, sum_ in sums if sum_]


def _bytes(text: str, size: int) -> bytes:
    """Return the bytes of a checksum, from base64 in either alphabet or, as many write it, from hexadecimal digits."""
    if len(text) == 2 * size:
        try:
            return bytes.fromhex(text)
        except ValueError:
            return b""
    bare = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        sum_ = b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""
    return sum_ if len(sum_) == size else b""

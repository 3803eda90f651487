"""A web archive, told by its first bytes: WARC or ARC, plain or packed."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

_LOOKED_AT = 65_536  # bytes
_GZIP = b"\x1f\x8b"
_FRAME = b"\x28\xb5\x2f\xfd"
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # only a .warc.zst begins with a dictionary of its own
_BEGINS = re.compile(rb"[\r\n]*(?:WARC/\d|filedesc:|\S+ \S+ \d{14} \S+ \d+\r?\n)")
_NAMED = re.compile(r".+\.w?arc(?:\.gz|\.zst)?", re.IGNORECASE)


def holds_crawl(path: Path) -> bool:
    """Whether a file begins as a web archive does."""
    first = _first_bytes(path)
    if first.startswith(_DICTIONARY):
        return True
    return _BEGINS.match(_unpack(first)) is not None


def is_named_so(path: Path) -> bool:
    """Whether a file that has something in it is called as web archives are; its beginning may be damaged."""
    return _NAMED.fullmatch(path.name) is not None and bool(_first_bytes(path))


def find_crawls(folder: Path) -> list[Path]:
    """The web archives in a folder and the folders in it, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and (holds_crawl(path) or is_named_so(path)))


def _first_bytes(path: Path) -> bytes:
    try:
        if not path.is_file():  # to open a pipe could mean to wait for ever
            return b""
        with path.open("rb") as file:
            return file.read(_LOOKED_AT)
    except (OSError, ValueError):  # said better by those who read it
        return b""


def _unpack(first: bytes) -> bytes:
    if first.startswith(_GZIP):
        try:
            return zlib.decompressobj(31).decompress(first, _LOOKED_AT)
        except zlib.error:
            return b""
    if first.startswith(_FRAME):
        return _unpack_frame(first)
    return first


def _unpack_frame(first: bytes) -> bytes:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from backports import zstd
    try:
        found: bytes = zstd.ZstdDecompressor().decompress(first, _LOOKED_AT)
    except zstd.ZstdError:
        return b""
    return found

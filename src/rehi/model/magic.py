"""Magic numbers: tells the type of a file by its first bytes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from rehi.model.media_data import DATA_TYPES
from rehi.model.media_other import OTHER_TYPES
from rehi.model.media_type import Magic, MediaType, Syntax

_ROWS = (*DATA_TYPES, *OTHER_TYPES)
_LOOKED_AT = 65_536  # bytes at each end of a zip file: its first files, and the directory of all of them
_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\f\r\x1b")
# The mark that may stand anywhere near the beginning; PDF is the only one.
_FLOATING = tuple((magic.marks[0][1], magic.within, row) for row in _ROWS for magic in row.magic if magic.within)
# What begins as other zip files do is told by its members. One that is called so names the type.
_NAMING = b"mimetype"
_NAMED = [(member, row) for row in _ROWS for member in row.members if member.startswith(_NAMING)]
_UNNAMED = [(member, row) for row in _ROWS for member in row.members if not member.startswith(_NAMING)]


def by_bytes(raw: bytes) -> MediaType | None:
    """Return the row of the type that the first bytes of a file prove; None if they prove none."""
    for mark, within, row in _FLOATING:
        if mark in raw[:within]:
            return row
    for offset, mark, further, is_weak, row in _candidates(raw[:1]):
        if (
            raw.startswith(mark, offset)
            and (not further or all(raw.startswith(other, place) for place, other in further))
            and (not is_weak or is_binary(raw))
        ):
            return _by_members(raw, row) if row.syntax is Syntax.ZIP else row
    return None


def is_binary(raw: bytes) -> bool:
    """Whether more than a hundredth of the first bytes are controls that no text has; noise has a tenth."""
    sample = raw[:8192]
    return len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) / 100


_Candidate = tuple[int, bytes, tuple[tuple[int, bytes], ...], bool, MediaType]


@cache
def _candidates(first: bytes) -> tuple[_Candidate, ...]:
    """Return the magic that a file with this first byte may have, the longest first."""
    magics = [
        (magic, row)
        for row in _ROWS
        for magic in row.magic
        if not magic.within and (magic.marks[0][0] or magic.marks[0][1].startswith(first))
    ]
    magics.sort(key=lambda pair: (-_length(pair[0]), pair[0].marks[0][0]))
    return tuple((*magic.marks[0], magic.marks[1:], magic.is_weak, row) for magic, row in magics)


def _length(magic: Magic) -> int:
    return sum(len(mark) for _, mark in magic.marks)


def _by_members(raw: bytes, row: MediaType) -> MediaType:
    """Return the row of the type of zip file whose members these are; the row that is given if they tell nothing."""
    names = _directory(raw)
    if _NAMING in names and (named := _by_member(raw[:_LOOKED_AT], _NAMED)) is not None:
        return named
    return _by_member(names, _UNNAMED) or row


def _by_member(sample: bytes, rows: Iterable[tuple[bytes, MediaType]]) -> MediaType | None:
    return next((row for member, row in rows if member in sample), None)


def _directory(raw: bytes) -> bytes:
    """Return the directory of a zip file with the names of its members; both ends of a file that has none at hand."""
    tail = raw[-_LOOKED_AT:]
    end = tail.rfind(b"PK\5\6")
    size = int.from_bytes(tail[end + 12 : end + 16], "little")
    if 0 < size <= end and tail.startswith(b"PK\1\2", end - size):
        return tail[end - size : end]
    return raw[:_LOOKED_AT] + tail

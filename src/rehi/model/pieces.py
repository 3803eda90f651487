"""Pieces: bytes cut at places that stay where they are when something is inserted, so that most pieces come again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

MOST = 16 << 20  # bytes of a piece; a longer line is a piece of its own


def cut_lines(lines: Iterable[tuple[bytes, bytes]], *, every: int) -> Iterator[bytes]:
    """Yield lines, each given with its key, as pieces that end after about ``every`` lines; which ones, their keys decide."""
    held: list[bytes] = []
    size = 0
    for key, line in lines:
        held.append(line)
        size += len(line)
        if crc32(key) % every == 0 or size >= MOST:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def join_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of pieces again, without their ends; a piece always ends with a line."""
    for piece in pieces:
        yield from piece.splitlines()

"""A stream of bytes: an answer that is written while it is read, with its media type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BATCH = 500  # lines that are sent at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteStream:
    """An answer as a stream of bytes, with its media type and the name to save it under."""

    media_type: str
    chunks: Iterator[bytes]
    file_name: str = ""  # under which they are saved; empty if they are to be shown


def batch_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Join lines to pieces that are worth sending."""
    batch: list[str] = []
    for line in lines:
        batch.append(line)
        if len(batch) == _BATCH:
            yield "".join(batch).encode()
            batch = []
    yield "".join(batch).encode()

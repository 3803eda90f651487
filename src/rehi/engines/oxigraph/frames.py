"""Frames: the messages between a reader process and its parent, through pipes."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable

HEAD = struct.Struct(">cI")

ASK = b"Q"  # parent to reader: a query and its limits, JSON
READY = b"R"  # reader to parent: it has started
CHUNK = b"C"  # reader to parent: bytes of the answer
END = b"E"  # the answer is complete; "1" if the reader asks to be replaced
ERROR = b"X"  # there is no answer; JSON with the kind of error and a message


def write_frame(fd: int, kind: bytes, payload: bytes = b"") -> None:
    """Send one frame; BrokenPipeError if the other side has ended."""
    data = memoryview(HEAD.pack(kind, len(payload)) + payload)
    while data:
        data = data[os.write(fd, data) :]


def read_frame(read: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """Receive one frame, given a function that reads up to so many bytes; EOFError if the other side has ended."""
    kind, size = HEAD.unpack(_read_exactly(read, HEAD.size))
    return kind, _read_exactly(read, size)


def _read_exactly(read: Callable[[int], bytes], size: int) -> bytes:
    pieces = []
    while size:
        piece = read(size)
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)

"""The HTTP message in a foreign record: its head, and its payload with the transfer coding undone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rehi.archive.foreign.block import RecordBlock
from rehi.archive.http_head import HttpHead, read_head_lines, read_http_head
from rehi.errors import RecordDamaged
from rehi.model.visit import Headers

_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_SIZE_LINE = 4_096
_MAX_REQUEST = 65_536


@dataclass(frozen=True, slots=True)
class Message:
    """An answer as it lies in a record; its payload can be read once."""

    head: HttpHead
    block: RecordBlock

    @property
    def is_chunked(self) -> bool:
        """Whether its header says that it was sent in chunks. Many crawlers undo them and leave the header."""
        return "chunked" in self.head.header("transfer-encoding").lower()

    @property
    def codings(self) -> str:
        """How the payload is compressed, the outermost coding last."""
        passed = [self.head.header("content-encoding"), self.head.header("transfer-encoding")]
        names = [name.strip().lower() for value in passed for name in value.split(",")]
        return ", ".join(name for name in names if name and name not in ("chunked", "identity"))

    @property
    def is_coded(self) -> bool:
        """Whether chunks or a compression may have to be undone to get the body."""
        return self.is_chunked or bool(self.codings)

    def payload(self) -> Iterator[bytes]:
        """Return the bytes after the head, out of their chunks; RecordDamaged if chunks are broken or the last is missing."""
        return _dechunk(self.block) if self.is_chunked else iter(self.block.read, b"")


def open_message(block: RecordBlock) -> Message:
    """Read the HTTP head of a block, and return the message; RecordDamaged if there is no head."""
    return Message(read_http_head(block, block.left)[0], block)


def read_request(block: RecordBlock) -> tuple[str, Headers]:
    """Return the method and the headers of a request; both empty if the block holds none."""
    raw = read_head_lines(block, min(block.left, _MAX_REQUEST))
    first, *lines = raw.decode("latin-1").split("\n")
    method = first.split(" ", 1)[0]
    if not (method.isascii() and method.isalpha() and "HTTP/" in first):
        return "", ()
    pairs = [line.strip("\r").partition(":") for line in lines]
    return method.upper(), tuple(
        (name.strip(), value.strip()) for name, colon, value in pairs if colon and name.strip()
    )


def _dechunk(block: RecordBlock) -> Iterator[bytes]:
    """Yield the contents of chunks. Many crawlers undo them and leave the header: what begins with no chunk has none."""
    line = block.readline(_SIZE_LINE)
    size = _SIZE.fullmatch(line)
    if size is None:
        yield line
        yield from iter(block.read, b"")
        return
    while size is not None and (left := int(size[1], 16)):
        while left:
            data = block.read(min(left, 65_536))
            if not data:
                raise RecordDamaged("the body ends in the middle of a chunk")
            left -= len(data)
            yield data
        if block.readline(2).strip(b"\r\n"):
            raise RecordDamaged("a chunk of the body is longer than it says")
        line = block.readline(_SIZE_LINE)
        size = _SIZE.fullmatch(line)
    if size is None:
        raise RecordDamaged(
            "the last chunk of the body is missing" if not line else "the chunks of the body are broken"
        )

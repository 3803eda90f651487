"""The block of a foreign record, and the way from one record to the next."""

from __future__ import annotations

from io import BufferedReader

from rehi.archive.foreign.digest import Hash
from rehi.errors import RecordDamaged

LINE = 65_536  # bytes of a line that are looked at
_LINE_ENDS = b"\r\n"
_FEW = 8


class RecordBlock:
    """A record's block, hashed as it goes by if there is something to check it against."""

    def __init__(self, stream: BufferedReader, length: int, *, hash_: Hash | None = None) -> None:
        self._stream, self._hash = stream, hash_
        self._payload_hash: Hash | None = None
        self.left = length

    def hash_payload(self, hash_: Hash) -> None:
        """Hash what follows as the payload too."""
        self._payload_hash = hash_

    def read(self, size: int = 65_536) -> bytes:
        """Return some of the next bytes, none at the block's end; RecordDamaged if the file ends before."""
        return self._pass(self._stream.read1(min(size, self.left))) if self.left else b""

    def readline(self, limit: int, /) -> bytes:
        """Return the next line, or the part of it that is within the limit."""
        limit = min(limit, self.left)
        return self._pass(self._stream.readline(limit)) if limit > 0 else b""

    @property
    def digest(self) -> bytes | None:
        """The digest of the bytes that were read so far; None if they are not hashed."""
        return None if self._hash is None else self._hash.digest()

    @property
    def payload_digest(self) -> bytes | None:
        """The digest of the payload's bytes that were read so far; None if they are not hashed."""
        return None if self._payload_hash is None else self._payload_hash.digest()

    def drain(self) -> None:
        """Read the block to its end, and drop the bytes."""
        while self.left:
            self.read()

    def _pass(self, data: bytes) -> bytes:
        if not data:
            raise RecordDamaged(f"the file ends {self.left:,} bytes before the record does")
        self.left -= len(data)
        if self._hash is not None:
            self._hash.update(data)
        if self._payload_hash is not None:
            self._payload_hash.update(data)
        return data


def read_start(stream: BufferedReader) -> tuple[bytes, bytes]:
    """Read up to a line that is not empty; return the first few line ends before it, and the line."""
    passed = b""
    while line := stream.readline(LINE):
        if start := line.lstrip(_LINE_ENDS):
            return passed + line[: len(line) - len(start)], start
        passed += line
        if len(passed) > _FEW:  # and perhaps millions follow
            passed = passed[:_FEW]
            held = stream.peek(1)
            stream.read(len(held) - len(held.lstrip(_LINE_ENDS)))
    return passed, b""


def find_line(stream: BufferedReader, starts: tuple[bytes, ...]) -> bytes:
    """Pass over lines up to one that begins as given; return it, or nothing at the end."""
    is_start = True
    while line := stream.readline(LINE):
        if is_start and line.startswith(starts):
            break
        is_start = line.endswith(b"\n")
    return line

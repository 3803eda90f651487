"""A gzip member: the compressed form of each record in its file."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, cast

from rehi.errors import RecordDamaged

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 65_536
# 62 real HTML pages, 5.2 MB, one member each, size against the plain bytes and speed on one core:
# isal 1 .242 at 518 MB/s, isal 2 .240 at 449, isal 3 .234 at 182; zlib 1 .248 at 136, zlib 6 .215 at 50, zlib 9 .214 at 39.
# A page of 20 KB takes 49 microseconds at level 2 and 131 at level 3, which saves 2.7 % of the room.
LEVEL = 2
GZIP = 31  # window bits that ask for a gzip header and trailer


def compress(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Compress the chunks to one gzip member, yielded in pieces of some 64 KB."""
    from isal import isal_zlib

    deflate = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, GZIP)
    held = bytearray()
    for chunk in chunks:
        held += deflate.compress(chunk)
        if len(held) >= CHUNK:
            yield bytes(held)
            held.clear()
    held += deflate.flush()
    yield bytes(held)


def pack(plain: bytes) -> bytes:
    """Compress bytes to one gzip member, in one step."""
    return _deflater()(plain, LEVEL, GZIP)


@cache  # to look for a module takes a microsecond, each time
def _deflater() -> Callable[[bytes, int, int], bytes]:
    from isal import isal_zlib

    return isal_zlib.compress


def inflate(stream: BinaryIO) -> BinaryIO:
    """Return a stream of the plain bytes of a stream's first member."""
    return io.BufferedReader(Member(stream), CHUNK)


class Member(io.RawIOBase):
    """A stream of the plain bytes of one gzip member. The stream under it stays open for the next member."""

    def __init__(self, stream: BinaryIO, held: bytes = b"") -> None:
        from isal import isal_zlib

        super().__init__()
        self._stream = stream
        self._input = held  # read from the stream, but not taken by the decompressor yet
        self._inflate = isal_zlib.decompressobj(GZIP)
        self._error = cast("type[Exception]", isal_zlib.error)  # its stub says that it is an instance
        self._starved = True  # the decompressor can give out no more without further input
        self._fed = len(held)
        self._broken = ""
        self.ran_out = False  # the stream ended inside the member

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Inflate into the buffer; RecordDamaged if the bytes are no gzip, fail its checksum or end too early."""
        view = memoryview(buffer).cast("B")
        if self._broken:  # after an error the decompressor would go on, even to what seems the end
            raise RecordDamaged(self._broken)
        while not self._inflate.eof:
            if not self._input and self._starved:
                self._feed()
            try:
                out = self._inflate.decompress(self._input, len(view))
            except self._error as error:
                self._broken = f"a record can't be decompressed: {error}"
                raise RecordDamaged(self._broken) from error
            self._input = self._inflate.unconsumed_tail
            self._starved = len(out) < len(view)
            if out:
                view[: len(out)] = out
                return len(out)
        return 0

    @property
    def rest(self) -> bytes:
        """The bytes that were read from the stream beyond the member's end."""
        return bytes(self._inflate.unused_data)

    @property
    def length(self) -> int:
        """The compressed length, once the member was read to its end."""
        return self._fed - len(self._inflate.unused_data)

    def _feed(self) -> None:
        self._input = self._stream.read(CHUNK)
        self._fed += len(self._input)
        if not self._input:
            self.ran_out, self._broken = True, "a record ends in its middle"
            raise RecordDamaged(self._broken)

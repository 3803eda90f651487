"""A gzip member: the compressed form of each record in its file."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, Protocol

from isal import igzip_lib, isal_zlib

from rehi.errors import RecordDamaged
from rehi.model.media_type import GZIP_MEMBER_MAGIC

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 65_536
FED = 16_384  # bytes that a decompressor is given at once: most records are smaller, and what is left is copied
# 62 real HTML pages, 5.2 MB, one member each, size against the plain bytes and speed on one core:
# isal 1 .242 at 518 MB/s, isal 2 .240 at 449, isal 3 .234 at 182; zlib 1 .248 at 136, zlib 6 .215 at 50, zlib 9 .214 at 39.
# A page of 20 KB takes 49 microseconds at level 2 and 131 at level 3, which saves 2.7 % of the room.
LEVEL = 2
GZIP = 31  # window bits that ask for a gzip header and trailer
_HEADER = GZIP_MEMBER_MAGIC + b"\x00\x00\x00\x00\x00\x00\xff"  # gzip, no name, no time, from no system
_MOST_STORED = 65_535  # bytes of a stored part


def compress(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Compress the chunks to one gzip member, yielded in pieces of some 64 KB."""
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
    packed: bytes = isal_zlib.compress(plain, LEVEL, GZIP)
    return packed


def pack_stored(fields: bytes, block: bytes) -> bytes:
    """Return fields and a block that is compressed already as one gzip member: the fields are deflated, the block is stored as it is.

    To deflate both together takes 120 bytes more of each delta, since the fields then share a code with what looks random.
    """
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    parts = [_HEADER, deflate.compress(fields), deflate.flush(zlib.Z_SYNC_FLUSH)]
    places = [*range(0, len(block), _MOST_STORED), len(block)] if block else [0, 0]
    for start, end in pairwise(places):
        size = end - start
        parts += [
            bytes((end == len(block),)),
            size.to_bytes(2, "little"),
            (size ^ 0xFFFF).to_bytes(2, "little"),
            block[start:end],
        ]
    check = zlib.crc32(block, zlib.crc32(fields))
    parts += [check.to_bytes(4, "little"), ((len(fields) + len(block)) & 0xFFFF_FFFF).to_bytes(4, "little")]
    return b"".join(parts)


def unpack(packed: bytes, most: int = 0) -> tuple[bytes, bytes]:
    """Return the plain bytes of the member with which these bytes begin, and the bytes after it.

    CompressionDamaged if it is not whole, or larger than ``most`` plain bytes; 0 is no limit.
    """
    member = isal_zlib.decompressobj(GZIP)
    try:
        plain = member.decompress(packed, most)
    except isal_zlib.error as error:  # type: ignore[misc]
        raise CompressionDamaged(f"a record can't be decompressed: {error}") from error
    if not member.eof:
        raise CompressionDamaged("a record ends in its middle, or is larger than it may be")
    return plain, member.unused_data


def inflate(stream: BinaryIO) -> BinaryIO:
    """Return a stream of the plain bytes of a stream's first member."""
    return io.BufferedReader(Member(stream), CHUNK)


class Decompressor(Protocol):
    """What isal's and zstd's decompressors have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class CompressionDamaged(RecordDamaged):
    """Compressed data is damaged or ends too early, so that nobody knows where the next record begins."""


class Member(io.RawIOBase):
    """A stream of the plain bytes of one gzip member, or of what another decompressor reads.

    No more is unpacked than is read, so a bomb costs no memory. The stream under it stays open for the next member.
    """

    def __init__(self, stream: BinaryIO, held: bytes = b"", *, decompressor: Decompressor | None = None) -> None:
        super().__init__()
        self._stream = stream
        self._input = held  # read from the stream, but not given to the decompressor yet
        self._unpack = decompressor or gzip_decompressor()
        self._fed, self._given = len(held), 0
        self._broken = ""
        self.ran_out = False  # the stream ended inside the member

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Unpack into the buffer; CompressionDamaged if the bytes can't be unpacked, fail their checksum or end too early."""
        view = memoryview(buffer).cast("B")
        if self._broken:  # after an error the decompressor would go on, even to what seems the end
            raise CompressionDamaged(self._broken)
        while not self._unpack.eof:
            if not self._input and self._unpack.needs_input:
                self._feed()
            data, self._input = self._input, b""
            try:
                out = self._unpack.decompress(data, len(view))
            except Exception as error:  # isal's and zstd's own, and others of a mangled header
                self._broken = f"a record can't be decompressed: {error}"
                raise CompressionDamaged(self._broken) from error
            if out:
                view[: len(out)] = out
                self._given += len(out)
                return len(out)
        return 0

    def tell(self) -> int:
        """Return how many plain bytes were given out."""
        return self._given

    @property
    def rest(self) -> bytes:
        """The bytes that were read from the stream beyond the member's end."""
        return self._unpack.unused_data

    @property
    def length(self) -> int:
        """The compressed length, once the member was read to its end."""
        return self._fed - len(self._unpack.unused_data)

    def _feed(self) -> None:
        self._input = self._stream.read(FED)
        self._fed += len(self._input)
        if not self._input:
            self.ran_out, self._broken = True, "a record ends in its middle"
            raise CompressionDamaged(self._broken)


def gzip_decompressor() -> Decompressor:
    """Return what unpacks one gzip member and checks it."""
    made: Decompressor = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    return made

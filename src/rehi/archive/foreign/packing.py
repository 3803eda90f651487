"""The packing: a crawl's file as plain bytes, be they gzip members, zstd frames or nothing of the kind.

Members and frames are unpacked piece by piece, never further than they are read, so that a bomb costs no memory.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Any, Protocol

from rehi.errors import RecordDamaged

CHUNK = 65_536  # plain bytes that come at once
WINDOW = 1 << 20  # bytes of the file that are held
FED = 16_384  # bytes that are given to a decompressor at once: most records are smaller, and what is left is copied
GZIP = b"\x1f\x8b\x08"
FRAME = b"\x28\xb5\x2f\xfd"
DICTIONARY = b"\x5d\x2a\x4d\x18"  # the skippable frame with which a .warc.zst may begin
_SKIPPABLE = b"\x2a\x4d\x18"  # behind a byte from 0x50 to 0x5F
_WINDOW_LOG = 27  # 128 MB, what zstd itself allows unless it is told otherwise
_LARGEST_DICTIONARY = 64 << 20


class Packing(StrEnum):
    """How a file is packed."""

    PLAIN = "plain"
    GZIP = "gzip"
    ZSTD = "zstd"


class _Decompressor(Protocol):
    """What isal and zstd have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class PackedFile:
    """The bytes of a file as they lie there, with a window on them."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.size = os.fstat(handle).st_size
        self._start, self._held = 0, b""
        self._zstd_dictionary: Any = None
        self.begin = 0  # where the first member or frame is
        first = self.read(0, 4)
        self.packing = Packing.PLAIN
        if first.startswith(GZIP[:2]):
            self.packing = Packing.GZIP
        elif first == FRAME or _is_skippable(first):
            self.packing = Packing.ZSTD
            self.begin = self._take_dictionary() if first == DICTIONARY else 0

    def read(self, offset: int, size: int) -> bytes:
        """Up to so many bytes at a place; fewer only at the file's end."""
        at = offset - self._start
        if at < 0 or at + size > len(self._held):
            self._start, at = offset, 0
            self._held = self._read_at(offset, max(WINDOW, size))
        return self._held[at : at + size]

    def _read_at(self, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._handle, size, offset)
        except OSError as error:
            raise RecordDamaged(f"the file can't be read at {offset}: {error.strerror}") from error

    def find(self, offset: int, marks: tuple[bytes, ...]) -> int:
        """The next place at which one of the marks begins; the file's size if there is none."""
        longest = max(map(len, marks))
        while offset < self.size:
            held = self.read(offset, min(WINDOW, self.size - offset))
            places = [at for mark in marks if (at := held.find(mark)) >= 0]
            if places:
                return offset + min(places)
            offset += max(1, len(held) - longest + 1)
        return self.size

    def find_member(self, offset: int) -> int:
        """The next place at which a member or a frame may begin."""
        return self.find(offset, (GZIP,) if self.packing is Packing.GZIP else (FRAME,))

    def open_piece(self, offset: int) -> Piece:
        """The member or frame that begins there; of a plain file, all that follows."""
        if self.packing is Packing.PLAIN:
            return Piece(self, offset, None)
        return Piece(self, offset, self._decompressor())

    def past_padding(self, offset: int) -> int:
        """Where the next member or frame begins: zeros and frames that are to be skipped lie between them."""
        while offset < self.size:
            head = self.read(offset, 8)
            if self.packing is Packing.ZSTD and _is_skippable(head) and len(head) == 8:
                offset = min(self.size, offset + 8 + int.from_bytes(head[4:], "little"))
            elif head[:1] == b"\0" and self.packing is not Packing.PLAIN:
                held = self.read(offset, min(WINDOW, self.size - offset))
                offset += len(held) - len(held.lstrip(b"\0"))
            else:
                break
        return offset

    def _decompressor(self) -> _Decompressor:
        made: _Decompressor
        if self.packing is Packing.GZIP:
            from isal import igzip_lib

            made = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
            return made
        zstd = _zstd()
        options = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        made = zstd.ZstdDecompressor(self._zstd_dictionary, options=options)
        return made

    def _take_dictionary(self) -> int:
        """The dictionary with which all frames of the file were packed; where the first of them begins."""
        head = self.read(0, 8)
        size = int.from_bytes(head[4:], "little")
        if len(head) < 8 or size > min(_LARGEST_DICTIONARY, self.size - 8):
            raise RecordDamaged("the file's dictionary is cut off or larger than any dictionary is")
        content, zstd = self.read(8, size), _zstd()
        try:
            if content.startswith(FRAME):
                unpacked = zstd.ZstdDecompressor()
                content = unpacked.decompress(content, _LARGEST_DICTIONARY)
                if not unpacked.eof:
                    raise RecordDamaged("the file's dictionary is cut off or larger than any dictionary is")
            self._zstd_dictionary = zstd.ZstdDict(content)
            zstd.ZstdDecompressor(self._zstd_dictionary)
        except (zstd.ZstdError, ValueError) as error:
            raise RecordDamaged(f"the file's dictionary can't be used: {error}") from error
        return 8 + size


class Unpackable(RecordDamaged):
    """Compressed data is damaged, so that nobody knows where the next record begins."""


class Piece:
    """One member or frame, unpacked as it is read; of a plain file, all from some place on."""

    def __init__(self, file: PackedFile, offset: int, unpack: _Decompressor | None) -> None:
        self._file, self._unpack = file, unpack
        self.offset = self._at = offset  # where it begins, and what is read next
        self._broken = ""

    @property
    def at(self) -> int:
        """How far in the file it was read."""
        return self._at

    @property
    def end(self) -> int:
        """Where it ends in the file, once it has been read to its end."""
        return self._at if self._unpack is None else self._at - len(self._unpack.unused_data)

    def chunk(self) -> bytes:
        """The next plain bytes, none at its end; Unpackable if they can't be had."""
        if self._unpack is None:
            out = self._file.read(self._at, CHUNK)
            self._at += len(out)
            return out
        return self._unpacked(self._unpack)

    def _unpacked(self, unpack: _Decompressor) -> bytes:
        if self._broken:
            raise Unpackable(self._broken)
        while not unpack.eof:
            data = b""
            if unpack.needs_input:
                data = self._file.read(self._at, FED)
                if not data:
                    self._broken = "the file ends in the middle of compressed data"
                    raise Unpackable(self._broken)
                self._at += len(data)
            try:
                out = unpack.decompress(data, CHUNK)
            except Exception as error:  # isal's and zstd's own, and others of a mangled header
                self._broken = f"compressed data can't be unpacked: {error}"
                raise Unpackable(self._broken) from error
            if out:
                return out
        return b""


class Joined:
    """All pieces as one stream, for files in which members and records don't go together."""

    def __init__(self, file: PackedFile) -> None:
        self._file = file
        self._piece: Piece | None = None
        self._next = file.begin

    @property
    def at(self) -> int:
        """How far in the file it was read."""
        return self._piece.at if self._piece else self._next

    def chunk(self) -> bytes:
        """The next plain bytes, none at the end; Unpackable once at each damaged piece, and then the next is gone on with."""
        while True:
            if self._piece is None:
                self._next = self._file.past_padding(self._next)
                if self._next >= self._file.size:
                    return b""
                self._piece = self._file.open_piece(self._next)
            try:
                out = self._piece.chunk()
            except Unpackable:
                self._next, self._piece = self._file.find_member(self._piece.offset + 1), None
                raise
            if out:
                return out
            self._next, self._piece = self._piece.end, None


def _is_skippable(head: bytes) -> bool:
    return head[1:4] == _SKIPPABLE and head[0] & 0xF0 == 0x50


def _zstd() -> Any:
    """The standard library's from 3.14, or its backport."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from backports import zstd
    return zstd

"""Unpacked bytes: what a file holds, packed with gzip or zstd or not, read in constant memory.

Its first bytes tell how it is packed. The sample that shows what a file is and the reader of its lines both go through here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rehi.errors import SourceError
from rehi.model.media_type import GZIP_MAGIC, ZSTD_DICTIONARY_MAGIC, ZSTD_MAGIC
from rehi.zstd import zstd_module

CHUNK = 1 << 20  # bytes; measured: 64 KB is a tenth slower, 4 MB no faster
_MOST_UNPACKED = 1 << 29  # bytes from which on it matters how well a file was packed
_MOST_PACKED = 100  # times its size that a file may unpack to then: honest logs unpack to 5 to 30 times
_GZIP_FORMAT = 31  # zlib's number for "gzip header, largest window"
_WINDOW_LOG = 27  # 128 MB, which `zstd --ultra` and `--long` use; what asks for more is damaged or means harm
_SKIPPABLE = ZSTD_DICTIONARY_MAGIC[1:]  # after a byte from 0x50 to 0x5f: pzstd begins its files so


class UnpackedBytes:
    """What a file holds, chunk by chunk, gone through once, and how many bytes of the file were read for that."""

    def __init__(self, file: BinaryIO, path: Path, *, most: int | None = None) -> None:
        self.path = path
        self.size = path.stat().st_size  # as it lies there, packed or not
        self.bytes_read = 0
        self._file = file
        self._most = most  # bytes of the file, after which it counts as cut off

    def __iter__(self) -> Iterator[bytes]:
        chunk = self._read()
        if chunk.startswith(GZIP_MAGIC):
            yield from self._unpack(chunk, _GzipMember)
        elif chunk.startswith(ZSTD_MAGIC) or (chunk[1:4] == _SKIPPABLE and 0x50 <= chunk[0] <= 0x5F):
            yield from self._unpack(chunk, _ZstdFrame)
        else:
            while chunk:
                yield chunk
                chunk = self._read()

    def _unpack(self, data: bytes, make: type[_GzipMember] | type[_ZstdFrame]) -> Iterator[bytes]:
        """Yield the contents of all members or frames. What a chunk unpacks to is bounded, however well it was packed."""
        packed: _Packed = make()
        unpacked = 0
        while data or packed.is_pending:
            try:
                chunk = packed.unpack(data)
            except _Damaged as error:
                raise SourceError(
                    f"{self.path} is damaged: its {make.name} data can't be unpacked ({error})"
                ) from error
            unpacked += len(chunk)
            if unpacked > max(_MOST_UNPACKED, _MOST_PACKED * self.size):
                raise SourceError(
                    f"{self.path} unpacks to more than {_MOST_PACKED} times its size, as no honest log or list does; what "
                    "came before is kept. If it is meant, unpack it and add that"
                )
            yield chunk
            if packed.is_at_end:
                data = self._past_zeros(packed.rest)
                if not data:
                    return
                packed = make()
            else:
                data = packed.rest or (b"" if packed.is_pending else self._read())
        raise SourceError(
            f"{self.path} ends in the middle of its {make.name} data: it was not copied or written to its end"
        )

    def _past_zeros(self, data: bytes) -> bytes:
        """Return what follows the zeros with which some media fill up their last block."""
        while not data.lstrip(b"\0"):
            data = self._read()
            if not data:
                break
        return data.lstrip(b"\0")

    def _read(self) -> bytes:
        if self._most is not None and self.bytes_read >= self._most:
            return b""
        try:
            data = self._file.read(CHUNK)
        except OSError as error:
            raise SourceError(f"{self.path} can't be read further: {error.strerror}") from error
        self.bytes_read += len(data)
        return data


class _Damaged(Exception):
    """What can't be unpacked; says why."""


class _Packed(Protocol):
    """A member or a frame that is being unpacked."""

    def unpack(self, data: bytes) -> bytes:
        """Return up to CHUNK bytes of what it holds, given further bytes of it."""

    @property
    def is_at_end(self) -> bool:
        """Whether it was unpacked to its end."""

    @property
    def is_pending(self) -> bool:
        """Whether there is more to have without further bytes."""

    @property
    def rest(self) -> bytes:
        """Bytes that were given and not taken."""


class _GzipMember:
    name = "gzip"

    is_pending = False

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_FORMAT)

    def unpack(self, data: bytes) -> bytes:
        try:
            return self._member.decompress(data, CHUNK)
        except zlib.error as error:
            raise _Damaged(error) from error

    @property
    def is_at_end(self) -> bool:
        return self._member.eof

    @property
    def rest(self) -> bytes:
        return self._member.unused_data if self._member.eof else self._member.unconsumed_tail


class _ZstdFrame:
    name = "zstd"

    def __init__(self) -> None:
        self._zstd = zstd_module()
        options = {self._zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        self._frame: Any = self._zstd.ZstdDecompressor(options=options)

    def unpack(self, data: bytes) -> bytes:
        try:
            unpacked: bytes = self._frame.decompress(data, CHUNK)
        except self._zstd.ZstdError as error:
            raise _Damaged(error) from error
        return unpacked

    @property
    def is_at_end(self) -> bool:
        return bool(self._frame.eof)

    @property
    def is_pending(self) -> bool:
        return not self._frame.eof and not self._frame.needs_input

    @property
    def rest(self) -> bytes:
        return bytes(self._frame.unused_data) if self._frame.eof else b""

"""The lines of a file, plain or gzipped, in constant memory."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rehi.errors import SourceError
from rehi.sources.line import MAX_LINE

_CHUNK = 1 << 20  # bytes; measured: 64 KB is a tenth slower, 4 MB no faster
_ENDLESS = 1 << 28  # bytes without a line's end, a second's worth, after which we don't wait for one
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_FORMAT = 31  # zlib's number for "gzip header, largest window"


class Lines:
    """The lines without their ends, and how many bytes of the file were read for them.

    A line longer than MAX_LINE may come out cut, but still longer than that, by which its reader can tell.
    """

    def __init__(self, file: BinaryIO, path: Path, size: int) -> None:
        self.size = size  # of the file as it lies there, compressed or not
        self.bytes_read = 0
        self._path = path
        self._file = file
        self._stream = self._lines()

    def __iter__(self) -> Iterator[bytes]:
        return self._stream

    def __next__(self) -> bytes:
        return next(self._stream)

    def _lines(self) -> Iterator[bytes]:
        rest, skipped = b"", 0
        for chunk in self._chunks():
            lines = chunk.split(b"\n")
            skipped = skipped + len(chunk) if len(lines) == 1 else 0
            if skipped > _ENDLESS:
                raise SourceError(f"{self._path} has a line of more than {_ENDLESS >> 20} MB: it is no log and no list")
            lines[0] = rest + lines[0] if len(rest) <= MAX_LINE else rest
            rest = lines.pop()[: MAX_LINE + 1]
            yield from lines
        if rest:
            yield rest

    def _chunks(self) -> Iterator[bytes]:
        first = self._read()
        yield from self._unpacked(first) if first.startswith(_GZIP_MAGIC) else self._plain(first)

    def _plain(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            yield chunk
            chunk = self._read()

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        """The contents of all members. What a chunk unpacks to is bounded, however well it was packed."""
        member = zlib.decompressobj(_GZIP_FORMAT)
        while data:
            try:
                yield member.decompress(data, _CHUNK)
            except zlib.error as error:
                raise SourceError(f"{self._path} is damaged: its gzip data can't be unpacked ({error})") from error
            if member.eof:
                data = self._past_zeros(member.unused_data)
                if not data:
                    return
                member = zlib.decompressobj(_GZIP_FORMAT)
            else:
                data = member.unconsumed_tail or self._read()
        raise SourceError(f"{self._path} ends in the middle of its gzip data: it was not copied or written to its end")

    def _past_zeros(self, data: bytes) -> bytes:
        """What follows the zeros with which some media fill up their last block."""
        while not data.lstrip(b"\0"):
            data = self._read()
            if not data:
                break
        return data.lstrip(b"\0")

    def _read(self) -> bytes:
        try:
            data = self._file.read(_CHUNK)
        except OSError as error:
            raise SourceError(f"{self._path} can't be read further: {error.strerror}") from error
        self.bytes_read += len(data)
        return data


@contextmanager
def open_lines(path: Path) -> Iterator[Lines]:
    """Open a file and read its lines. What is wrong with it is one sentence in a SourceError."""
    with open_file(path) as file:
        yield Lines(file, path, path.stat().st_size)


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading. What is wrong with it is one sentence in a SourceError."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(f"{path} is a folder; name a file in it")
        if not stat.S_ISREG(mode):  # to open a pipe could mean to wait for ever
            raise SourceError(f"{path} is a device or a pipe; write its contents to a file first")
        return path.open("rb")
    except FileNotFoundError as error:
        raise SourceError(f"there is no file {path}") from error
    except PermissionError as error:
        raise SourceError(f"{path} can't be opened: you may not read it") from error
    except OSError as error:
        raise SourceError(f"{path} can't be opened: {error.strerror}") from error
    except ValueError as error:  # a NUL in the name
        raise SourceError(f"{str(path)!r} can't be the name of a file") from error

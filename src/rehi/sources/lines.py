"""Lines: of a file, plain or gzipped, read in constant memory, and as a source from where its cursor stands."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from rehi.errors import SourceError
from rehi.model.source import Entry, Rejected, Source
from rehi.sources.kind import Discovered, Fetch

MAX_LINE = 65_536  # bytes; a longer one is no line of a log or a list
BOM = b"\xef\xbb\xbf"
BLANK = Rejected("blank")  # an empty line or a comment
LONG_LINE = f"the line is longer than {MAX_LINE:,} bytes"

_SHOWN = 200  # characters of a line that people get to see
BATCH = 40_000  # lines; with half of that a log took a sixth more CPU: each batch touches most of the index of URLs
_CHUNK = 1 << 20  # bytes; measured: 64 KB is a tenth slower, 4 MB no faster
_ENDLESS = 1 << 28  # bytes without a line's end, a second's worth, after which we don't wait for one
_MOST_UNPACKED = 1 << 29  # bytes from which on it matters how well a file was packed
_MOST_PACKED = 100  # times its size that a file may unpack to then: honest logs unpack to 5 to 30 times
_LONGEST_CURSOR = 18  # digits
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_FORMAT = 31  # zlib's number for "gzip header, largest window"

ReadLines = Callable[[Iterable[bytes], int], Iterator[Entry]]  # of the lines, with the number of those before them


def discover_lines(source: Source, cursor: bytes, fetch: Fetch, read: ReadLines) -> Iterator[Discovered]:
    """Yield the entries of the lines that follow those that the cursor counts.

    When the source breaks off, what came before is yielded, and the error is raised after that.
    """
    done = read_cursor(cursor)
    with fetch(source.location) as fetched, open_lines(fetched.path) as lines:
        entries = read(islice(lines, done, None), done)
        broken: SourceError | None = None
        while broken is None:
            batch: list[Entry] = []
            try:
                batch.extend(islice(entries, BATCH))
            except SourceError as error:
                broken = error
            if not batch:
                break
            done += len(batch)
            yield Discovered(batch, b"%d" % done, min(1.0, lines.bytes_read / max(1, lines.size)))
    if broken is not None:
        raise broken


def read_cursor(cursor: bytes) -> int:
    """Return the number of lines or the offset that a cursor holds; 0 for a source that was not begun, and for what is none."""
    return int(cursor) if cursor.isdigit() and len(cursor) <= _LONGEST_CURSOR else 0


def shorten(line: bytes) -> str:
    """Return a line's beginning, fit to be shown."""
    text = line[: _SHOWN * 4].decode("utf-8", "replace")[:_SHOWN]
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def is_blank(line: bytes) -> bool:
    """Whether a line is empty or a comment."""
    text = line.removeprefix(BOM).lstrip()
    return not text or text.startswith(b"#")


class Lines:
    """The lines without their ends, gone through once, and how many bytes of the file were read for them.

    A line longer than MAX_LINE may come out cut, but still longer than that, by which its reader can tell.
    """

    def __init__(self, file: BinaryIO, path: Path, size: int) -> None:
        self.size = size  # of the file as it lies there, compressed or not
        self.bytes_read = 0
        self._path = path
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
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
        chunk = self._read()
        if chunk.startswith(_GZIP_MAGIC):
            yield from self._unpacked(chunk)
            return
        while chunk:
            yield chunk
            chunk = self._read()

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        """Yield the contents of all members. What a chunk unpacks to is bounded, however well it was packed."""
        member, unpacked = zlib.decompressobj(_GZIP_FORMAT), 0
        while data:
            try:
                chunk = member.decompress(data, _CHUNK)
            except zlib.error as error:
                raise SourceError(f"{self._path} is damaged: its gzip data can't be unpacked ({error})") from error
            unpacked += len(chunk)
            if unpacked > max(_MOST_UNPACKED, _MOST_PACKED * self.size):
                raise SourceError(
                    f"{self._path} unpacks to more than {_MOST_PACKED} times its size, as no honest log or list does; what "
                    "came before is kept. If it is meant, unpack it and add that"
                )
            yield chunk
            if member.eof:
                data = self._past_zeros(member.unused_data)
                if not data:
                    return
                member = zlib.decompressobj(_GZIP_FORMAT)
            else:
                data = member.unconsumed_tail or self._read()
        raise SourceError(f"{self._path} ends in the middle of its gzip data: it was not copied or written to its end")

    def _past_zeros(self, data: bytes) -> bytes:
        """Return what follows the zeros with which some media fill up their last block."""
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

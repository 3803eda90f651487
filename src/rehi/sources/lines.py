"""Lines: of a file, packed or not, read in constant memory, and as a source from where its cursor stands."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from rehi.errors import SourceError
from rehi.model.source import Entry, Rejected, Source
from rehi.sources.kind import Discovered, Fetch
from rehi.sources.unpacked import UnpackedBytes

MAX_LINE = 65_536  # bytes; a longer one is no line of a log or a list
BOM = b"\xef\xbb\xbf"
BLANK = Rejected("blank")
COMMENT = Rejected("comment")  # a line that begins with #
HEADER = Rejected("header")  # a first line that says what those below it are
LONG_LINE = f"the line is longer than {MAX_LINE:,} bytes"

_SHOWN = 200  # characters of a line that people get to see
_LONGEST_CURSOR = 18  # digits
BATCH = 40_000  # lines; with half of that a log took a sixth more CPU: each batch touches most of the index of URLs
_ENDLESS = 1 << 28  # bytes without a line's end, a second's worth, after which we don't wait for one

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
            yield Discovered(batch, b"%d" % done, min(1.0, lines.content.bytes_read / max(1, lines.content.size)))
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
    return pass_over(line) is not None


def pass_over(line: bytes) -> Rejected | None:
    """Return why a line says nothing, as one that is empty or a comment; None if it may say something."""
    text = line.removeprefix(BOM).lstrip()
    if not text:
        return BLANK
    return COMMENT if text.startswith(b"#") else None


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of some content, without their ends; they are gone through once.

    A line longer than MAX_LINE may come out cut, but still longer than that, by which its reader can tell.
    """

    content: UnpackedBytes

    def __iter__(self) -> Iterator[bytes]:
        rest, skipped = b"", 0
        for chunk in self.content:
            lines = chunk.split(b"\n")
            skipped = skipped + len(chunk) if len(lines) == 1 else 0
            if skipped > _ENDLESS:
                raise SourceError(
                    f"{self.content.path} has a line of more than {_ENDLESS >> 20} MB: it is no log and no list"
                )
            lines[0] = rest + lines[0] if len(rest) <= MAX_LINE else rest
            rest = lines.pop()[: MAX_LINE + 1]
            yield from lines
        if rest:
            yield rest


@contextmanager
def open_lines(path: Path) -> Iterator[Lines]:
    """Open a file and read its lines. What is wrong with it is one sentence in a SourceError."""
    with open_file(path) as file:
        yield Lines(UnpackedBytes(file, path))


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

"""Saving: bytes go to a file that is there whole or not at all, or to standard output."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, BinaryIO

from rehi.cli.output import printable
from rehi.errors import DiskFull, SettingsError

CHUNK = 262_144
_LOOKED_AT = 8_192  # bytes by which text is told from all else


@contextmanager
def saved(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its place when all is written, and is not there if anything went wrong.

    A device or a pipe is written to as it is, and never replaced; so is a file that a link leads to.
    """
    if path.is_dir():
        raise SettingsError(f"{path} is a folder; give the name of a file in it")
    try:
        with path.open("wb") if _is_special(path) else _replacing(path.resolve()) as file:
            yield file
    except OSError as error:
        if error.errno is None or isinstance(error, BrokenPipeError):
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"there is no room for {path}; nothing of it was written") from error
        raise SettingsError(f"{path} can't be written: {error.strerror}") from error


def _is_special(path: Path) -> bool:
    """Whether this is anything but an ordinary file, or one of the names by which a shell hands over what is open."""
    named = path.absolute().parts[1:2]
    return named in (("dev",), ("proc",)) or (path.exists() and not path.is_file())


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as file:
        held = Path(file.name)
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            held.chmod(0o666 & ~_umask())
            held.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                held.unlink()
            raise


def to_output(body: BinaryIO, *, whatever: bool) -> None:
    """Write all bytes as they are; on a terminal only text, without what the terminal would obey, unless ``whatever``."""
    if whatever or not sys.stdout.isatty():
        out = sys.stdout.buffer
        while chunk := body.read(CHUNK):
            out.write(chunk)
        out.flush()
        return
    start = body.read(_LOOKED_AT)
    if not _is_text(start):
        raise SettingsError("this is not text, and a terminal would make a mess of it; write it to a file with -o FILE")
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")("replace")
    while start:
        sys.stdout.write(printable(decoder.decode(start)))
        start = body.read(CHUNK)
    sys.stdout.flush()


def _is_text(start: bytes) -> bool:
    if b"\0" in start:
        return False
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(start) - 3  # a character that is cut in two
    return True


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask

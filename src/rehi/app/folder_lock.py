"""Locks in a data folder: who may write in it, and what an error of the disk means there."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rehi.errors import DataFolderBusy, DiskFull, EngineError


@contextmanager
def lock_folder(folder: Path, *, name: str = "lock") -> Iterator[None]:
    """Lock a data folder as its only writer; DataFolderBusy says who the other one is."""
    path = folder / name
    try:
        with path.open("a+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                file.seek(0)
                owner = file.read(20).strip() or "unknown"
                raise DataFolderBusy(
                    f"another rehi (process {owner}) works in {folder}; stop it, or name another folder with --data"
                ) from error
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield
    except OSError as error:
        raise translate_error(error, folder) from error


def is_locked(folder: Path, *, name: str = "lock") -> bool:
    """Whether somebody writes in a data folder now."""
    try:
        with lock_folder(folder, name=name):
            return False
    except DataFolderBusy:
        return True


def translate_error(error: OSError, folder: Path) -> Exception:
    """Return an error of the disk in a sentence; one that nobody expects stays as it is."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"the disk of {folder} is full; make room and start again, nothing is lost")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return EngineError(f"the data folder {folder} can't be written: {error.strerror}")
    return error

"""Checkpoints: numbered copies of the store, hard-linked, that readers open while the writer goes on.

A reader holds a shared lock on the folder of the checkpoint that it reads; the writer removes only what nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT = 2  # the newest, and the one before it for a reader that is just about to open it
_TRIES = 100


def numbers(folder: Path) -> list[int]:
    """The checkpoints there are, the oldest first."""
    try:
        return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())
    except FileNotFoundError:
        return []


def path_of(folder: Path, number: int) -> Path:
    """Where a checkpoint lies."""
    return folder / f"{number:08d}"


def next_path(folder: Path) -> Path:
    """Where the next checkpoint will lie."""
    return path_of(folder, max(numbers(folder), default=0) + 1)


def hold_newest(folder: Path) -> tuple[int, int] | None:
    """The newest checkpoint's number, and a descriptor that holds it until it is closed; None if there is none yet."""
    for _ in range(_TRIES):  # one may vanish between the look and the lock, but only when a newer one has come
        found = numbers(folder)
        if not found:
            return None
        if (descriptor := _lock(path_of(folder, found[-1]), fcntl.LOCK_SH)) is not None:
            return found[-1], descriptor
    return None


def clean(folder: Path) -> None:
    """Remove the checkpoints that are neither new nor held, and what an earlier process left half made."""
    for number in numbers(folder)[:-KEPT]:
        with _locked(path_of(folder, number)) as path:
            if path is not None:
                shutil.rmtree(path.rename(path.with_suffix(".gone")), ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what a killed writer left half made or half removed."""
    for path in folder.iterdir():
        if path.suffix in (".gone", ".tmp"):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[Path | None]:
    descriptor = _lock(path, fcntl.LOCK_EX)
    try:
        yield None if descriptor is None else path
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(path: Path, how: int) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        if path.stat().st_ino == os.fstat(descriptor).st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass  # somebody else was first
    os.close(descriptor)
    return None

"""Checkpoints: numbered copies of the store, hard-linked, that readers open while the writer goes on.

A reader holds a shared lock on the folder of the checkpoint that it reads; the writer removes only what nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path

DAMAGE = "damaged"  # the file that says of a graph why it must be written again
KEPT = 2  # the newest, and the one before it for a reader that is just about to open it
_TRIES = 100


def numbers(folder: Path) -> list[int]:
    """Return the numbers of the checkpoints in a folder, the oldest first."""
    try:
        return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())
    except FileNotFoundError:
        return []


def last_number(folder: Path) -> int:
    """Return the number of the newest checkpoint; 0 if there is none."""
    return max(numbers(folder), default=0)


def set_aside(graph: Path) -> Path | None:
    """Give a graph's folder another name, and return it; who reads a checkpoint in it reads on. None if it is gone."""
    if not graph.exists():
        return None
    number = 1
    while (aside := graph.with_name(f"{graph.name}-aside-{number}")).exists():
        number += 1
    graph.rename(aside)
    return aside


def note_damage(folder: Path, why: str) -> None:
    """Write down what a reader of the checkpoints has met, so that whoever writes the graph sees it; the first word stands."""
    with suppress(OSError), (folder.parent / DAMAGE).open("x", encoding="utf-8") as file:
        file.write(why)


def noted_damage(folder: Path) -> str:
    """Return what was written down of damage; empty if nothing was."""
    try:
        return (folder.parent / DAMAGE).read_text(encoding="utf-8", errors="replace") or "it could not be read"
    except OSError:
        return ""


def path_of(folder: Path, number: int) -> Path:
    """Return the path of a checkpoint."""
    return folder / f"{number:08d}"


def hold_newest(folder: Path) -> tuple[int, int] | None:
    """Lock the newest checkpoint; return its number, and the descriptor to close when it is no longer read.

    None if there is no checkpoint yet.
    """
    for _ in range(_TRIES):  # a checkpoint may be removed before it is locked, but only when there is a newer one
        known = numbers(folder)
        if not known:
            return None
        if (descriptor := _lock(path_of(folder, known[-1]), fcntl.LOCK_SH)) is not None:
            return known[-1], descriptor
    return None


def copy_store(store: Path, folder: Path) -> None:
    """Make the first checkpoint of a store that nobody has open; none if there is nothing in it."""
    if not any(store.iterdir()):
        return
    part = path_of(folder, 1).with_suffix(".tmp")
    part.mkdir()
    for path in store.iterdir():  # tables never change; what else there is may be appended to
        (part / path.name).hardlink_to(path) if path.suffix == ".sst" else shutil.copy2(path, part)
    part.rename(path_of(folder, 1))


def clean(folder: Path) -> None:
    """Remove the old checkpoints that no reader has locked, and what a killed writer left half made or half removed."""
    for path in (*folder.glob("*.gone"), *folder.glob("*.tmp")):
        shutil.rmtree(path, ignore_errors=True)
    for number in numbers(folder)[:-KEPT]:
        path = path_of(folder, number)
        if (descriptor := _lock(path, fcntl.LOCK_EX)) is not None:
            try:
                shutil.rmtree(path.rename(path.with_suffix(".gone")), ignore_errors=True)
            finally:
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
        pass  # locked by a reader, or removed by another process
    os.close(descriptor)
    return None

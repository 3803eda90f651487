"""Moves: where records are now that were moved by a compaction.

No reference to a record is ever changed. Each compaction writes one file that says where the records of the files that
it replaced are now, and a record is found by following these moves.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import BinaryIO

from rehi.errors import RecordDamaged, RecordMissing
from rehi.model.version import RecordRef
from rehi.ports import Shelf

_NAME = re.compile(r"moves-([0-9]{5,})-[A-Za-z0-9_-]+\.txt")

MOMENT = 2.0  # seconds between two looks for a missing file: they are frequent for files of other workers, and a listing of a bucket costs money

Places = dict[int, RecordRef]  # new places by old offset


class FollowingShelf:
    """A shelf that finds records by their old places after they were moved."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._moved: dict[str, Places] = {}  # by old file
        self._read: set[str] = set()  # names of the files of moves that were read
        self._moved_at: datetime | None = None
        self._lock = threading.Lock()
        self._looked_at = -MOMENT  # when it was last looked for moves because of a missing file
        # In all that does not concern a record's place the shelf is asked itself.
        self.shared, self.files, self.is_sealed, self.reach = shelf.shared, shelf.files, shelf.is_sealed, shelf.reach
        self.append, self.sync, self.set_aside = shelf.append, shelf.sync, shelf.set_aside
        self.seal, self.put, self.remove = shelf.seal, shelf.put, shelf.remove

    def has(self, file: str) -> bool:
        """Whether a file is there, or was replaced; that another process has replaced it is noticed a moment later."""
        if self._shelf.has(file) or file in self._moved:
            return True
        if monotonic() - self._looked_at >= MOMENT:
            self._looked_at = monotonic()
            self.look()
        return file in self._moved

    def open(self, ref: RecordRef) -> BinaryIO:
        """Return a stream of a record at its new place; without one, of its old place."""
        moved = self.find(ref)
        try:
            return self._shelf.open(moved or ref)
        except RecordMissing:
            self.look()
            now = self.find(ref)
            if now is None or now == moved:
                raise
            return self._shelf.open(now)

    def find(self, ref: RecordRef) -> RecordRef | None:
        """Return where a record was moved to; None if it was not, as far as is known."""
        moved = None
        while (places := self._moved.get((moved or ref).file)) is not None:
            onward = places.get((moved or ref).offset)
            if onward is None:
                break
            moved = onward
        return moved

    def is_moved(self, file: str) -> bool:
        """Whether a file was replaced."""
        return file in self._moved

    def look(self) -> None:
        """Read the files of moves that are new, also those of other processes."""
        new = [(name, size) for name, size in self._shelf.files() if _NAME.fullmatch(name) and name not in self._read]
        with self._lock:
            for name, size in new:
                with self._shelf.open(RecordRef(name, 0, size)) as stream:
                    self._take_in(stream, name)
                self._read.add(name)

    @property
    def moved_at(self) -> datetime | None:
        """When records were last moved; None if they never were."""
        return self._moved_at

    def next_name(self, worker: str) -> str:
        """Return the name of the next file of moves; the worker's name keeps it from being overwritten by another."""
        numbers = [int(match[1]) for name in self._read if (match := _NAME.fullmatch(name))]
        return f"moves-{max(numbers, default=0) + 1:05}-{worker}.txt"

    def _take_in(self, stream: BinaryIO, name: str) -> None:
        places: Places = {}
        for line in stream:
            parts = line.decode("utf-8", "replace").split()
            try:
                if parts[0] == "file":
                    places = self._moved.setdefault(parts[1], {})
                elif parts[0] == "at":
                    at = datetime.fromisoformat(parts[1])
                    self._moved_at = max(at, self._moved_at or at)
                else:
                    places[int(parts[0])] = RecordRef(parts[1], int(parts[2]), int(parts[3]))
            except (ValueError, IndexError) as error:
                raise RecordDamaged(f"{name} does not say where records were moved to: {line[:80]!r}") from error


def write_moves(moves: Mapping[str, Sequence[tuple[RecordRef, RecordRef]]], *, now: datetime) -> Iterator[bytes]:
    """Yield the lines of a file of moves: one for each file that is replaced, and one for each of its records."""
    yield f"at {now.isoformat()}\n".encode()
    for file, pairs in moves.items():
        yield f"file {file}\n".encode()
        for before, after in pairs:
            yield f"{before.offset} {after.file} {after.offset} {after.length}\n".encode()

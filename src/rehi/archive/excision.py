"""Excision: a file is written anew without its damaged parts, so that every tool reads it to its end.

The order makes it safe at every step. First the file as it is, damaged, is put beside itself under another name, where it stays
for good. Then the whole records are put into a new file, which gets its index. Then one file of moves says where each record
is now, and that is the moment at which it happens; the old file goes after it. What breaks off before that moment has
changed nothing and is done again, and what is left to remove after it is removed by whoever comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import orjson

from rehi.archive.compaction import clean_up, new_name
from rehi.archive.member import CHUNK
from rehi.archive.moves import FollowingShelf, write_moves
from rehi.archive.seal import index_name, seal_file
from rehi.archive.walk import DamagedPart, Starts, Walk, WholeRecord
from rehi.errors import RecordMissing
from rehi.model.version import RecordRef
from rehi.ports import Shelf

DAMAGED = ".damaged"  # ends the name of a file that was replaced since it is damaged


@dataclass(slots=True)
class Excised:
    """The result of an excision: how many files were written anew, with what."""

    files: int = 0
    parts: int = 0  # that are damaged, and only in the files that were set aside
    records: int = 0  # that are whole, and in the new files


def excise(
    shelf: FollowingShelf,
    files: Iterable[str],
    *,
    starts: Starts,
    worker: str,
    now: datetime,
    spool: Path | None = None,
    on_file: Callable[[str], None] = lambda _: None,
) -> Excised:
    """Write files anew without their damaged parts, one after the other; nobody may be writing to them."""
    done = Excised()
    clean_up(shelf)
    sizes = dict(shelf.files())
    for file in sorted(set(files)):
        if file not in sizes or shelf.is_moved(file):  # it was done before a kill
            continue
        on_file(file)
        shelf.put(file + DAMAGED, _read_through(shelf, file, sizes[file]))
        cut = _Excision(shelf, file, sizes[file], starts)
        if cut.has_whole_records():
            shelf.put(new_name(file), cut.chunks())
            seal_file(shelf, new_name(file), cut.end, spool=spool)
        shelf.put(shelf.next_name(worker), write_moves({file: cut.moves}, now=now))
        clean_up(shelf)
        done.files, done.parts, done.records = done.files + 1, done.parts + cut.parts, done.records + len(cut.moves)
    return done


def index_starts(shelf: Shelf, file: str) -> Iterator[int]:
    """Yield where records of a file begin, as its index says; nothing if it has none."""
    name = index_name(file)
    sizes = dict(shelf.files())
    if name not in sizes:
        return
    try:
        with shelf.open(RecordRef(name, 0, sizes[name])) as stream:
            for line in stream:
                try:
                    yield int(orjson.loads(line.split(b" ", 2)[2])["offset"])
                except (ValueError, KeyError, TypeError, IndexError):  # the index may be damaged, too
                    continue
    except RecordMissing:
        return


def _read_through(shelf: Shelf, file: str, size: int) -> Iterator[bytes]:
    with shelf.open(RecordRef(file, 0, size)) as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


class _Excision:
    """The rewriting of one file: the bytes of the new one, and where its records are now."""

    def __init__(self, shelf: Shelf, file: str, size: int, starts: Starts) -> None:
        self._shelf, self._walk = shelf, Walk(shelf, file, size, decode_deltas=False, starts=starts)
        self._new = new_name(file)
        self.moves: list[tuple[RecordRef, RecordRef]] = []
        self.end = self.parts = 0

    def has_whole_records(self) -> bool:
        """Whether anything is left for a new file; without it, the damaged parts are counted."""
        if any(isinstance(item, WholeRecord) for item in self._walk.records()):
            return True
        self.parts = sum(1 for _ in self._walk.records())
        return False

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the new file: the whole records, each as it was."""
        for item in self._walk.records():
            if isinstance(item, DamagedPart):
                self.parts += 1
                continue
            start = self.end
            with self._shelf.open(item.ref) as stream:
                while chunk := stream.read(CHUNK):
                    self.end += len(chunk)
                    yield chunk
            self.moves.append((item.ref, RecordRef(self._new, start, self.end - start)))

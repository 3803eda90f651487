"""The check of a file's index: whether it is the one that would be made from the file's records."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from itertools import zip_longest
from types import TracebackType
from typing import Self

from rehi.archive.body import holds_answer
from rehi.archive.cdxj import SortedLines
from rehi.archive.http_head import read_http_head
from rehi.archive.member import inflate
from rehi.archive.record import DELTA, Record
from rehi.archive.seal import index_line, index_name
from rehi.archive.walk import Walk, WholeRecord, describe_visit
from rehi.errors import ArchiveError, RecordMissing
from rehi.model.version import RecordRef
from rehi.ports import Shelf


class IndexCheck:
    """Collects the records of a file, and compares the index that they make with the one that is there."""

    def __init__(self, shelf: Shelf, file: str) -> None:
        self.name = index_name(file)
        self._shelf = shelf
        self._lines = SortedLines()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    def add(self, item: WholeRecord) -> None:
        """Take a record into account."""
        if item.fields.kind != DELTA and (line := index_line(item)):
            self._lines.add(line)

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the index; it is wrong as a whole, so that the first difference will do."""
        try:
            with _open(self._shelf, self.name) as stream:
                for number, (raw, line) in enumerate(zip_longest(stream, self._lines), 1):
                    if raw is None or line is None or raw != f"{line}\n".encode():
                        yield f"line {number} is not what the records of the file say"
                        return
        except RecordMissing as error:
            yield str(error)


def sample_index(shelf: Shelf, file: str, size: int, *, lines: int, lot: random.Random) -> Iterator[str]:
    """Yield what is wrong with the index of a sealed file, as far as some of its lines tell, chosen by lot."""
    try:
        with _open(shelf, index_name(file)) as stream:
            kept = stream.readlines()
    except RecordMissing as error:
        yield str(error)
        return
    if kept != sorted(kept):
        yield "its lines are not in order"
        return
    walk = Walk(shelf, file, size, decode_deltas=False)
    for raw in kept if len(kept) <= lines else lot.sample(kept, lines):
        if raw != _line_at(walk, shelf, raw):
            yield f"a line is not what its record says: {raw[:80].decode('utf-8', 'replace')}"
            return


def _line_at(walk: Walk, shelf: Shelf, raw: bytes) -> bytes:
    """Return the line of the record to which a line points; empty if there is none."""
    import orjson

    try:
        values = orjson.loads(raw.split(b" ", 2)[2])
        ref = RecordRef(walk.name, int(values["offset"]), int(values["length"]))
        with shelf.open(ref) as stream:
            record = Record(inflate(stream))
            if not holds_answer(record.fields):
                return b""
            http, _ = read_http_head(record.stream, record.length)
            kept = describe_visit(ref, record.fields, http)
            if kept is None:  # it names no digest, so that its body would have to be read
                return raw
            line = index_line(WholeRecord(ref=ref, fields=record.fields, kept=kept))
    except (ArchiveError, ValueError, KeyError, TypeError, IndexError):
        return b""
    return f"{line}\n".encode()


def _open(shelf: Shelf, name: str) -> io.BufferedIOBase:
    sizes = dict(shelf.files())
    if name not in sizes:
        raise RecordMissing(f"{name} is not there")
    return shelf.open(RecordRef(name, 0, sizes[name]))  # type: ignore[return-value]

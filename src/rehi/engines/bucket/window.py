"""A window: a range of an object is read window by window, so that memory is bounded."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

from rehi.engines.bucket.store import Store
from rehi.errors import RecordMissing
from rehi.model.version import RecordRef

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 65_536
FIRST = 262_144  # bytes of the first window: most records are read with one request
LARGEST = 8_388_608  # bytes; each window is twice as large as the last: 100 MB take 17 requests, and this much memory


def open_object(store: Store, ref: RecordRef) -> BinaryIO:
    """Return a stream of a range of an object; RecordMissing if there is no such object, or it ends before."""
    if ref.offset < 0 or ref.length < 0:
        raise RecordMissing(f"{ref.file} has no place {ref.offset}")
    if ref.length:
        first, size = store.read(ref.file, ref.offset, min(ref.end, ref.offset + FIRST))
    else:
        first, size = memoryview(b""), _size_of(store, ref)
    if size < ref.end:
        raise RecordMissing(f"{ref.file} ends before {ref.end}")
    return io.BufferedReader(_ObjectRange(store, ref, first), CHUNK)


def _size_of(store: Store, ref: RecordRef) -> int:
    stored = store.find(ref.file)
    if stored is None:
        raise RecordMissing(f"{ref.file} is neither in the data folder nor in {store.uri}")
    return stored.size


class _ObjectRange(io.RawIOBase):
    """A stream of a range of an object; no connection is held while nobody reads."""

    def __init__(self, store: Store, ref: RecordRef, first: memoryview) -> None:
        super().__init__()
        self._store, self._ref = store, ref
        self._held = first
        self._end = ref.offset + len(first)  # of what has been fetched
        self._next = 2 * FIRST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not self._held and self._end < self._ref.end:
            self._fetch()
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._held))
        view[:count] = self._held[:count]
        self._held = self._held[count:]
        return count

    def _fetch(self) -> None:
        self._held, _ = self._store.read(self._ref.file, self._end, min(self._ref.end, self._end + self._next))
        if not self._held:
            raise RecordMissing(f"{self._ref.file} ends at {self._end}, before {self._ref.end}")
        self._end += len(self._held)
        self._next = min(2 * self._next, LARGEST)

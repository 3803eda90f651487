"""A folder as a shelf: append-only files, with torn tails set aside in a folder of their own."""

from __future__ import annotations

import errno
import io
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rehi.errors import ArchiveError, DiskFull, EngineError, RecordMissing, RehiError
from rehi.model.version import RecordRef

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 65_536
# Bytes of records that are held until they are written together: 4 KB take 4.7 microseconds to write, 64 KB take 27.
# Nobody is told of a record before it is synced.
HELD = 65_536
OPEN_FILES = 8  # kept open for writing; more than one worker ever needs, and far below any limit
_TORN = "torn"
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class FolderShelf:
    """Port ``Shelf`` on a local folder. One process writes a file; any number may read it meanwhile."""

    shared = False  # it is one machine's

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)
        self._lock = threading.RLock()
        self._writers: OrderedDict[str, _Writer] = OrderedDict()  # the one used last comes last
        self._dirty: set[str] = set()
        self._names_dirty = False  # a file was made since the folder was last synced

    def carry(self, report: object) -> None:
        """Nothing to do: files stay where they are written."""

    def is_sealed(self, file: str) -> bool:
        """Never: a file in a folder is sealed by the index beside it."""
        return False

    def check(self) -> str:
        """Return the folder's path."""
        return str(self._folder.resolve())

    def append(self, file: str, chunks: Iterable[bytes]) -> RecordRef:
        """Write at the end of a file; whatever goes wrong, the file ends where it ended before."""
        with self._lock:
            writer = self._writer(file)
            self._dirty.add(file)
            return RecordRef(file, *writer.append(chunks))

    def sync(self) -> None:
        """Every appended byte, and every new file's name, is on disk for good."""
        with self._lock:
            for file in sorted(self._dirty):
                self._writers[file].sync()
                self._dirty.discard(file)
            if self._names_dirty:
                sync_folder(self._folder)
                self._names_dirty = False

    def open(self, ref: RecordRef) -> BinaryIO:
        """A read-only stream of the range with a file handle of its own."""
        if not FILE_NAME.fullmatch(ref.file):
            raise RecordMissing(f"{ref.file!r} is not a file's name")
        try:
            self._write_out(ref)
            handle = os.open(self._folder / ref.file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise RecordMissing(f"{ref.file} can't be opened: {error.strerror}") from error
        if ref.offset < 0 or ref.length < 0 or os.fstat(handle).st_size < ref.end:
            os.close(handle)
            raise RecordMissing(f"{ref.file} ends before {ref.end}")
        return io.BufferedReader(_Range(handle, ref), CHUNK)

    def files(self) -> Sequence[tuple[str, int]]:
        """The names and sizes of the files, in the order of the names."""
        if not self._folder.is_dir():
            return []
        with self._lock:
            for writer in self._writers.values():
                writer.write_out()
        with os.scandir(self._folder) as entries:
            found = [(e.name, e.stat().st_size) for e in entries if FILE_NAME.fullmatch(e.name) and e.is_file()]
        return sorted(found)

    def has(self, file: str) -> bool:
        """Whether a file of that name is in the folder."""
        return FILE_NAME.fullmatch(file) is not None and (self._folder / file).is_file()

    def set_aside(self, file: str, offset: int) -> None:
        """Copy what follows ``offset`` to ``torn/<file>.<offset>``, and only then end the file there."""
        if not (self._folder / file).is_file():
            return
        with self._lock:
            writer = self._writer(file)
            writer.write_out()
            if offset >= writer.end:
                return
            try:
                self._copy_tail(file, offset, writer.end - offset)
            except OSError as error:
                raise translated(error, f"the tail of {file} can't be set aside") from error
            writer.cut(offset)
            writer.sync()

    def seal(self, file: str) -> None:
        """It is synced, and no longer held open; where it lies it stays."""
        with self._lock:
            self._let_go(file)

    def put(self, file: str, chunks: Iterable[bytes]) -> None:
        """Written under another name first, so that it is there as a whole or not at all."""
        if not FILE_NAME.fullmatch(file) or file == _TORN:
            raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")
        with self._lock:
            self._let_go(file)
            self._make_folder()
        part = self._folder / f".{file}.part"
        try:
            with part.open("wb") as copy:
                for chunk in chunks:
                    copy.write(chunk)
                copy.flush()
                os.fsync(copy.fileno())
            part.rename(self._folder / file)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise translated(error, f"{file} can't be written") from error
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        sync_folder(self._folder)

    def remove(self, file: str) -> None:
        """Those who have it open read on."""
        if not FILE_NAME.fullmatch(file):
            raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")
        with self._lock:
            self._let_go(file)
        try:
            (self._folder / file).unlink(missing_ok=True)
        except OSError as error:
            raise translated(error, f"{file} can't be removed") from error

    def close(self) -> None:
        """Sync, and give the files back."""
        with self._lock:
            try:
                self.sync()
            finally:
                while self._writers:
                    self._writers.popitem()[1].close()
                self._dirty.clear()

    def _write_out(self, ref: RecordRef) -> None:
        """Let a record that is held be in its file, so that it can be read."""
        if ref.file in self._writers:  # which a shelf that is only read from never has
            with self._lock:
                writer = self._writers.get(ref.file)
                if writer is not None and ref.end > writer.written:
                    writer.write_out()

    def _writer(self, file: str) -> _Writer:
        writer = self._writers.get(file)
        if writer is None:
            if not FILE_NAME.fullmatch(file) or file == _TORN:
                raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")
            self._make_room()
            self._make_folder()
            writer = self._writers[file] = _Writer(self._folder / file)
            self._names_dirty = True
        self._writers.move_to_end(file)
        return writer

    def _make_room(self) -> None:
        while len(self._writers) >= OPEN_FILES:
            self._let_go(next(iter(self._writers)))

    def _let_go(self, file: str) -> None:
        writer = self._writers.get(file)
        if writer is not None:
            writer.sync()
            writer.close()
            del self._writers[file]
            self._dirty.discard(file)

    def _make_folder(self) -> None:
        if self._folder.is_dir():
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise translated(error, f"the folder {self._folder} can't be made") from error
        sync_folder(self._folder.parent)

    def _copy_tail(self, file: str, offset: int, length: int) -> None:
        folder = self._folder / _TORN
        folder.mkdir(exist_ok=True)
        part = folder / f".{file}.{offset}.part"
        with self.open(RecordRef(file, offset, length)) as tail, part.open("wb") as copy:
            while chunk := tail.read(CHUNK):
                copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        kept, number = folder / f"{file}.{offset}", 1
        while kept.exists():  # another tail was torn at the same place before
            kept, number = folder / f"{file}.{offset}.{number}", number + 1
        part.rename(kept)
        sync_folder(folder)
        sync_folder(self._folder)


class _Writer:
    """One file, open for appending, and the whole records that are not in it yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            self._handle = os.open(path, flags | os.O_NOFOLLOW, 0o644)  # a link is to somebody else's file
        except OSError as error:
            raise translated(error, f"{path} can't be written") from error
        self.end = self.written = os.fstat(self._handle).st_size  # with what is held, and without
        self._held = bytearray()
        self._torn = False  # what failed to be written could not be taken back yet

    def append(self, chunks: Iterable[bytes]) -> tuple[int, int]:
        start = self.end
        try:
            for chunk in chunks:
                self._held += chunk
                if len(self._held) >= HELD:
                    self.write_out()
        except BaseException:
            self._take_back(start)
            raise
        self.end = self.written + len(self._held)
        return start, self.end - start

    def write_out(self) -> None:
        """Write what is held; when that fails it stays held, and the file ends where it ended before."""
        if self._torn:
            self._shorten(self.written)
        rest = memoryview(bytes(self._held))
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError as error:
            self._try_to_shorten(self.written)
            raise translated(error, f"nothing more can be written to {self._path}") from error
        self.written += len(self._held)
        self._held.clear()

    def cut(self, offset: int) -> None:
        """End the file there; nothing may be held."""
        self._shorten(offset)
        self.end = self.written = offset

    def _take_back(self, start: int) -> None:
        del self._held[max(start - self.written, 0) :]
        if start < self.written:
            self.written = start
            self._try_to_shorten(start)

    def _try_to_shorten(self, offset: int) -> None:
        self._torn = True
        with suppress(RehiError):  # tried again before the next write; what went wrong first is what counts
            self._shorten(offset)

    def _shorten(self, offset: int) -> None:
        try:
            os.ftruncate(self._handle, offset)
        except OSError as error:
            raise translated(error, f"{self._path} can't be shortened to {offset} bytes") from error
        self._torn = False

    def sync(self) -> None:
        self.write_out()
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise translated(error, f"{self._path} can't be brought to disk") from error

    def close(self) -> None:
        os.close(self._handle)


class _Range(io.RawIOBase):
    """A range of a file, read at positions of its own."""

    def __init__(self, handle: int, ref: RecordRef) -> None:
        super().__init__()
        self._handle, self._ref, self._at = handle, ref, ref.offset

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")[: self._ref.end - self._at]
        if not view:
            return 0
        try:
            count = os.preadv(self._handle, [view], self._at)
        except OSError as error:
            raise RecordMissing(f"{self._ref.file} can't be read at {self._at}: {error.strerror}") from error
        if not count:
            raise RecordMissing(f"{self._ref.file} ends at {self._at}, before {self._ref.end}")
        self._at += count
        return count

    def close(self) -> None:
        if not self.closed:
            os.close(self._handle)
        super().close()


def sync_folder(folder: Path) -> None:
    """The names in a folder are on disk for good."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise translated(error, f"the folder {folder} can't be brought to disk") from error


def translated(error: OSError, what: str) -> RehiError:
    """A disk's error in our words."""
    if error.errno in _FULL:
        return DiskFull(f"{what}: the disk, the quota or the largest file allowed is full; make room and start again")
    return EngineError(f"{what}: {error.strerror or error}")


def open_shelf(uri: str, *, folder: Path, **_: object) -> FolderShelf:
    """Return the shelf of ``file:///path``, which is the folder."""
    return FolderShelf(folder)

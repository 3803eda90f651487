"""The folder shelf: append-only files in a local folder, with torn tails set aside in a folder of their own."""

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
# A record is not reported as kept before it is synced.
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
        self._writers: OrderedDict[str, _AppendFile] = OrderedDict()  # the one used last is at the end
        self._dirty: set[str] = set()
        self._names_dirty = False  # a file was made since the folder was last synced

    def start_uploads(self, report: object) -> None:
        """Do nothing: files stay where they are written."""

    def reach(self) -> None:
        """Do nothing: a folder is always there."""

    def is_sealed(self, file: str) -> bool:
        """Return False: a file in a folder is sealed by the index beside it."""
        return False

    def check(self) -> str:
        """Return the folder's path."""
        return str(self._folder.resolve())

    def append(self, file: str, chunks: Iterable[bytes]) -> RecordRef:
        """Append to a file and return the range; after an error the file ends where it ended before."""
        with self._lock:
            writer = self._writer(file)
            self._dirty.add(file)
            return RecordRef(file, *writer.append(chunks))

    def sync(self) -> None:
        """Bring every appended byte, and the names of new files, to disk for good."""
        with self._lock:
            for file in sorted(self._dirty):
                self._writers[file].sync()
                self._dirty.discard(file)
            if self._names_dirty:
                sync_folder(self._folder)
                self._names_dirty = False

    def open(self, ref: RecordRef) -> BinaryIO:
        """Return a read-only stream of a range, with a file handle of its own; RecordMissing if there is none."""
        if not FILE_NAME.fullmatch(ref.file):
            raise RecordMissing(f"{ref.file!r} is not a file's name")
        try:
            if (
                ref.file in self._writers
            ):  # it may still be held in memory; a shelf that is only read from has no writers
                with self._lock:
                    writer = self._writers.get(ref.file)
                    if writer is not None and ref.end > writer.written:
                        writer.write_out()
            handle = os.open(self._folder / ref.file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise RecordMissing(f"{ref.file} can't be opened: {error.strerror}") from error
        if ref.offset < 0 or ref.length < 0 or os.fstat(handle).st_size < ref.end:
            os.close(handle)
            raise RecordMissing(f"{ref.file} ends before {ref.end}")
        return io.BufferedReader(_FileRange(handle, ref), CHUNK)

    def files(self) -> Sequence[tuple[str, int]]:
        """Return the names and sizes of the files, in the order of the names."""
        if not self._folder.is_dir():
            return []
        with self._lock:
            for writer in self._writers.values():
                writer.write_out()
        with os.scandir(self._folder) as entries:
            sizes = [(e.name, e.stat().st_size) for e in entries if FILE_NAME.fullmatch(e.name) and e.is_file()]
        return sorted(sizes)

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
                raise translate_os_error(error, f"the tail of {file} can't be set aside") from error
            writer.cut(offset)
            writer.sync()

    def seal(self, file: str) -> None:
        """Sync a file and close it; it stays where it is."""
        with self._lock:
            self._close_file(file)

    def put(self, file: str, chunks: Iterable[bytes]) -> None:
        """Write a whole file, under another name first, so that it is there as a whole or not at all."""
        if not FILE_NAME.fullmatch(file) or file == _TORN:
            raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")
        with self._lock:
            self._close_file(file)
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
            raise translate_os_error(error, f"{file} can't be written") from error
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        sync_folder(self._folder)

    def remove(self, file: str) -> None:
        """Remove a file; those who have it open read on."""
        if not FILE_NAME.fullmatch(file):
            raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")
        with self._lock:
            self._close_file(file)
        try:
            (self._folder / file).unlink(missing_ok=True)
        except OSError as error:
            raise translate_os_error(error, f"{file} can't be removed") from error

    def close(self) -> None:
        """Sync, and close all files."""
        with self._lock:
            try:
                self.sync()
            finally:
                while self._writers:
                    self._writers.popitem()[1].close()
                self._dirty.clear()

    def _writer(self, file: str) -> _AppendFile:
        writer = self._writers.get(file)
        if writer is None:
            if not FILE_NAME.fullmatch(file) or file == _TORN:
                raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")
            while len(self._writers) >= OPEN_FILES:
                self._close_file(next(iter(self._writers)))  # the one that was longest not used
            self._make_folder()
            writer = self._writers[file] = _AppendFile(self._folder / file)
            self._names_dirty = True
        self._writers.move_to_end(file)
        return writer

    def _close_file(self, file: str) -> None:
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
            raise translate_os_error(error, f"the folder {self._folder} can't be made") from error
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


class _AppendFile:
    """A file open for appending, and the records that are held in memory until they are written together."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            self._handle = os.open(path, flags | os.O_NOFOLLOW, 0o644)  # a link may lead to another's file
        except OSError as error:
            raise translate_os_error(error, f"{path} can't be written") from error
        self.end = self.written = os.fstat(self._handle).st_size  # the end with and without what is held in memory
        self._held = bytearray()
        self._torn = False  # a failed write is still to be undone

    def append(self, chunks: Iterable[bytes]) -> tuple[int, int]:
        start = self.end
        try:
            for chunk in chunks:
                self._held += chunk
                if len(self._held) >= HELD:
                    self.write_out()
        except BaseException:
            self._undo(start)
            raise
        self.end = self.written + len(self._held)
        return start, self.end - start

    def write_out(self) -> None:
        """Write what is held in memory; if that fails it stays held, and the file ends where it ended before."""
        if self._torn:
            self._shorten(self.written)
        left = memoryview(bytes(self._held))
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as error:
            self._try_to_shorten(self.written)
            raise translate_os_error(error, f"nothing more can be written to {self._path}") from error
        self.written += len(self._held)
        self._held.clear()

    def cut(self, offset: int) -> None:
        """Shorten the file to ``offset``; nothing may be held in memory."""
        self._shorten(offset)
        self.end = self.written = offset

    def _undo(self, start: int) -> None:
        del self._held[max(start - self.written, 0) :]
        if start < self.written:
            self.written = start
            self._try_to_shorten(start)

    def _try_to_shorten(self, offset: int) -> None:
        self._torn = True
        with suppress(RehiError):  # it is tried again before the next write; the first error is the one to raise
            self._shorten(offset)

    def _shorten(self, offset: int) -> None:
        try:
            os.ftruncate(self._handle, offset)
        except OSError as error:
            raise translate_os_error(error, f"{self._path} can't be shortened to {offset} bytes") from error
        self._torn = False

    def sync(self) -> None:
        self.write_out()
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise translate_os_error(error, f"{self._path} can't be brought to disk") from error

    def close(self) -> None:
        os.close(self._handle)


class _FileRange(io.RawIOBase):
    """A stream of a range of a file, with a position of its own."""

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
    """Bring the names in a folder to disk for good."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise translate_os_error(error, f"the folder {folder} can't be brought to disk") from error


def translate_os_error(error: OSError, failure: str) -> RehiError:
    """Return the error of ours for an OSError; ``failure`` says what could not be done."""
    if error.errno in _FULL:
        return DiskFull(
            f"{failure}: the disk, the quota or the largest file allowed is full; make room and start again"
        )
    return EngineError(f"{failure}: {error.strerror or error}")


def open_shelf(uri: str, *, folder: Path, **_: object) -> FolderShelf:
    """Return the shelf of ``file:///path``, which is the folder."""
    return FolderShelf(folder)

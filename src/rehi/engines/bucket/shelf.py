"""The bucket shelf: files that are appended to are in a local folder, sealed ones are objects in a bucket."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import monotonic
from typing import BinaryIO

from rehi.engines.bucket.marks import Marks
from rehi.engines.bucket.probe import FOLDER as PROBE_FOLDER
from rehi.engines.bucket.probe import probe
from rehi.engines.bucket.store import Store
from rehi.engines.bucket.uploader import Report, Uploader
from rehi.engines.bucket.window import open_object
from rehi.engines.folder import FILE_NAME, FolderShelf
from rehi.errors import ArchiveAway, ArchiveError, EngineError, RecordMissing, RehiError
from rehi.model.version import RecordRef

WARC, INDEX = ".warc.gz", ".cdxj"  # a file, and what is written beside it when it is sealed
COMPLETE = re.compile(r".+\.cdxj|.+\.damaged|moves-[0-9]+(-[A-Za-z0-9_-]+)?\.txt")
CLOSING = 30.0  # seconds that uploads get when the shelf is closed
REMEMBERED = 10.0  # seconds for which the last listing of the bucket is trusted about files that are not in it

_log = logging.getLogger(__name__)


def _ignore(file: str, error: RehiError | None) -> None:
    pass


class BucketShelf:
    """Port ``Shelf`` on a bucket. Making one sends and writes nothing; uploads begin with ``start_uploads``."""

    shared = True

    def __init__(self, store: Store, folder: Path, *, local_bytes: int = 0) -> None:
        self._store, self._folder, self._local_bytes = store, Path(folder), local_bytes
        self._local = FolderShelf(self._folder)
        self._marks = Marks(self._folder)
        self._lock = threading.RLock()
        self._appendable: set[str] = set()  # files that are known to be open for appending
        self._listed: set[str] = set()  # the objects of the last listing
        self._listed_at = -REMEMBERED
        self._uploader: Uploader | None = None
        self._report: Report = _ignore
        self._away: ArchiveAway | None = None  # why the last listing failed

    def start_uploads(self, report: Report = _ignore) -> None:
        """Find out what the bucket can do, and begin to upload sealed files; EngineError if it can't be used.

        ArchiveAway if it does not answer: then it can be tried again.
        ``report`` is called with each file that can't be uploaded, and why.
        """
        if self._uploader is None:
            capabilities = probe(self._store)
            _log.info("%s: %s", self._store.uri, capabilities.describe())
            self._report = report
            report(self._store.uri, None)
            self._mark_sealed()
            self._uploader = Uploader(
                self._store, capabilities, self._folder, self._marks, local_bytes=self._local_bytes, report=report
            )
            self._uploader.start()

    def append(self, file: str, chunks: Iterable[bytes]) -> RecordRef:
        """Append to a local file, and return the range; ArchiveError if it is sealed."""
        with self._lock:
            if file not in self._appendable:
                self._check_appendable(file)
            return self._local.append(file, chunks)

    def sync(self) -> None:
        """Bring every appended byte to the local disk for good."""
        self._local.sync()

    def open(self, ref: RecordRef) -> BinaryIO:
        """Return a stream of a range, from the local file if there is one, else from the bucket."""
        try:
            return self._local.open(ref)
        except RecordMissing:
            if not FILE_NAME.fullmatch(ref.file) or (self._folder / ref.file).is_file():
                raise
        return open_object(self._store, ref)

    def files(self) -> Sequence[tuple[str, int]]:
        """Return names and sizes of local files and objects; ArchiveAway if the bucket can't be listed."""
        sizes = self._objects()
        sizes.update(self._local.files())
        return sorted(sizes.items())

    def has(self, file: str) -> bool:
        """Whether a file is in the folder, or was in the bucket a moment ago; ArchiveAway if the bucket can't be asked."""
        if not FILE_NAME.fullmatch(file):
            return False
        if (self._folder / file).is_file() or file in self._listed:
            return True
        if monotonic() - self._listed_at < REMEMBERED:
            if self._away is not None:
                raise self._away
            return False
        return file in self._objects()

    def reach(self) -> None:
        """Ask the bucket for something small; ArchiveAway if it does not answer."""
        self._store.list(PROBE_FOLDER)
        if self._away is not None:  # then what was remembered of it is no longer true
            self._note_listing(None)
            self._listed_at = -REMEMBERED

    def is_sealed(self, file: str) -> bool:
        """Whether it waits to be brought to the bucket, or is there."""
        return self._marks.is_sealed(file) or file in self._listed

    def set_aside(self, file: str, offset: int) -> None:
        """Set aside what follows ``offset`` in a local file; an object stays as it is."""
        if self._marks.is_sealed(file):
            _log.warning("%s is sealed: what follows byte %d stays in it", file, offset)
            return
        self._local.set_aside(file, offset)

    def seal(self, file: str) -> None:
        """Mark a file as sealed, on disk when this returns; it is uploaded after that."""
        _check(file)
        with self._lock:
            self._local.seal(file)
            self._local.sync()
            self._appendable.discard(file)
            if not (self._folder / file).is_file() or self._marks.is_sealed(file):
                return
            self._marks.seal(file, replaces=False)
        self._wake()

    def put(self, file: str, chunks: Iterable[bytes]) -> None:
        """Write a whole file locally; it is uploaded after that, and replaces an object of its name."""
        _check(file)
        with self._settling():
            self._marks.forget(file)  # else the new file could be taken for a copy of what the bucket has, and removed
        try:
            self._local.put(file, chunks)
        finally:
            if (self._folder / file).is_file():
                self._appendable.discard(file)
                self._marks.seal(file, replaces=True)
        self._wake()

    def remove(self, file: str) -> None:
        """Remove a file, from the bucket first: if that fails, nothing has changed."""
        _check(file)
        with self._lock, self._settling():
            self._store.delete(file)
            self._listed.discard(file)
            self._appendable.discard(file)
            self._local.remove(file)
            self._marks.forget(file)

    def close(self) -> None:
        """Sync, and wait a while for uploads; what is not uploaded by then is left to the next process."""
        try:
            self._local.close()
        finally:
            uploader, self._uploader = self._uploader, None
            if uploader is not None:
                began = monotonic()
                uploader.wait(CLOSING)
                uploader.stop(max(1.0, CLOSING - (monotonic() - began)))

    def wait(self, seconds: float) -> bool:
        """Wait until all sealed files are uploaded; return whether they are."""
        return self._uploader.wait(seconds) if self._uploader else not self._marks.waiting()

    def check(self) -> str:
        """Return one line on the bucket and the files that wait to be uploaded; EngineError if something is wrong."""
        capabilities = probe(self._store)
        errors = self._marks.upload_errors()
        if errors:
            file, message = errors[0]
            more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            raise EngineError(f"{file} stays in the data folder: {message}{more}")
        waiting = len(self._marks.waiting())
        return f"{self._store.uri}: {capabilities.describe()}; {waiting:,} files wait to be brought"

    def upload_errors(self) -> Sequence[tuple[str, str]]:
        """Return the files that could not be uploaded, and why."""
        return self._marks.upload_errors()

    def _check_appendable(self, file: str) -> None:
        """Raise ArchiveError if a file may not be appended to: a local file would hide an object of its name."""
        _check(file)
        if self._marks.is_sealed(file) or file in self._listed:
            raise ArchiveError(f"{file} is sealed: nothing can be appended to it")
        if not (self._folder / file).is_file():
            try:
                stored = self._store.find(file)
            except ArchiveAway as error:  # its name is new; an object of that name is noticed at the upload
                _log.warning("%s", error)
                stored = None
            if stored is not None:
                raise ArchiveError(f"{file} lies in {self._store.uri}: nothing can be appended to it")
        self._appendable.add(file)

    def _mark_sealed(self) -> None:
        """Mark files as sealed that were sealed before there was a bucket: those with an index, and those that are written whole."""
        names = {file for file, _ in self._local.files()}
        for file in sorted(names):
            indexed = file.endswith(WARC) and file.removesuffix(WARC) + INDEX in names
            if (indexed or COMPLETE.fullmatch(file)) and not self._marks.is_sealed(file):
                self._marks.seal(file, replaces=not indexed)

    def _objects(self) -> dict[str, int]:
        try:
            listed = self._store.list()
        except ArchiveAway as error:
            self._listed_at = monotonic()
            self._note_listing(error)
            raise
        self._note_listing(None)
        sizes = {item.name: item.size for item in listed if FILE_NAME.fullmatch(item.name)}
        self._listed, self._listed_at = set(sizes), monotonic()
        return sizes

    def _note_listing(self, error: ArchiveAway | None) -> None:
        """Remember why the bucket could not be listed, and report it if that is news."""
        before, self._away = self._away, error
        if error is not None or before is not None:
            self._report(self._store.uri, error)

    def _settling(self) -> AbstractContextManager[object]:
        return self._uploader.settling if self._uploader else nullcontext()

    def _wake(self) -> None:
        if self._uploader is not None:
            self._uploader.wake()


def _check(file: str) -> None:
    if not FILE_NAME.fullmatch(file):
        raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")


def open_shelf(uri: str, *, folder: Path, endpoint: str = "", region: str = "", local_bytes: int = 0) -> BucketShelf:
    """Return the shelf of a bucket, with files that are appended to in ``folder``."""
    return BucketShelf(Store(uri, endpoint=endpoint, region=region), folder, local_bytes=local_bytes)

"""The bucket shelf: open files lie in a local folder, sealed ones are objects."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import monotonic
from typing import BinaryIO

from rehi.engines.bucket.carrier import Carrier, Report
from rehi.engines.bucket.marks import Marks
from rehi.engines.bucket.probe import probe
from rehi.engines.bucket.store import Store
from rehi.engines.bucket.window import open_object
from rehi.engines.folder import FILE_NAME, FolderShelf
from rehi.errors import ArchiveError, EngineError, RecordMissing, RehiError, StoreUnreachable
from rehi.model.version import RecordRef

WARC, INDEX = ".warc.gz", ".cdxj"  # a file, and what is written beside it when it is sealed
WHOLE = re.compile(r".+\.cdxj|moves-[0-9]+\.txt")
CLOSING = 30.0  # seconds that uploads get when the shelf is closed
REMEMBERED = 10.0  # seconds for which a file that is not in the bucket is not looked for again by its name alone

_log = logging.getLogger(__name__)


def _ignore(file: str, error: RehiError | None) -> None:
    pass


class BucketShelf:
    """Port ``Shelf`` on a bucket. Making one touches nothing; only one that carries brings files to the bucket."""

    shared = True

    def __init__(self, store: Store, folder: Path, *, local_bytes: int = 0) -> None:
        self._store, self._folder, self._local_bytes = store, Path(folder), local_bytes
        self._local = FolderShelf(self._folder)
        self._marks = Marks(self._folder)
        self._lock = threading.RLock()
        self._ours: set[str] = set()  # files that may be appended to, as far as is known
        self._there: set[str] = set()  # objects that were there when they were last listed
        self._listed_at = -REMEMBERED
        self._carrier: Carrier | None = None
        self._report: Report = _ignore
        self._away = False  # it could not be listed when that was last tried

    def carry(self, report: Report = _ignore) -> None:
        """Find out what the bucket can do, and begin to bring sealed files there; EngineError if it can't be used."""
        if self._carrier is None:
            can = probe(self._store)
            _log.info("%s: %s", self._store.uri, can.describe())
            self._report = report
            report(self._store.uri, None)
            self._adopt()
            self._carrier = Carrier(
                self._store, can, self._folder, self._marks, local_bytes=self._local_bytes, report=report
            )
            self._carrier.start()

    def append(self, file: str, chunks: Iterable[bytes]) -> RecordRef:
        """Write at the end of a local file; ArchiveError if it is sealed."""
        with self._lock:
            if file not in self._ours:
                self._begin(file)
            return self._local.append(file, chunks)

    def sync(self) -> None:
        """Every appended byte is on the local disk for good."""
        self._local.sync()

    def open(self, ref: RecordRef) -> BinaryIO:
        """From the local file if there is one, else from the bucket; nothing is remembered of what is not there."""
        try:
            return self._local.open(ref)
        except RecordMissing:
            if not FILE_NAME.fullmatch(ref.file) or (self._folder / ref.file).is_file():
                raise
        return open_object(self._store, ref)

    def files(self) -> Sequence[tuple[str, int]]:
        """The local files, and the objects that are not among them; StoreUnreachable if they can't be listed."""
        sizes = self._objects()
        sizes.update(self._local.files())
        return sorted(sizes.items())

    def has(self, file: str) -> bool:
        """Whether a file is here, or was in the bucket a moment ago; not, if nobody can tell."""
        if not FILE_NAME.fullmatch(file):
            return False
        if (self._folder / file).is_file() or file in self._there:
            return True
        if monotonic() - self._listed_at < REMEMBERED:
            return False
        try:
            return file in self._objects()
        except StoreUnreachable as error:
            _log.warning("%s", error)
            self._listed_at = monotonic()
            return False

    def is_sealed(self, file: str) -> bool:
        """Whether it waits to be brought to the bucket, or is there."""
        return self._marks.is_sealed(file) or file in self._there

    def set_aside(self, file: str, offset: int) -> None:
        """End a local file there; an object stays as it is."""
        if self._marks.is_sealed(file):
            _log.warning("%s is sealed: what follows byte %d stays in it", file, offset)
            return
        self._local.set_aside(file, offset)

    def seal(self, file: str) -> None:
        """That it is sealed is on disk when this returns; it is brought to the bucket after that."""
        _check(file)
        with self._lock:
            self._local.seal(file)
            self._local.sync()
            self._ours.discard(file)
            if not (self._folder / file).is_file() or self._marks.is_sealed(file):
                return
            self._marks.seal(file, replaces=False)
        self._wake()

    def put(self, file: str, chunks: Iterable[bytes]) -> None:
        """Local at once, and in the bucket after that, where it replaces an object of that name."""
        _check(file)
        with self._settling():
            self._marks.forget(file)  # else it could be taken for a copy of what the bucket has, and removed
        try:
            self._local.put(file, chunks)
        finally:
            if (self._folder / file).is_file():
                self._ours.discard(file)
                self._marks.seal(file, replaces=True)
        self._wake()

    def remove(self, file: str) -> None:
        """From the bucket first: if that fails, nothing has changed."""
        _check(file)
        with self._lock, self._settling():
            self._store.delete(file)
            self._there.discard(file)
            self._ours.discard(file)
            self._local.remove(file)
            self._marks.forget(file)

    def close(self) -> None:
        """Sync, and give what is on its way to the bucket some time; what is not there by then stays for the next."""
        try:
            self._local.close()
        finally:
            carrier, self._carrier = self._carrier, None
            if carrier is not None:
                began = monotonic()
                carrier.wait(CLOSING)
                carrier.stop(max(1.0, CLOSING - (monotonic() - began)))

    def wait(self, seconds: float) -> bool:
        """Wait for what is sealed to be in the bucket; whether all of it is."""
        return self._carrier.wait(seconds) if self._carrier else not self._marks.waiting()

    def check(self) -> str:
        """One line on the bucket and what waits to be brought there; an error says what is wrong."""
        can = probe(self._store)
        troubles = self._marks.troubles()
        if troubles:
            file, message = troubles[0]
            more = f", and {len(troubles) - 1} more" if len(troubles) > 1 else ""
            raise EngineError(f"{file} stays in the data folder: {message}{more}")
        waiting = len(self._marks.waiting())
        return f"{self._store.uri}: {can.describe()}; {waiting:,} files wait to be brought"

    def troubles(self) -> Sequence[tuple[str, str]]:
        """The files that could not be brought, and why."""
        return self._marks.troubles()

    def _begin(self, file: str) -> None:
        """Make sure that a file may be appended to: one that lies in the bucket would be hidden by a local one."""
        _check(file)
        if self._marks.is_sealed(file) or file in self._there:
            raise ArchiveError(f"{file} is sealed: nothing can be appended to it")
        if not (self._folder / file).is_file():
            try:
                found = self._store.find(file)
            except StoreUnreachable as error:  # its name is new; a file of that name is noticed when it is brought
                _log.warning("%s", error)
                found = None
            if found is not None:
                raise ArchiveError(f"{file} lies in {self._store.uri}: nothing can be appended to it")
        self._ours.add(file)

    def _adopt(self) -> None:
        """What was sealed before there was a bucket: files with an index, and those that are whole at once."""
        names = {file for file, _ in self._local.files()}
        for file in sorted(names):
            indexed = file.endswith(WARC) and file.removesuffix(WARC) + INDEX in names
            if (indexed or WHOLE.fullmatch(file)) and not self._marks.is_sealed(file):
                self._marks.seal(file, replaces=not indexed)

    def _objects(self) -> dict[str, int]:
        try:
            listed = self._store.list()
        except StoreUnreachable as error:
            self._away = True
            self._report(self._store.uri, error)
            raise
        if self._away:
            self._away = False
            self._report(self._store.uri, None)
        found = {item.name: item.size for item in listed if FILE_NAME.fullmatch(item.name)}
        self._there, self._listed_at = set(found), monotonic()
        return found

    def _settling(self) -> AbstractContextManager[object]:
        return self._carrier.settling if self._carrier else nullcontext()

    def _wake(self) -> None:
        if self._carrier is not None:
            self._carrier.wake()


def _check(file: str) -> None:
    if not FILE_NAME.fullmatch(file):
        raise ArchiveError(f"{file!r} can't be the name of a file on a shelf")


def open_shelf(uri: str, *, folder: Path, endpoint: str = "", region: str = "", local_bytes: int = 0) -> BucketShelf:
    """The shelf of a bucket, with open files in a folder."""
    return BucketShelf(Store(uri, endpoint=endpoint, region=region), folder, local_bytes=local_bytes)

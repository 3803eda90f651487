"""The uploader: a thread that uploads sealed files to the bucket, and removes local copies when they take too much room."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from rehi.engines.bucket.marks import Mark, Marks
from rehi.engines.bucket.probe import Capabilities
from rehi.engines.bucket.store import Store
from rehi.engines.bucket.upload import remove_leftovers, upload
from rehi.errors import ArchiveAway, ArchiveError, EngineAway, RehiError

SHORTEST, LONGEST = 1.0, 60.0  # seconds until the store is tried again; doubled each time
REFUSED = 3_600.0  # seconds until a file is tried again for which the bucket has other bytes under its name
LOOK = 30.0  # seconds between two looks for marks that another process has made

Report = Callable[
    [str, RehiError | None], None
]  # called with a file and what is wrong with it; None when it is uploaded

_log = logging.getLogger(__name__)


class Uploader:
    """Uploads one file at a time. What is left when it stops is uploaded by the next process."""

    def __init__(
        self, store: Store, capabilities: Capabilities, folder: Path, marks: Marks, *, local_bytes: int, report: Report
    ) -> None:
        self._store, self._capabilities, self._folder, self._marks = store, capabilities, folder, marks
        self._local_bytes, self._report = local_bytes, report
        self.settling = threading.Lock()  # held while it is decided whether a file is in the folder and in the bucket
        self._condition = threading.Condition()
        self._woken = self._stopped = self._failed = False
        self._resting = True
        self._not_before: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run, name="bucket", daemon=True)

    def start(self) -> None:
        """Start the thread, which begins with what earlier processes have left."""
        self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Tell the thread that there is something to upload."""
        with self._condition:
            self._woken, self._resting = True, False
            self._condition.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until all is uploaded, or nothing more can be; return whether all is."""
        with self._condition:
            self._condition.wait_for(lambda: self._resting or self._failed or self._stopped, seconds)
        return not self._marks.waiting()

    def stop(self, seconds: float) -> None:
        """Begin no more uploads; the one under way gets that many seconds."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        self._thread.join(seconds)

    def _run(self) -> None:
        pause, tidy = SHORTEST, False
        while not self._stopped:
            with self._condition:
                self._woken = False
            try:
                if not tidy:
                    remove_leftovers(self._store)
                    tidy = True
                self._upload_all()
                self._remove_copies()
            except EngineAway:  # the bucket, or the catalogue, to which it is reported
                self._sleep(pause, failed=True)
                pause = min(2 * pause, LONGEST)
            except Exception:  # a full disk, a fault of ours: the files stay where they are, and are tried again
                _log.exception("files could not be brought to %s", self._store.uri)
                self._sleep(LONGEST, failed=True)
            else:
                pause = SHORTEST
                self._sleep(LOOK, failed=False)

    def _sleep(self, seconds: float, *, failed: bool) -> None:
        """Wait; new work ends a rest, but not the pause after an error."""
        with self._condition:
            self._failed = failed
            self._resting = not self._woken
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._stopped or (self._woken and not failed), seconds)
            self._failed = False

    def _upload_all(self) -> None:
        for mark in self._marks.waiting():
            if self._stopped:
                return
            if self._not_before.get(mark.file, 0.0) > monotonic():
                continue
            try:
                self._upload(mark)
            except ArchiveAway as error:
                self._report_error(mark.file, error)
                raise
            except ArchiveError as error:
                self._report_error(mark.file, error)
                self._not_before[mark.file] = monotonic() + REFUSED

    def _upload(self, mark: Mark) -> None:
        path = self._folder / mark.file
        try:
            file = path.open("rb")
        except FileNotFoundError:
            with self.settling:
                if self._marks.mark(mark.file) == mark:
                    _log.warning("%s was sealed and is no longer in %s", mark.file, self._folder)
                    self._marks.forget(mark.file)
            return
        with file:
            upload(self._store, self._capabilities, mark.file, file, replaces=mark.replaces)
        with self.settling:
            if not path.is_file():  # removed during the upload, here and, perhaps before it was there, in the bucket
                self._store.delete(mark.file)
            elif self._marks.mark(mark.file) == mark:  # else it was written anew, and is uploaded again
                self._marks.mark_uploaded(mark.file)
                self._report(mark.file, None)
                _log.info("%s is in %s", mark.file, self._store.uri)

    def _report_error(self, file: str, error: RehiError) -> None:
        _log.warning("%s stays in the data folder: %s", file, error)
        self._marks.note_error(file, str(error))
        self._report(file, error)

    def _remove_copies(self) -> None:
        """Remove local copies, the oldest first, while they take too much room; but only of what the bucket still has."""
        sizes = {file: _size_of(self._folder / file) for file in self._marks.uploaded()}
        excess = sum(sizes.values()) - self._local_bytes
        for file, size in sizes.items():
            if self._stopped or excess <= 0:
                return
            stored = self._store.find(file)
            with self.settling:
                if stored is None or stored.size != size:
                    self._marks.seal(file, replaces=False)
                    self.wake()
                    continue
                (self._folder / file).unlink(missing_ok=True)
                self._marks.forget(file)
            excess -= size


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

"""The carrier: a thread that brings sealed files to the bucket, and lets go of local copies when they are too many."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from rehi.engines.bucket.bring import bring
from rehi.engines.bucket.marks import Mark, Marks
from rehi.engines.bucket.probe import Abilities
from rehi.engines.bucket.store import Store
from rehi.errors import ArchiveError, RehiError, StoreUnreachable

SHORTEST, LONGEST = 1.0, 60.0  # seconds until the store is tried again; doubled each time
REFUSED = 3_600.0  # seconds until a file is tried again of whose name the bucket has other bytes
LOOK = 30.0  # seconds after which marks are looked for that another process has made

Report = Callable[[str, RehiError | None], None]  # a file, and what is wrong with it; None when it no longer is

_log = logging.getLogger(__name__)


class Carrier:
    """Brings one file at a time. What it has not done when it stops, the next one does."""

    def __init__(
        self, store: Store, can: Abilities, folder: Path, marks: Marks, *, local_bytes: int, report: Report
    ) -> None:
        self._store, self._can, self._folder, self._marks = store, can, folder, marks
        self._local_bytes, self._report = local_bytes, report
        self.settling = threading.Lock()  # held by whoever decides whether a file is there, here and in the bucket
        self._change = threading.Condition()
        self._woken = self._stopped = self._troubled = False
        self._resting = True
        self._not_before: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run, name="bucket", daemon=True)

    def start(self) -> None:
        """Begin with what earlier processes have left."""
        self._thread.start()
        self.wake()

    def wake(self) -> None:
        """There is something to bring."""
        with self._change:
            self._woken, self._resting = True, False
            self._change.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until there is nothing left to bring, or nothing more can be; whether all is there."""
        with self._change:
            self._change.wait_for(lambda: self._resting or self._troubled or self._stopped, seconds)
        return not self._marks.waiting()

    def stop(self, seconds: float) -> None:
        """Take up no more files; one that is on its way gets some time."""
        with self._change:
            self._stopped = True
            self._change.notify_all()
        self._thread.join(seconds)

    def _run(self) -> None:
        pause = SHORTEST
        while not self._stopped:
            with self._change:
                self._woken = False
            try:
                self._bring_all()
                self._let_go()
            except StoreUnreachable:
                self._sleep(pause, troubled=True)
                pause = min(2 * pause, LONGEST)
            except Exception:  # a full disk, a fault of ours: the files stay where they are, and are tried again
                _log.exception("files could not be brought to %s", self._store.uri)
                self._sleep(LONGEST, troubled=True)
            else:
                pause = SHORTEST
                self._sleep(LOOK, troubled=False)

    def _sleep(self, seconds: float, *, troubled: bool) -> None:
        """Until it is time; new work ends a rest, but not the pause after trouble."""
        with self._change:
            self._troubled = troubled
            self._resting = not self._woken
            self._change.notify_all()
            self._change.wait_for(lambda: self._stopped or (self._woken and not troubled), seconds)
            self._troubled = False

    def _bring_all(self) -> None:
        for mark in self._marks.waiting():
            if self._stopped:
                return
            if self._not_before.get(mark.file, 0.0) > monotonic():
                continue
            try:
                self._bring(mark)
            except StoreUnreachable as error:
                self._complain(mark.file, error)
                raise
            except ArchiveError as error:
                self._complain(mark.file, error)
                self._not_before[mark.file] = monotonic() + REFUSED

    def _bring(self, mark: Mark) -> None:
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
            bring(self._store, self._can, mark.file, file, replaces=mark.replaces)
        with self.settling:
            if not path.is_file():  # removed meanwhile, from here and, perhaps too early, from the bucket
                self._store.delete(mark.file)
            elif self._marks.mark(mark.file) == mark:  # else it was put anew, and comes again
                self._marks.bring(mark.file)
                self._report(mark.file, None)
                _log.info("%s is in %s", mark.file, self._store.uri)

    def _complain(self, file: str, error: RehiError) -> None:
        _log.warning("%s stays in the data folder: %s", file, error)
        self._marks.complain(file, str(error))
        self._report(file, error)

    def _let_go(self) -> None:
        """Remove local copies, the oldest first, as long as there are too many; but only what the bucket still has."""
        sizes = {file: _size_of(self._folder / file) for file in self._marks.brought()}
        too_many = sum(sizes.values()) - self._local_bytes
        for file, size in sizes.items():
            if self._stopped or too_many <= 0:
                return
            found = self._store.find(file)
            with self.settling:
                if found is None or found.size != size:
                    self._marks.seal(file, replaces=False)
                    self.wake()
                    continue
                (self._folder / file).unlink(missing_ok=True)
                self._marks.forget(file)
            too_many -= size


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

"""Sealing: files of the archive that are large enough are indexed, beside the wheel."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta

from rehi.errors import ArchiveAway
from rehi.pipeline.rooms import Rooms

LOOK_SECONDS = 5.0  # between two looks at how old the open files are

_log = logging.getLogger(__name__)


class Sealing:
    """A thread that seals one file after another; what it does not finish is done after the next start.

    Where others see only what is sealed, files are closed when they are old enough, and when the worker leaves.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms, self._archive, self._derived = rooms, rooms.archive, rooms.derived
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rehi-seal")
        self._seen = 0  # how often a file had been begun at the last look
        self._work: Future[None] | None = None
        self._look_at = rooms.clock()

    def seal(self) -> bool:
        """Have what is finished sealed; the catalogue never changes by it."""
        if self._work is not None and self._work.done():
            self._report(self._work)
            self._work = None
        now = self._rooms.clock()
        aged = self._archive.shared and now >= self._look_at
        if self._work is None and (aged or self._archive.files.rolled != self._seen):
            self._seen = self._archive.files.rolled
            self._look_at = now + timedelta(seconds=LOOK_SECONDS)
            old = now - timedelta(seconds=self._rooms.settings.archive.file_seconds)
            self._work = self._thread.submit(self._seal_all, old)
        return False

    def leave(self) -> None:
        """Let others see all that was kept, where they can."""
        if self._archive.shared:
            self._work = self._thread.submit(self._seal_all, None)

    def close(self) -> None:
        """Wait for the file at hand."""
        self._thread.shutdown(cancel_futures=False)
        if self._work is not None and not self._work.cancelled():
            self._report(self._work)

    def _report(self, work: Future[None]) -> None:
        """Say what kept a file from being sealed; it is tried again with the next look or file."""
        try:
            work.result()
        except ArchiveAway as error:
            _log.warning("a file is not sealed yet: %s", error)

    def _seal_all(self, old: datetime | None) -> None:
        """Seal finished files. Where others see only sealed ones, the open file is finished first if it is old."""
        if self._archive.shared:
            self._archive.close_file(began_before=old)
        for file, size in self._archive.unsealed():
            self._archive.seal(file, size, spool=self._rooms.spool)
        if self._archive.shared:
            self._derived.seal(began_before=old)

"""Sealing: files of the archive that are large enough are indexed, beside the wheel."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor

from rehi.errors import StoreUnreachable
from rehi.pipeline.rooms import Rooms


class Sealing:
    """A thread that seals one file after another; what it does not finish is done after the next start."""

    def __init__(self, rooms: Rooms) -> None:
        self._archive, self._spool = rooms.archive, rooms.spool
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rehi-seal")
        self._seen = 0  # how often a file had been begun at the last look
        self._work: Future[None] | None = None

    def seal(self) -> bool:
        """Have what is finished sealed; the catalogue never changes by it."""
        if self._work is not None and self._work.done():
            try:
                self._work.result()
            except StoreUnreachable as error:  # tried again with the next file that is finished
                logging.getLogger(__name__).warning("a file is not sealed yet: %s", error)
            self._work = None
        if self._work is None and self._archive.rolled != self._seen:
            self._seen = self._archive.rolled
            self._work = self._thread.submit(self._seal_all)
        return False

    def close(self) -> None:
        """Wait for the file at hand."""
        self._thread.shutdown(cancel_futures=True)
        if self._work is None or self._work.cancelled():
            return
        if (error := self._work.exception()) is not None:
            logging.getLogger(__name__).warning("a file is not sealed yet: %s", error)

    def _seal_all(self) -> None:
        for file, size in self._archive.unsealed():
            self._archive.seal(file, size, spool=self._spool)

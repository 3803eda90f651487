"""Discoveries: from a source in the outbox to its findings, beside the visits."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta

from rehi.errors import DataFolderBusy, SourceError
from rehi.model.source import Source
from rehi.model.work import Claim
from rehi.pipeline.rooms import DRY_SECONDS, Progress, Rooms


class Discoveries:
    """The source that is being read, in a thread of its own: a long log must not keep the visits waiting."""

    def __init__(self, rooms: Rooms, progress: Progress) -> None:
        self._rooms, self._progress = rooms, progress
        self._look_at = rooms.clock()
        self._outbox_dry = False
        self._stopped = threading.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rehi-discovery")
        self._reading: Future[None] | None = None

    @property
    def is_settled(self) -> bool:
        """Whether no source is being read, and none waits to be."""
        return self._reading is None and self._outbox_dry

    def stir(self) -> None:
        """There may be a source to read: somebody started one, or what one waits for has been visited."""
        self._outbox_dry = False
        self._look_at = self._rooms.clock()

    def discover(self) -> bool:
        """Begin with the next source when the last one has ended; whether the catalogue has changed."""
        if self._reading is not None:
            if not self._reading.done():
                return False
            ended, self._reading = self._reading, None
            ended.result()
            self._progress.reading, self._progress.reading_share = "", 0.0
            self._progress.counts["discovered"] += 1
            self.stir()
            return True
        now = self._rooms.clock()
        if now < self._look_at:
            return False
        self._look_at = now + timedelta(seconds=DRY_SECONDS)
        self._rooms.catalogue.wake_sources()
        self._outbox_dry = not self._begin()
        return False

    def leave(self) -> None:
        """Stop after the batch that is being stored; the source goes on from there another time."""
        self._stopped.set()
        self._thread.shutdown(wait=True)

    def _begin(self) -> bool:
        """Claim a source and read it in the thread; whether there was one."""
        discovery = self._rooms.discovery
        with ExitStack() as stack:
            try:
                stack.enter_context(discovery.lock())
            except DataFolderBusy:  # another process of this worker reads one
                return False
            claims = discovery.claim()
            if not claims:
                return False
            self._reading = self._thread.submit(self._read, claims[0], stack.pop_all())
        return True

    def _read(self, claim: Claim, lock: ExitStack) -> None:
        with lock:
            try:
                self._rooms.discovery.read(claim, report=self._report, cancelled=self._stopped.is_set)
            except SourceError:
                return  # it is on the problems list

    def _report(self, source: Source, share: float) -> None:
        self._progress.reading, self._progress.reading_share = source.name, share

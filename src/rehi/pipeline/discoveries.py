"""Discoveries: the sources that are being read, beside the visits. They take turns, a batch of entries each."""

from __future__ import annotations

import logging
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from rehi.errors import DataFolderBusy, SourceError
from rehi.model.source import Source
from rehi.model.work import Claim
from rehi.pipeline.discovery import ClaimedSource, Turns
from rehi.pipeline.rooms import DRY_SECONDS, Progress, Rooms, Step

OTHERS_SECONDS = 60.0  # between two looks at what only other workers can read
AT_ONCE = 8  # sources that take turns: a batch takes half a second, so that each gets on every few seconds


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _OpenSource:
    """A source that is being read; each step of ``turns`` stores a batch."""

    claim: Claim
    turns: Turns


class Discoveries(Step):
    """The sources that are being read, in a thread of their own: a long log must keep neither visits nor sources waiting."""

    def __init__(self, rooms: Rooms, progress: Progress) -> None:
        super().__init__(rooms, progress)
        self._look_around_at = rooms.clock()
        self._left_to_others: set[tuple[str, str]] = set()  # workers and their sources, of which it was said
        self._stopped = threading.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rehi-discovery")
        self._reading: Future[None] | None = None
        self._open: deque[_OpenSource] = deque()  # used by the thread alone, but for a look at the claims

    @property
    def is_settled(self) -> bool:
        """Whether no source is being read, and none waits to be."""
        return self._reading is None and self._dry

    @property
    def claim_ids(self) -> set[int]:
        """The rows of the outbox that are in hand; none while a source is being claimed and it is not known which."""
        return {row for source in list(self._open) for row in source.claim.ids}

    def discover(self) -> bool:
        """Begin with the next source if none is being read; return whether the catalogue has changed."""
        now = self._rooms.clock()
        if self._reading is not None:
            if not self._reading.done():
                return False
            ended, self._reading = self._reading, None
            self._progress.reading, self._progress.reading_share = "", 0.0
            ended.result()
            return True
        if now < self._look_at:
            return False
        self._look_at = now + timedelta(seconds=DRY_SECONDS)
        self._dry = not self._begin()
        if self._dry:
            self._look_around(now)
        return False

    def leave(self) -> None:
        """Stop after the batch that is being stored; the sources go on from there another time."""
        self._stopped.set()
        self._thread.shutdown(wait=True)

    def _begin(self) -> bool:
        """Claim a source and read it in the thread; return whether there was one."""
        discovery = self._rooms.discovery
        with ExitStack() as stack:
            try:
                stack.enter_context(discovery.lock())
            except DataFolderBusy:  # another process of this worker reads one
                return False
            claimed = discovery.claim()
            if claimed is None:
                return False
            self._add(claimed)
            self._reading = self._thread.submit(self._read, stack.pop_all())
        return True

    def _look_around(self, now: datetime) -> None:
        """Say once which sources wait for other workers, on whose machines they lie."""
        if now < self._look_around_at:
            return
        self._look_around_at = now + timedelta(seconds=OTHERS_SECONDS)
        for source in self._rooms.catalogue.sources():
            owner = source.waits_for(self._rooms.worker)
            if owner and (owner, source.name) not in self._left_to_others:
                self._left_to_others.add((owner, source.name))
                _log.warning("%s lies only with the worker %s: to read it is left to that one", source.name, owner)

    def _add(self, claimed: ClaimedSource) -> None:
        turns = self._rooms.discovery.read(claimed, report=self._report, cancelled=self._stopped.is_set)
        self._open.append(_OpenSource(claimed.claim, turns))

    def _read(self, lock: ExitStack) -> None:
        """Let the sources take turns until all have been read; those that wait, or come meanwhile, join them."""
        look_at = 0.0
        with lock, closing(_Closing(self._open)):
            while self._open:
                if monotonic() >= look_at:
                    self._join()
                    look_at = monotonic() + DRY_SECONDS
                self._take_turn(self._open[0])

    def _join(self) -> None:
        """Open the sources that wait, as many as may take turns."""
        while len(self._open) < AT_ONCE and not self._stopped.is_set():
            claimed = self._rooms.discovery.claim(retake=False)
            if claimed is None or claimed.source.id in {source.claim.subject for source in self._open}:
                return
            self._add(claimed)

    def _take_turn(self, source: _OpenSource) -> None:
        try:
            next(source.turns)
        except StopIteration as end:
            self._open.remove(source)
            self._progress.counts["discovered"] += bool(end.value)  # not what waits for a visit, or was stopped
        except SourceError:  # it is on the problems list
            self._open.remove(source)
        else:
            self._open.rotate(-1)

    def _report(self, source: Source, share: float) -> None:
        self._progress.reading, self._progress.reading_share = source.name, share


@dataclass(frozen=True, slots=True)
class _Closing:
    """Closes what is left open when the reading breaks off."""

    sources: deque[_OpenSource]

    def close(self) -> None:
        """Close all files; each source goes on from its cursor another time."""
        while self.sources:
            self.sources.popleft().turns.close()

"""Readings: from a version in the outbox to a document with its names."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime, timedelta

from rehi.errors import Disposition, ReaderCrashed, ReadTimeout, ReadTooLarge, RehiError
from rehi.model.work import ReadResult, ReadTask
from rehi.pipeline.reading import ReadDocument, Way, read_documents
from rehi.pipeline.rooms import BATCH, BATCH_BYTES, BATCH_SECONDS, DRY_SECONDS, LEASE_SECONDS, Progress, Rooms

READS_PER_WORKER = 400  # enough that a worker never waits for a batch to be recorded, and claims are for many
PARCEL = 10  # small documents that a worker gets at once, if it looks for names in them
PLAIN_PARCEL = 50  # if it doesn't: to hand over 10 takes 0.15 ms for each, and to read it 0.7 ms; of 40 0.07 ms
PARCEL_BYTES = 1_000_000  # of bodies in a parcel of several

ATTEMPTS = 3  # times that a document may be tried
GUARDED = (ReaderCrashed, ReadTimeout, ReadTooLarge)  # they end a whole parcel

Parcel = tuple[ReadTask, ...]
Outcomes = list[ReadDocument | RehiError]


class Readings:
    """The documents that the workers are reading."""

    def __init__(self, rooms: Rooms, progress: Progress, *, wake: Callable[[], None] = lambda: None) -> None:
        self._rooms, self._progress, self._wake = rooms, progress, wake
        self._way = Way(open_archive=rooms.open_archive, worker=rooms.derived.worker, work=rooms.settings.work)
        self._reading: dict[Future[Outcomes], Parcel] = {}
        self._done: deque[Future[Outcomes]] = deque()  # filled by the executor's thread
        self._held = 0  # documents that are being read, or have been and are not recorded
        self._recorded_at = self._look_at = rooms.clock()
        self._outbox_dry = False

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read, and nothing waits to be."""
        return not self._reading and self._outbox_dry

    def stir(self) -> None:
        """There may be something to read."""
        self._outbox_dry = False
        self._look_at = self._rooms.clock()

    def read(self) -> bool:
        """Record what has been read and hand out what waits; whether the catalogue has changed."""
        now = self._rooms.clock()
        waited = (now - self._recorded_at).total_seconds() >= BATCH_SECONDS
        recorded = bool(self._done) and (waited or self._is_ripe())
        if recorded:
            self._record(now)
        self._hand_out(now)
        return recorded

    def _is_ripe(self) -> bool:
        """Whether a batch has been read, or all that there was; asked by the executor's thread too."""
        done = list(self._done)
        sizes = [task.size for future in done for task in self._reading.get(future, ())]
        return len(sizes) >= BATCH or sum(sizes) >= BATCH_BYTES or len(done) == len(self._reading)

    def _hand_out(self, now: datetime) -> None:
        limit = self._rooms.executor.workers * READS_PER_WORKER
        # In parts of some size, so that the catalogue is not asked for each parcel.
        if limit - self._held < min(limit // 4, BATCH) or now < self._look_at:
            return
        tasks = self._rooms.catalogue.claim_reads(
            worker=self._rooms.worker, limit=limit - self._held, ttl=LEASE_SECONDS, now=now
        )
        most = PARCEL if self._way.work.enrich else PLAIN_PARCEL
        for parcel in _parcels(tasks, most, workers=self._rooms.executor.workers):
            self._submit(parcel, now)
        self._held += len(tasks)
        self._outbox_dry = not tasks
        if not tasks:
            self._look_at = now + timedelta(seconds=DRY_SECONDS)

    def _submit(self, parcel: Parcel, now: datetime) -> None:
        future = self._rooms.executor.submit(read_documents, self._way, parcel, now)
        self._reading[future] = parcel
        future.add_done_callback(self._arrive)

    def _arrive(self, future: Future[Outcomes]) -> None:
        self._done.append(future)
        if self._is_ripe():
            self._wake()

    def _record(self, now: datetime) -> None:
        self._recorded_at = now
        results: list[ReadResult] = []
        for _ in range(len(self._done)):
            future = self._done.popleft()
            results += self._results(self._reading.pop(future), future, now)
        if not results:
            return
        self._held -= len(results)
        self._rooms.derived.sync()
        self._rooms.catalogue.record_reads(results, now=now)
        self._progress.counts["read"] += len(results)
        self._progress.counts["names"] += sum(item.count for result in results for item in result.identities)

    def _results(self, parcel: Parcel, future: Future[Outcomes], now: datetime) -> list[ReadResult]:
        """What a parcel came to; one that ended as a whole is read again, each document by itself."""
        try:
            outcomes = future.result()
        except GUARDED as error:
            if len(parcel) > 1:
                for task in parcel:
                    self._submit((task,), now)
                return []
            outcomes = [error]
        except Exception as fault:  # of ours or of a library: one document's problem, never the loop's
            outcomes = [ReaderCrashed(f"{type(fault).__name__}: {fault}")] * len(parcel)
        return [self._result(task, outcome) for task, outcome in zip(parcel, outcomes, strict=True)]

    def _result(self, task: ReadTask, outcome: ReadDocument | RehiError) -> ReadResult:
        if isinstance(outcome, RehiError):
            return ReadResult(task=task, error=outcome, next_step=_next_step(task, outcome))
        facts = replace(outcome.facts, derived=self._rooms.derived.append(outcome.records))
        return ReadResult(task=task, document=facts, identities=outcome.identities, seconds=outcome.seconds)


def _parcels(tasks: Sequence[ReadTask], most: int, *, workers: int) -> Iterator[Parcel]:
    """The tasks in parcels that are small in every sense, and enough of them that each worker gets some."""
    count = min(most, max(1, len(tasks) // (2 * workers)))
    parcel: list[ReadTask] = []
    size = 0
    for task in tasks:
        if parcel and (len(parcel) >= count or size + task.size > PARCEL_BYTES):
            yield tuple(parcel)
            parcel, size = [], 0
        parcel.append(task)
        size += task.size
    if parcel:
        yield tuple(parcel)


def _next_step(task: ReadTask, error: RehiError) -> Disposition:
    """What an error asks for; but a document under which readers keep dying is set aside."""
    if error.disposition is Disposition.RETRY and task.attempts + 1 >= ATTEMPTS:
        return Disposition.QUARANTINE
    return error.disposition

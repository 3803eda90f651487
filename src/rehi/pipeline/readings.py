"""Readings: from a version in the outbox to a document with its names."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from datetime import datetime, timedelta

from rehi.errors import Disposition, ReaderCrashed, RehiError
from rehi.model.work import DocumentFacts, ReadResult, ReadTask
from rehi.pipeline.reading import RECIPE, ReadDocument, read_document
from rehi.pipeline.rooms import BATCH, BATCH_SECONDS, DRY_SECONDS, LEASE_SECONDS, Progress, Rooms

READS_PER_WORKER = 12  # enough that a worker never waits for a batch to be recorded

ATTEMPTS = 3  # times that a document may be tried


class Readings:
    """The documents that the workers are reading."""

    def __init__(self, rooms: Rooms, progress: Progress) -> None:
        self._rooms, self._progress = rooms, progress
        self._reading: dict[Future[ReadDocument], ReadTask] = {}
        self._done: deque[Future[ReadDocument]] = deque()  # filled by the executor's thread
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
        ripe = len(self._done) >= BATCH or waited or len(self._done) == len(self._reading)
        recorded = bool(self._done) and ripe
        if recorded:
            self._record(now)
        self._hand_out(now)
        return recorded

    def _hand_out(self, now: datetime) -> None:
        room = self._rooms.executor.workers * READS_PER_WORKER - len(self._reading)
        if room <= 0 or now < self._look_at:
            return
        tasks = self._rooms.catalogue.claim_reads(worker=self._rooms.worker, limit=room, ttl=LEASE_SECONDS, now=now)
        for task in tasks:
            future = self._rooms.executor.submit(
                read_document, self._rooms.open_archive, task, work=self._rooms.settings.work
            )
            self._reading[future] = task
            future.add_done_callback(self._done.append)
        self._outbox_dry = not tasks
        if not tasks:
            self._look_at = now + timedelta(seconds=DRY_SECONDS)

    def _record(self, now: datetime) -> None:
        self._recorded_at = now
        done = [self._done.popleft() for _ in range(len(self._done))]
        results = [self._result(future, self._reading.pop(future), now) for future in done]
        self._rooms.derived.sync()
        self._rooms.catalogue.record_reads(results, now=now)
        self._progress.counts["read"] += len(results)
        self._progress.counts["names"] += sum(item.count for result in results for item in result.identities)

    def _result(self, future: Future[ReadDocument], task: ReadTask, now: datetime) -> ReadResult:
        try:
            read = future.result()
        except RehiError as error:
            return ReadResult(task=task, error=error, next_step=_next_step(task, error))
        except Exception as fault:  # of ours or of a library: one document's problem, never the loop's
            crashed = ReaderCrashed(f"{type(fault).__name__}: {fault}")
            return ReadResult(task=task, error=crashed, next_step=_next_step(task, crashed))
        reading = read.reading
        ref = self._rooms.derived.keep(
            url=task.url, digest=task.digest, recipe=RECIPE, reading=reading, body=task.body, at=now
        )
        facts = DocumentFacts.of(reading.document, language=reading.annotations.language, derived=ref)
        return ReadResult(task=task, document=facts, identities=read.identities, seconds=reading.seconds)


def _next_step(task: ReadTask, error: RehiError) -> Disposition:
    """What an error asks for; but a document under which readers keep dying is set aside."""
    if error.disposition is Disposition.RETRY and task.attempts + 1 >= ATTEMPTS:
        return Disposition.QUARANTINE
    return error.disposition

"""Readings: from a version in the outbox to a document with its facets, and names that are linked to entities."""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime, timedelta

from rehi.archive import DerivedFiles
from rehi.errors import Disposition, FacetFailed, ReaderCrashed, ReadTimeout, ReadTooLarge, RehiError
from rehi.extract import hint_of
from rehi.link import best_name, resolve
from rehi.model.problem import Problem, Stage
from rehi.model.work import NewReading, ReadingKey, ReadResult, ReadTask
from rehi.pipeline.reading import ReadDocument, ReadingPlan, current_recipe, read_documents
from rehi.pipeline.rooms import BATCH, BATCH_BYTES, BATCH_SECONDS, DRY_SECONDS, LEASE_SECONDS, Progress, Rooms
from rehi.ports import Knowledge

READS_PER_WORKER = 400  # enough that a worker never waits for a batch to be recorded, and claims are for many
PARCEL = 10  # small documents that a worker gets at once, if it looks for names in them
PLAIN_PARCEL = 50  # if it doesn't: to hand over 10 takes 0.15 ms for each, and to read it 0.7 ms; of 40 0.07 ms
PARCEL_BYTES = 1_000_000  # of bodies in a parcel of several
OTHERS_SECONDS = 5.0  # between two looks at what waits in the folders of other workers
OTHERS_LOOKED_AT = 1_000  # documents whose files are looked for here

ATTEMPTS = 3  # times that a document may be tried
GUARDED = (ReaderCrashed, ReadTimeout, ReadTooLarge)  # they end a whole parcel

Parcel = tuple[ReadTask, ...]
Outcomes = list[ReadDocument | RehiError]

_log = logging.getLogger(__name__)


class Readings:
    """The documents that the workers are reading."""

    def __init__(self, rooms: Rooms, progress: Progress, *, wake: Callable[[], None] = lambda: None) -> None:
        self._rooms, self._progress, self._wake = rooms, progress, wake
        work = rooms.settings.work
        self._plan = ReadingPlan(
            open_archive=rooms.open_archive, worker=rooms.derived.worker, work=work, recipe=current_recipe(work)
        )
        plain = work.model_copy(update={"enrich": False})
        self._plain_plan = replace(self._plan, work=plain, recipe=current_recipe(plain))
        self._plain: dict[int, RehiError] = {}  # versions that are read without facets, and what these have done
        self._reading: dict[Future[Outcomes], Parcel] = {}
        self._done: deque[Future[Outcomes]] = deque()  # filled by the executor's thread
        self._duplicates: defaultdict[ReadingKey, list[ReadTask]] = defaultdict(list)  # wait for one that is being read
        self._known: list[ReadResult] = []  # whose bytes were read before
        self._held = 0  # documents that are being read, or have been and are not recorded
        self._recorded_at = self._look_at = self._look_around_at = rooms.clock()
        self._outbox_dry = False
        self._left_to_others: set[str] = set()  # workers of whom it was said that only they can read something

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read, and nothing waits to be."""
        return not self._reading and not self._known and self._outbox_dry

    def stir(self) -> None:
        """There may be something to read."""
        self._outbox_dry = False
        self._look_at = self._rooms.clock()

    def read(self) -> bool:
        """Record what has been read and hand out what waits; whether the catalogue has changed."""
        now = self._rooms.clock()
        waited = (now - self._recorded_at).total_seconds() >= BATCH_SECONDS
        recorded = bool(self._done or self._known) and (waited or self._is_ripe())
        if recorded:
            self._record(now)
        self._hand_out(now)
        return recorded

    def _is_ripe(self) -> bool:
        """Whether a batch has been read, or all that there was; asked by the executor's thread too."""
        done = list(self._done)
        sizes = [task.size for future in done for task in self._reading.get(future, ())]
        return len(sizes) >= BATCH or sum(sizes) >= BATCH_BYTES or len(done) == len(self._reading)

    # hand out ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _hand_out(self, now: datetime) -> None:
        limit = self._rooms.executor.workers * READS_PER_WORKER
        # In parts of some size, so that the catalogue is not asked for each parcel.
        if limit - self._held < min(limit // 4, BATCH) or now < self._look_at:
            return
        tasks = self._claim(limit - self._held, now)
        unread = self._pass_over_known(tasks)
        most = PARCEL if self._plan.work.enrich else PLAIN_PARCEL
        for parcel in _parcels(unread, most, workers=self._rooms.executor.workers):
            self._submit(parcel, now)
        self._held += len(tasks)
        self._outbox_dry = not tasks
        if not tasks:
            self._look_at = now + timedelta(seconds=DRY_SECONDS)

    def _claim(self, limit: int, now: datetime) -> Sequence[ReadTask]:
        catalogue, worker = self._rooms.catalogue, self._rooms.worker
        claims = catalogue.claim(("read",), worker=worker, limit=limit, ttl=LEASE_SECONDS, now=now)
        if not claims and now >= self._look_around_at:
            self._look_around_at = now + timedelta(seconds=OTHERS_SECONDS)
            files = self._files_of_others()
            if files:
                claims = catalogue.claim(("read",), worker=worker, limit=limit, ttl=LEASE_SECONDS, now=now, files=files)
        return catalogue.read_tasks(claims) if claims else ()

    def _files_of_others(self) -> list[str]:
        """Return files of other workers that can be read here too; of the rest it is said once whose they are."""
        waiting = self._rooms.catalogue.waiting_files(worker=self._rooms.worker, limit=OTHERS_LOOKED_AT)
        here = [file for file in waiting if self._rooms.archive.has_file(file)]
        for owner in {waiting[file] for file in waiting.keys() - set(here)} - self._left_to_others:
            self._left_to_others.add(owner)
            _log.warning(
                "documents wait to be read whose bytes lie only with the worker %s: they are left to it", owner
            )
        return here

    def _pass_over_known(self, tasks: Sequence[ReadTask]) -> list[ReadTask]:
        """Return the tasks whose bytes must be read; exact duplicates are read once."""
        keys = {task.version_id: self._key(task) for task in tasks}
        known = self._rooms.catalogue.find_readings(set(keys.values())) if keys else {}
        in_hand = {self._key(task) for parcel in self._reading.values() for task in parcel}
        unread: list[ReadTask] = []
        for task in tasks:
            key = keys[task.version_id]
            if key in known:
                self._known.append(ReadResult(task=task, reading=known[key]))
            elif key in in_hand:
                self._duplicates[key].append(task)
            else:
                in_hand.add(key)
                unread.append(task)
        return unread

    def _key(self, task: ReadTask) -> ReadingKey:
        return ReadingKey(task.blob_id, self._plan.recipe, hint_of(task.url, task.media_type))

    def _submit(self, parcel: Parcel, now: datetime) -> None:
        plan = self._plain_plan if parcel[0].version_id in self._plain else self._plan
        future = self._rooms.executor.submit(read_documents, plan, parcel, now)
        self._reading[future] = parcel
        future.add_done_callback(self._arrive)

    def _arrive(self, future: Future[Outcomes]) -> None:
        self._done.append(future)
        if self._is_ripe():
            self._wake()

    # record ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _record(self, now: datetime) -> None:
        self._recorded_at = now
        results, self._known = self._known, []
        for _ in range(len(self._done)):
            future = self._done.popleft()
            results += self._results(self._reading.pop(future), future, now)
        if not results:
            return
        self._held -= len(results)
        self._rooms.derived.sync()
        self._rooms.catalogue.record_reads(
            self._link(results), choose_name=best_name, worker=self._rooms.worker, now=now
        )
        self._progress.counts["read"] += len(results)
        new = [result.reading for result in results if isinstance(result.reading, NewReading)]
        self._progress.counts["names"] += sum(reading.facts.names for reading in new)

    def _link(self, results: Sequence[ReadResult]) -> list[ReadResult]:
        """Return the results with the entities that their identities belong to, as far as the catalogue knows them."""
        new = [result.reading for result in results if isinstance(result.reading, NewReading)]
        linked = iter(link_readings(self._rooms.catalogue, new))
        return [
            replace(result, reading=next(linked)) if isinstance(result.reading, NewReading) else result
            for result in results
        ]

    def _results(self, parcel: Parcel, future: Future[Outcomes], now: datetime) -> list[ReadResult]:
        """What a parcel came to; one that ended as a whole is read again, each document by itself."""
        try:
            outcomes = future.result()
        except GUARDED as error:
            if len(parcel) > 1:
                for task in parcel:
                    self._submit((task,), now)
                return []
            if self._may_be_a_facet(parcel[0], error):
                self._plain[parcel[0].version_id] = error
                self._submit(parcel, now)
                return []
            outcomes = [self._plain.pop(parcel[0].version_id, error)]
        except Exception as fault:  # of ours or of a library: one document's problem, never the loop's
            outcomes = [ReaderCrashed(f"{type(fault).__name__}: {fault}")] * len(parcel)
        return [
            result
            for task, outcome in zip(parcel, outcomes, strict=True)
            for result in self._results_of(task, outcome, now)
        ]

    def _may_be_a_facet(self, task: ReadTask, error: RehiError) -> bool:
        """Whether a document that ended its process for the last time may be read without facets: the text is worth that."""
        return self._plan.work.enrich and task.version_id not in self._plain and not _is_retried(task, error)

    def _results_of(self, task: ReadTask, outcome: ReadDocument | RehiError, now: datetime) -> list[ReadResult]:
        """What a document came to, and all exact duplicates of it that have waited."""
        key = self._key(task)
        tasks = [task, *self._duplicates.pop(key, ())]
        if isinstance(outcome, RehiError):
            self._plain.pop(task.version_id, None)
            return [_failure(one, outcome, now) for one in tasks]
        reading = to_new_reading(outcome, key, self._rooms.derived)
        error = self._plain.pop(task.version_id, None) or _failed_facets(outcome)
        results = [ReadResult(task=one, reading=reading, problem=_remark(one, error, now)) for one in tasks]
        return [replace(results[0], seconds=outcome.seconds), *results[1:]]


def link_readings(catalogue: Knowledge, readings: Sequence[NewReading]) -> list[NewReading]:
    """Return readings with the entities that their identities belong to, as far as the catalogue knows them."""
    keys = {linked.identity.key for reading in readings for linked in reading.identities}
    candidates = catalogue.find_candidates(keys) if keys else {}
    return [
        replace(reading, identities=resolve((one.identity for one in reading.identities), candidates))
        for reading in readings
    ]


def to_new_reading(document: ReadDocument, key: ReadingKey, derived: DerivedFiles) -> NewReading:
    """Append a document's records to the derived files, and return the reading to be entered."""
    return NewReading(
        key=replace(key, recipe=document.recipe),
        facts=replace(document.facts, derived=derived.append(document.records)),
        parts=document.parts,
        tables=document.tables,
        identities=resolve(document.identities, {}),
        briefs=document.briefs,
        terms=document.terms,
    )


def _failed_facets(document: ReadDocument) -> RehiError | None:
    """Return the error that facets of a document failed, if any did."""
    if not document.failures:
        return None
    return FacetFailed("; ".join(f"{name}: {why}" for name, why in document.failures.items()))


def _remark(task: ReadTask, error: RehiError | None, now: datetime) -> Problem | None:
    """Return the problem that not all is known of a document that was read."""
    if error is None:
        return None
    problem = Problem.of(error, stage=Stage.ENRICH, subject=task.url, at=now)
    return replace(problem, next_step=Disposition.QUARANTINE)


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


def _is_retried(task: ReadTask, error: RehiError) -> bool:
    return error.disposition is Disposition.RETRY and task.claim.attempts + 1 < ATTEMPTS


def _failure(task: ReadTask, error: RehiError, now: datetime) -> ReadResult:
    """What an error asks for: another try, a place on the problems list, or nothing; too many tries end there too."""
    if _is_retried(task, error):
        return ReadResult(task=task, retry=True)
    if error.disposition is Disposition.SKIP:
        return ReadResult(task=task, code=error.code)
    problem = Problem.of(error, stage=Stage.EXTRACT, subject=task.url, at=now)
    return ReadResult(task=task, problem=replace(problem, next_step=Disposition.QUARANTINE), code=error.code)

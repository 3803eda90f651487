"""Readings: from a version in the outbox to a document with its facets, and names that are linked to entities."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from rehi.errors import (
    Disposition,
    EngineAway,
    FacetFailed,
    ReaderCrashed,
    ReadersAway,
    ReadTimeout,
    ReadTooLarge,
    RehiError,
)
from rehi.extract import hint_of
from rehi.model.problem import Problem, Stage
from rehi.model.work import NewReading, ReadingKey, ReadResult, ReadTask
from rehi.pipeline.read_rules import READ_RULES
from rehi.pipeline.reading import ReadDocument, ReadingPlan, current_recipe, read_documents, to_readings
from rehi.pipeline.rooms import BATCH, BATCH_BYTES, BATCH_SECONDS, DRY_SECONDS, LEASE_SECONDS, Progress, Rooms, Step

READS_PER_WORKER = 400  # enough that a worker never waits for a batch to be recorded, and claims are for many
PARCEL = 10  # small documents that a worker gets at once, if it looks for names in them
PLAIN_PARCEL = 50  # if it doesn't: to hand over 10 takes 0.15 ms for each, and to read it 0.7 ms; of 40 0.07 ms
PARCEL_BYTES = 1_000_000  # of bodies in a parcel of several
OTHERS_SECONDS = 5.0  # between two looks at what waits in the folders of other workers
OTHERS_LOOKED_AT = 1_000  # documents whose files are looked for here

ATTEMPTS = 3  # times that a document may be tried
SHORTAGES = 10  # times that memory, room or files may have run out under it, which is hardly ever its fault
GUARDED = (ReaderCrashed, ReadTimeout, ReadTooLarge)  # they end a whole parcel

Outcomes = list[ReadDocument | RehiError]


@dataclass(frozen=True, slots=True)
class Unread:
    """Bytes that are to be read, and the tasks that are about them: the first is handed out, exact duplicates wait for it."""

    key: ReadingKey
    tasks: list[ReadTask]


Parcel = tuple[Unread, ...]

_log = logging.getLogger(__name__)


class Readings(Step):
    """The documents that the workers are reading."""

    def __init__(self, rooms: Rooms, progress: Progress, *, wake: Callable[[], None] = lambda: None) -> None:
        super().__init__(rooms, progress)
        self._wake = wake
        work = rooms.settings.work
        self._plan = ReadingPlan(
            open_archive=rooms.open_archive, worker=rooms.worker, work=work, recipe=current_recipe(work)
        )
        plain = work.model_copy(update={"enrich": False})
        self._plain_plan = replace(self._plan, work=plain, recipe=current_recipe(plain))
        self._plain: dict[int, RehiError] = {}  # versions that are read without facets, and what these have done
        self._reading: dict[Future[Outcomes], Parcel] = {}
        self._done: deque[Future[Outcomes]] = deque()  # filled by the executor's thread
        self._in_hand: dict[ReadingKey, Unread] = {}  # what is being read, in whatever parcel
        self._ended: list[tuple[Unread, ReadDocument | RehiError]] = []  # what was read, and is in no result yet
        self._held_back: list[Unread] = []  # what could not be read because something was away
        self._away: RehiError | None = None  # what that was, if it is not said yet
        self._shortages: Counter[ReadingKey] = Counter()  # how often something had run out while it was read
        self._unrecorded: list[ReadResult] = []  # what came of tasks, and is not on record yet
        self._restarts = 0  # of the executor's processes, of which was told
        self._held = 0  # documents that are being read, or have been and are not recorded
        self._recorded_at = self._look_around_at = rooms.clock()
        self._left_to_others: set[str] = set()  # workers of whom it was said that only they can read something

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read, and nothing waits to be."""
        in_hand = self._reading or self._ended or self._unrecorded or self._held_back
        return not in_hand and self._dry

    @property
    def claim_ids(self) -> set[int]:
        """The rows of the outbox that are in hand."""
        reading, ended = (one for parcel in self._reading.values() for one in parcel), (one for one, _ in self._ended)
        unread = (*reading, *ended, *self._held_back)
        tasks = (*(task for one in unread for task in one.tasks), *(one.task for one in self._unrecorded))
        return {row for task in tasks for row in task.claim.ids}

    def read(self) -> bool:
        """Record what has been read, hand out what waits, and return whether the catalogue has changed."""
        now = self._rooms.clock()
        self._take_up(now)
        waited = (now - self._recorded_at).total_seconds() >= BATCH_SECONDS
        recorded = bool(self._done or self._ended or self._unrecorded) and (waited or self._is_ripe())
        if recorded:
            self._record(now)
        self._hand_out(now)
        executor = self._rooms.executor
        before, self._restarts = self._restarts, executor.restarts
        if executor.trouble or before != self._restarts:  # the second is said once
            times = f"{self._restarts} times in all" if self._restarts > 1 else "once"
            why = executor.trouble or f"the processes that read documents had to be started again, {times}"
            raise ReadersAway(why)
        if self._away is not None:
            away, self._away = self._away, None
            raise away
        return recorded

    def _take_up(self, now: datetime) -> None:
        """Hand out again what was held back: what was away may be back. What another worker has claimed is left to it."""
        if not self._held_back:
            return
        claims = [task.claim for unread in self._held_back for task in unread.tasks]
        renewed = self._rooms.catalogue.renew_claims(claims, worker=self._rooms.worker, ttl=LEASE_SECONDS, now=now)
        mine = {row for claim in renewed for row in claim.ids}
        held, self._held_back = self._held_back, []
        for unread in held:
            before = len(unread.tasks)
            unread.tasks[:] = [task for task in unread.tasks if mine.issuperset(task.claim.ids)]
            self._held -= before - len(unread.tasks)
            if not unread.tasks:
                del self._in_hand[unread.key]
        left = [unread for unread in held if unread.tasks]
        for parcel in _parcels(left, PARCEL, workers=self._rooms.executor.workers):
            self._submit(parcel, now)

    def _is_ripe(self) -> bool:
        """Whether a batch has been read, or all that there was; asked by the executor's thread too."""
        done = list(self._done)
        sizes = [unread.tasks[0].size for future in done for unread in self._reading.get(future, ())]
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
        self._dry = not tasks
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
        readable = [file for file in waiting if self._rooms.archive.has_file(file)]
        for owner in {waiting[file] for file in waiting.keys() - set(readable)} - self._left_to_others:
            self._left_to_others.add(owner)
            _log.warning(
                "documents wait to be read whose bytes lie only with the worker %s: they are left to it", owner
            )
        return readable

    def _pass_over_known(self, tasks: Sequence[ReadTask]) -> list[Unread]:
        """Return what must be read of the tasks; exact duplicates are read once."""
        recipe = self._plan.recipe
        keys = [ReadingKey(task.blob_id, recipe, hint_of(task.url, task.media_type)) for task in tasks]
        known = self._rooms.catalogue.find_readings(set(keys)) if keys else {}
        unread: list[Unread] = []
        for task, key in zip(tasks, keys, strict=True):
            if key in known:
                self._unrecorded.append(ReadResult(task=task, reading=known[key]))
            elif (in_hand := self._in_hand.get(key)) is not None:
                in_hand.tasks.append(task)
            else:
                new = self._in_hand[key] = Unread(key, [task])
                unread.append(new)
        return unread

    def _submit(self, parcel: Parcel, now: datetime) -> None:
        tasks = [unread.tasks[0] for unread in parcel]
        plan = self._plain_plan if tasks[0].version_id in self._plain else self._plan
        future = self._rooms.executor.submit(read_documents, plan, tasks, now)
        self._reading[future] = parcel
        future.add_done_callback(self._arrive)

    def _arrive(self, future: Future[Outcomes]) -> None:
        self._done.append(future)
        if self._is_ripe():
            self._wake()

    # record ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _record(self, now: datetime) -> None:
        """Record what has been read. All of it stays in hand until that is done."""
        self._recorded_at = now
        for _ in range(len(self._done)):
            future = self._done.popleft()
            for unread, outcome in self._outcomes(self._reading.pop(future), future, now):
                if isinstance(outcome, RehiError) and self._is_waited_for(unread, outcome):
                    self._held_back.append(unread)
                    self._away = outcome
                else:
                    self._ended.append((unread, outcome))
        if self._ended:
            self._unrecorded += self._results(self._ended, now)
            self._ended = []
        results = self._unrecorded
        if not results:
            return
        self._rooms.derived.sync()
        self._rooms.catalogue.record_reads(results, rules=READ_RULES, worker=self._rooms.worker, now=now)
        self._unrecorded = []
        self._held -= len(results)
        self._progress.counts["read"] += len(results)
        new = (result.reading for result in results if isinstance(result.reading, NewReading))
        self._progress.counts["names"] += sum(reading.facts.names for reading in new)

    def _is_waited_for(self, unread: Unread, error: RehiError) -> bool:
        """Whether an error is waited out and the document read again; not if readers end under it again and again."""
        if isinstance(error, ReadersAway):
            self._shortages[unread.key] += 1
            if self._shortages[unread.key] >= SHORTAGES:
                return False
        return error.disposition is Disposition.WAIT

    def _outcomes(
        self, parcel: Parcel, future: Future[Outcomes], now: datetime
    ) -> list[tuple[Unread, ReadDocument | RehiError]]:
        """Return what a parcel came to; one that ended as a whole is read again, each document by itself."""
        first = parcel[0].tasks[0]
        try:
            outcomes = future.result()
        except GUARDED as error:
            if len(parcel) > 1:
                for unread in parcel:
                    self._submit((unread,), now)
                return []
            if self._may_be_a_facet(first, error):
                self._plain[first.version_id] = error
                self._submit(parcel, now)
                return []
            outcomes = [self._plain.pop(first.version_id, error)]
        except EngineAway as error:
            outcomes = [error] * len(parcel)
        except Exception as fault:  # of ours or of a library: one document's problem, never the loop's
            outcomes = [ReaderCrashed(f"{type(fault).__name__}: {fault}")] * len(parcel)
        return list(zip(parcel, outcomes, strict=True))

    def _may_be_a_facet(self, task: ReadTask, error: RehiError) -> bool:
        """Whether a document that ended its process for the last time may be read without facets: the text is worth that."""
        return self._plan.work.enrich and task.version_id not in self._plain and not _is_retried(task, error)

    def _results(self, ended: Sequence[tuple[Unread, ReadDocument | RehiError]], now: datetime) -> Iterator[ReadResult]:
        """Return what the documents came to, and all exact duplicates of them that have waited."""
        documents = {unread.key: outcome for unread, outcome in ended if isinstance(outcome, ReadDocument)}
        resources = {unread.key: unread.tasks[0].resource_id for unread, _ in ended}
        readings = to_readings(documents, self._rooms.catalogue, self._rooms.derived, resources)
        for unread, outcome in ended:
            del self._in_hand[unread.key]
            self._shortages.pop(unread.key, None)
            error = self._plain.pop(unread.tasks[0].version_id, None)
            if isinstance(outcome, RehiError):
                for task in unread.tasks:
                    yield _failure(task, outcome, now)
                continue
            if outcome.failures and error is None:
                error = FacetFailed("; ".join(f"{name}: {why}" for name, why in outcome.failures.items()))
            seconds = outcome.seconds
            for task in unread.tasks:
                problem = (
                    None if error is None else _quarantine(task, error, Stage.ENRICH, now)
                )  # not all is known of it
                yield ReadResult(task=task, reading=readings[unread.key], problem=problem, seconds=seconds)
                seconds = ()  # the duplicates cost nothing


def _parcels(unread: Sequence[Unread], most: int, *, workers: int) -> Iterator[Parcel]:
    """Divide what is to be read into parcels that are small in every sense, and enough of them that each worker gets some."""
    count = min(most, max(1, len(unread) // (2 * workers)))
    parcel: list[Unread] = []
    size = 0
    for one in unread:
        if parcel and (len(parcel) >= count or size + one.tasks[0].size > PARCEL_BYTES):
            yield tuple(parcel)
            parcel, size = [], 0
        parcel.append(one)
        size += one.tasks[0].size
    if parcel:
        yield tuple(parcel)


def _is_retried(task: ReadTask, error: RehiError) -> bool:
    return error.disposition is Disposition.RETRY and task.claim.attempts + 1 < ATTEMPTS


def _failure(task: ReadTask, error: RehiError, now: datetime) -> ReadResult:
    """Return what an error asks for: another try, a place on the problems list, or nothing; too many tries end there too."""
    if _is_retried(task, error):
        return ReadResult(task=task, retry=True)
    if error.disposition is Disposition.SKIP:
        return ReadResult(task=task, code=error.code)
    return ReadResult(task=task, problem=_quarantine(task, error, Stage.EXTRACT, now), code=error.code)


def _quarantine(task: ReadTask, error: RehiError, stage: Stage, now: datetime) -> Problem:
    """Return the problem with a document that is not tried again."""
    problem = Problem.of(error, stage=stage, subject=task.url, at=now)
    return replace(problem, next_step=Disposition.QUARANTINE)

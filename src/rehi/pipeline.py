"""The pipeline: the rooms connected on one screen, and the only place that decides on retry, skip and quarantine.

    lease ─▶ visit ─▶ keep ─▶ read ─▶ describe
    frontier  fetch   archive  extract, enrich, link   graph

Nothing is acknowledged before it is on disk: first the archive's records, then one catalogue transaction per batch,
then the graph from the outbox. Each step may be repeated, so a kill at any point costs only work.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter

from rehi.archive import Archive, DerivedFiles
from rehi.errors import BadStatus, ConnectFailed, DnsFailed, HostDeferred, ReaderCrashed, RehiError, RobotsDenied
from rehi.fetch import Fetcher, RobotRules, read_robots, robots_url
from rehi.frontier import Agenda, Errand, wait_after_failures
from rehi.graph import describe, describe_vocabulary
from rehi.judgement import Judge
from rehi.model.visit import HostLease, Visit, VisitTask
from rehi.model.work import DocumentFacts, ReadResult, ReadTask
from rehi.ports import Catalogue, Executor, Graph
from rehi.reading import RECIPE, ReadDocument, read_document
from rehi.settings import Settings

BATCH = 50  # visits per archive sync and catalogue transaction: FULL synchronous SQLite does 7,900 rows/s so
BATCH_SECONDS = 0.5  # a visit waits no longer than this to be acknowledged
GRAPH_BATCH = 200  # descriptions per graph transaction
DESCRIBE_SECONDS = 0.5  # small graph transactions cost as much as large ones: 20 ms for the log's fsync and more
PUBLISH_SECONDS = 2.0  # queries see what was written within this time
PATIENCE_SECONDS = 0.05  # how long the wheel may stand still
LEASE_SECONDS = 600.0
URLS_PER_LEASE = 20
READS_PER_WORKER = 12  # enough that a worker never waits for a batch to be recorded
DRY_SECONDS = 0.5  # how long an empty frontier or outbox is left alone
HOST_FAILURES = (DnsFailed, ConnectFailed)  # the host's fault rather than the page's


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """What the pipeline connects."""

    settings: Settings
    worker: str
    clock: Callable[[], datetime]
    catalogue: Catalogue
    archive: Archive
    derived: DerivedFiles
    graph: Graph
    executor: Executor
    open_archive: Callable[[], Archive]  # for other processes; pickles
    spool: Path  # for bodies that are too large for memory


@dataclass(slots=True)
class Progress:
    """What has happened since the start, for bars and pages."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


class Harvest:
    """One worker's loop through all rooms."""

    def __init__(self, rooms: Rooms) -> None:
        self.progress = Progress()
        self._rooms, self._settings, self._clock = rooms, rooms.settings.fetch, rooms.clock
        self._agenda = Agenda(delay=self._settings.delay)
        self._fetcher: Fetcher[Errand] = Fetcher(self._settings, clock=rooms.clock, spool=rooms.spool)
        self._judge = Judge(rooms.archive, rooms.catalogue, settings=self._settings)
        self._rules: dict[int, RobotRules] = {}
        self._finished: list[tuple[VisitTask, Visit]] = []
        self._reading: dict[Future[ReadDocument], ReadTask] = {}
        self._done: deque[Future[ReadDocument]] = deque()  # filled by the executor's thread
        now = rooms.clock()
        self._kept_at = self._read_at = self._published_at = self._renewed_at = now
        self._frontier_dry_until = self._outbox_dry_until = self._describe_at = now
        self._frontier_dry = self._outbox_dry = self._graph_dry = self._described = False

    def run(
        self, *, until_idle: bool, stopped: Callable[[], bool], on_turn: Callable[[Progress], None] = lambda _: None
    ) -> None:
        """Turn the wheel until told to stop, or until nothing is left that is due now."""
        self._recover()
        try:
            while not stopped():
                for room in (self._lease, self._visit, self._keep, self._read, self._describe):
                    began = perf_counter()
                    room()
                    self.progress.seconds[room.__name__.strip("_")] += perf_counter() - began
                on_turn(self.progress)
                if until_idle and self._idle:
                    break
        finally:
            self._leave()

    # lease ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _lease(self) -> None:
        now = self._clock()
        if self._agenda and now - self._renewed_at > timedelta(seconds=LEASE_SECONDS / 3):
            self._rooms.catalogue.renew(self._agenda.leases, ttl=LEASE_SECONDS, now=now)
            self._renewed_at = now
        room = self._settings.connections - len(self._agenda)
        if room <= 0 or now < self._frontier_dry_until:
            return
        leases = self._rooms.catalogue.lease(
            worker=self._rooms.worker, hosts=room, urls=URLS_PER_LEASE, ttl=LEASE_SECONDS, now=now
        )
        for lease in leases:
            self._agenda.add(lease, needs_robots=not self._knows_rules(lease, now), now=now)
        self._frontier_dry = not leases and not self._rests_only(now)
        self._frontier_dry_until = now + timedelta(seconds=0.05 if leases else DRY_SECONDS)

    def _rests_only(self, now: datetime) -> bool:
        """Whether some host is just resting between two requests, so that it is worth waiting for."""
        ready = self._rooms.catalogue.next_ready()
        return ready is not None and (ready - now).total_seconds() <= self._settings.max_delay

    def _knows_rules(self, lease: HostLease, now: datetime) -> bool:
        robots = lease.robots
        if robots is None or (now - robots.fetched_at).total_seconds() >= self._settings.robots_ttl:
            return False
        rules = self._rules[lease.host_id] = RobotRules(robots)
        return not rules.deferred  # a host in trouble is asked again each time it is due

    # visit ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _visit(self) -> None:
        now = self._clock()
        for errand in self._agenda.ready(now, limit=self._settings.connections - self._fetcher.in_flight):
            self._set_out(errand, now)
        for errand, visit in self._fetcher.poll(self._patience(now)):
            if errand.task is None:
                self._learn_rules(errand, visit)
            else:
                self._arrive(errand, errand.task, visit)

    def _set_out(self, errand: Errand, now: datetime) -> None:
        task = errand.task
        if task is None:
            self._fetcher.submit(errand, robots_url(errand.lease.origin), follow=True)
        elif self._rules[errand.lease.host_id].allows(task.url):
            known = task.body is not None
            self._fetcher.submit(
                errand, task.url, etag=task.etag if known else "", last_modified=task.last_modified if known else ""
            )
        else:
            denied = RobotsDenied(f"robots.txt of {errand.lease.origin} forbids it")
            self._finished.append((task, Visit(url=task.url, started_at=now, seconds=0.0, error=denied)))
            self._agenda.done(errand, now=now, asked=False)

    def _learn_rules(self, errand: Errand, visit: Visit) -> None:
        now = self._clock()
        lease = errand.lease
        robots = read_robots(visit, now)
        self._rooms.catalogue.keep_robots(lease.host_id, robots)
        rules = self._rules[lease.host_id] = RobotRules(robots)
        if rules.deferred:
            reason = visit.error or BadStatus(f"it answered {robots.status}")
            error = reason if isinstance(reason, HOST_FAILURES) else HostDeferred(f"robots.txt can't be had: {reason}")
            first = lease.tasks[0]
            failed = Visit(url=first.url, started_at=visit.started_at, seconds=visit.seconds, error=error)
            self._finished.append((first, failed))
            self._put_off(lease, first, now)
            return
        self._agenda.slow_down(lease, min(rules.crawl_delay or 0.0, self._settings.max_delay))
        self._agenda.done(errand, now=now)

    def _arrive(self, errand: Errand, task: VisitTask, visit: Visit) -> None:
        self._finished.append((task, visit))
        now = self._clock()
        if isinstance(visit.error, HOST_FAILURES):
            self._put_off(errand.lease, task, now)
        else:
            self._agenda.done(errand, now=now)

    def _put_off(self, lease: HostLease, task: VisitTask, now: datetime) -> None:
        self._agenda.put_off(lease, until=now + wait_after_failures(task.failures, settings=self._settings))

    def _patience(self, now: datetime) -> float:
        """How long to wait for the network: until the next host is ready, and never long."""
        next_at = self._agenda.next_at
        if next_at is None or self._fetcher.in_flight >= self._settings.connections:
            return PATIENCE_SECONDS
        return min(max((next_at - now).total_seconds(), 0.0), PATIENCE_SECONDS)

    # keep ───────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _keep(self) -> None:
        now = self._clock()
        waited = (now - self._kept_at).total_seconds() >= BATCH_SECONDS
        if len(self._finished) >= BATCH or waited or not self._fetcher.in_flight:
            self._keep_now(now)

    def _keep_now(self, now: datetime) -> None:
        finished, self._finished = self._finished, []
        released = self._agenda.take_releases()
        self._kept_at = now
        if not finished and not released:
            return
        visited = self._judge.keep(finished, now=now)
        self._rooms.catalogue.record(visited, released, now=now)
        self._stir(now)
        self.progress.counts["visited"] += len(visited)
        self.progress.counts.update(item.outcome.value for item in visited)

    # read ───────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _read(self) -> None:
        now = self._clock()
        waited = (now - self._read_at).total_seconds() >= BATCH_SECONDS
        if self._done and (len(self._done) >= BATCH or waited or len(self._done) == len(self._reading)):
            self._read_at = now
            done = [self._done.popleft() for _ in range(len(self._done))]
            self._record_reads([self._result(future, self._reading.pop(future), now) for future in done], now)
        room = self._rooms.executor.workers * READS_PER_WORKER - len(self._reading)
        if room <= 0 or now < self._outbox_dry_until:
            return
        tasks = self._rooms.catalogue.claim_reads(worker=self._rooms.worker, limit=room, ttl=LEASE_SECONDS, now=now)
        for task in tasks:
            future = self._rooms.executor.submit(
                read_document, self._rooms.open_archive, task, max_text=self._rooms.settings.work.max_text
            )
            self._reading[future] = task
            future.add_done_callback(self._done.append)
        self._outbox_dry = not tasks
        if not tasks:
            self._outbox_dry_until = now + timedelta(seconds=DRY_SECONDS)

    def _record_reads(self, results: list[ReadResult], now: datetime) -> None:
        self._rooms.derived.sync()
        self._rooms.catalogue.record_reads(results, now=now)
        self._stir(now)
        self.progress.counts["read"] += len(results)
        self.progress.counts["names"] += sum(item.count for result in results for item in result.identities)

    def _result(self, future: Future[ReadDocument], task: ReadTask, now: datetime) -> ReadResult:
        try:
            read = future.result()
        except RehiError as error:
            return ReadResult(task=task, error=error)
        except Exception as error:  # a fault of ours or of a library: one document's problem, never the loop's
            return ReadResult(task=task, error=ReaderCrashed(f"{type(error).__name__}: {error}"))
        reading = read.reading
        ref = self._rooms.derived.keep(
            url=task.url, digest=task.digest, recipe=RECIPE, reading=reading, body=task.body, at=now
        )
        facts = DocumentFacts.of(reading.document, language=reading.annotations.language, derived=ref)
        return ReadResult(task=task, document=facts, identities=read.identities, seconds=reading.seconds)

    # describe ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _describe(self) -> None:
        now = self._clock()
        if now < self._describe_at:
            return
        work = self._rooms.catalogue.graph_work(limit=GRAPH_BATCH)
        if len(work.ids) < GRAPH_BATCH:
            self._describe_at = now + timedelta(seconds=DESCRIBE_SECONDS)
        self._graph_dry = not work
        if work:
            began = perf_counter()
            changes, statements = describe(work, self._rooms.settings.base)
            self._rooms.graph.write(changes)
            self._rooms.catalogue.graph_done(work, statements=statements, seconds=perf_counter() - began)
            self.progress.counts["statements"] += sum(statements.values())
            self._described = True
        if self._described and (not work or (now - self._published_at).total_seconds() > PUBLISH_SECONDS):
            self._rooms.graph.publish()
            self._described, self._published_at = bool(work), now

    # begin and end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _recover(self) -> None:
        """Enter what the archive holds beyond the catalogue, and take back what this worker held when it was killed."""
        rooms = self._rooms
        rooms.catalogue.forget_leases(worker=rooms.worker)
        rooms.derived.forget_tail(rooms.catalogue.known_end)
        rooms.catalogue.record(self._judge.recover(now=self._clock()), [], now=self._clock())
        rooms.graph.write([describe_vocabulary(rooms.settings.base)])
        rooms.graph.publish()

    @property
    def settled(self) -> bool:
        """Whether all that has come so far is kept, read, described and published."""
        busy = self._fetcher.in_flight or self._finished or self._reading or self._described
        return not busy and self._outbox_dry and self._graph_dry

    @property
    def _idle(self) -> bool:
        return self.settled and not len(self._agenda) and self._frontier_dry

    def _stir(self, now: datetime) -> None:
        """The catalogue has changed: there may be work for every room."""
        self._frontier_dry = self._outbox_dry = self._graph_dry = False
        self._frontier_dry_until = self._outbox_dry_until = now

    def _leave(self) -> None:
        self._agenda.give_back(now=self._clock())
        self._keep_now(self._clock())
        self._fetcher.close()
        self._rooms.catalogue.forget_leases(worker=self._rooms.worker)
        self._rooms.graph.publish()

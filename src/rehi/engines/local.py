"""The local executor: guarded processes on this machine. A task that crashes, hangs or is greedy harms no other.

The processes come from a fork server. When that is killed, or a pool breaks in another way, another one is brought, after
a pause that grows as long as no task succeeds; tasks wait for it. Only what ends its own process time and again is given up.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from rehi.engines.local_worker import guard_worker, run_guarded
from rehi.errors import ReaderCrashed, ReadTimeout
from rehi.process import wait_for_end

P = ParamSpec("P")
T = TypeVar("T")

TASKS_PER_WORKER = 500  # parsers leak; a fresh worker costs 20 ms from the fork server
POOLS_PER_TASK = 10  # pools that may break while a task is in them before it is given up: it is hardly ever to blame
MOMENT = 0.3  # seconds that a signal to all processes may take to reach this one
WATCH_SECONDS = 0.2  # between two looks whether a pool has broken
SHORTEST, LONGEST = 0.1, 30.0  # seconds until another pool is brought, if one after another breaks; doubled each time

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Job:
    """A submitted task: the pickled work, and the future that its caller holds."""

    payload: bytes
    future: Future[Any] = field(default_factory=Future)
    pool: _Pool | None = None  # that has it
    broken: int = 0  # pools that had it
    scheduled_at: float = 0.0


@dataclass(slots=True, eq=False)
class _Pool:
    """A pool of processes, the fork server that they come from, and the futures that the pool has given."""

    processes: Any
    fork_server: int
    futures: weakref.WeakSet[Future[bytes]] = field(default_factory=weakref.WeakSet)
    ending: bool = False

    @property
    def is_orphaned(self) -> bool:
        """Whether its fork server has ended, and all its workers with it."""
        if _fork_server() != self.fork_server:
            return True
        try:
            return os.waitid(os.P_PID, self.fork_server, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True


class LocalExecutor:
    """Port ``Executor`` on processes of this machine, each with a time and a memory limit."""

    def __init__(self, workers: int, *, timeout: float, memory: int, preload: Sequence[str] = ()) -> None:
        self._workers = workers or len(os.sched_getaffinity(0))
        self._timeout = timeout
        self._memory = memory
        self._preload = tuple(preload)  # modules that the fork server imports for all workers, if it is started here
        self._lock = threading.RLock()
        self._jobs: set[_Job] = set()
        self._waiting: deque[_Job] = deque()  # for a pool
        self._pool: _Pool | None = None
        self._bringing = False  # a thread is about to bring a pool
        self._failures = 0  # pools that broke or could not be made since a task succeeded
        self._restarts = 0
        self._trouble = ""
        self._closed = threading.Event()

    @property
    def workers(self) -> int:
        """How many tasks run at once."""
        return self._workers

    @property
    def restarts(self) -> int:
        """How often the processes ended all at once, or could not be started."""
        return self._restarts

    @property
    def trouble(self) -> str:
        """Why no task can be run now; empty if nothing is wrong."""
        return self._trouble if self._pool is None else ""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a task in a worker; its future raises ReaderCrashed, ReadTimeout or ReadTooLarge if the worker had to be ended."""
        job = _Job(pickle.dumps((work, args, kwargs), pickle.HIGHEST_PROTOCOL))
        with self._lock:
            if self._closed.is_set():
                raise ReaderCrashed("the executor is closed")
            self._jobs.add(job)
        self._start(job)
        return job.future

    def close(self) -> None:
        """End all workers at once; tasks that were running fail."""
        with self._lock:
            self._closed.set()
            pool, self._pool = self._pool, None
            jobs = list(self._jobs)
        if pool is not None:
            self._end(pool)
        for job in jobs:
            self._settle(job, error=ReaderCrashed("the executor was closed"))

    def _start(self, job: _Job) -> None:
        """Give a task to the pool; without one it waits for the next."""
        with self._lock:
            if self._closed.is_set():
                self._settle(job, error=ReaderCrashed("the executor was closed"))
                return
            inner = None if self._pool is None else self._schedule(job, self._pool)
            if inner is None:
                self._waiting.append(job)
                self._bring_pool()
                return
        inner.add_done_callback(lambda done: self._finish(job, done))
        # Weakly: in a circle, both would hold a document's text until the collector comes by.
        held = weakref.ref(inner)
        job.future.add_done_callback(lambda outer: _cancel(held()) if outer.cancelled() else None)

    def _schedule(self, job: _Job, pool: _Pool) -> Any:
        """Return the pool's own future of a task; None if the pool has broken."""
        job.pool, job.scheduled_at = pool, time.monotonic()
        try:
            inner = pool.processes.schedule(run_guarded, args=(job.payload, self._timeout), timeout=self._timeout)
        except (RuntimeError, OSError, EOFError):
            self._pool = None
            return None
        pool.futures.add(inner)
        return inner

    # pools ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _bring_pool(self) -> None:
        with self._lock:
            if self._bringing or self._pool is not None:
                return
            self._bringing = True
        threading.Thread(target=self._bring, name="pool-bring", daemon=True).start()

    def _bring(self) -> None:
        """Make a pool, as often as it takes, and give it all tasks that wait."""
        while not self._closed.wait(self._pause()):
            try:
                pool = _make_pool(self._workers, self._memory, self._preload)
            except Exception as error:  # no process, no memory, no file, or a fork server that dies: all may pass
                self._note(f"worker processes can't be started: {type(error).__name__}: {error}")
                continue
            with self._lock:
                self._pool, self._bringing, self._trouble = pool, False, ""
                jobs = list(self._waiting)
                self._waiting.clear()
            if self._closed.is_set():  # too late for it to end this one
                self._end(pool)
                return
            threading.Thread(target=self._watch, args=(pool,), name="pool-watch", daemon=True).start()
            for job in jobs:
                self._start(job)
            return

    def _pause(self) -> float:
        return min(SHORTEST * 2 ** min(self._failures - 1, 20), LONGEST) if self._failures else 0.0

    def _note(self, why: str) -> None:
        with self._lock:
            self._failures += 1
            self._restarts += 1
            self._trouble = why
        _log.warning("%s; they are started again in %.1f seconds", why, self._pause())

    def _watch(self, pool: _Pool) -> None:
        """End a pool when it has broken; not in its own threads, which it joins when it ends."""
        while pool.processes.active and not pool.is_orphaned:
            time.sleep(WATCH_SECONDS)
        self._end(pool)

    def _end(self, pool: _Pool) -> None:
        """End a pool once; tasks that it has forgotten break as those do that it knows of."""
        with self._lock:
            if pool.ending:
                return
            pool.ending = True
            if self._pool is pool:
                self._pool = None
        # A signal to the whole group reaches this process, too, and what it has ended needs no explanation.
        if not self._closed.is_set() and wait_for_end(MOMENT):
            self._bring_pool()  # for what is still to be finished
        elif not self._closed.is_set():
            killed = "their fork server was killed" if pool.is_orphaned else "one of them died"
            self._note(f"the worker processes have ended, since {killed}")
            self._bring_pool()
        try:
            pool.processes.stop()
            pool.processes.join()
        finally:
            # What was still in its queue when it broke, or was taken from there just then, it answers never.
            for inner in [] if self._closed.is_set() else list(pool.futures):
                if not inner.done():
                    inner.set_exception(BrokenProcessPool("the pool broke before it took the task"))

    # outcomes ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _finish(self, job: _Job, inner: Future[bytes]) -> None:
        try:
            fine, outcome = pickle.loads(inner.result())  # noqa: S301  from a process of our own
        except BrokenProcessPool:
            self._try_again(job)
        except CancelledError:
            self._settle(job, error=ReaderCrashed("the task was given up"))
        except TimeoutError:
            if time.monotonic() - job.scheduled_at < self._timeout:  # the clock jumped, by which the pool goes
                self._start(job)
            else:
                self._settle(job, error=ReadTimeout(f"reading took longer than {self._timeout:g} seconds"))
        except Exception as error:  # whatever else reaches us here is a process that did not end well
            if job.pool is not None and job.pool.is_orphaned:  # the end of a worker says nothing of its task
                self._try_again(job)
            else:
                self._settle(job, error=ReaderCrashed(_exit_reason(error)))
        else:
            self._failures = 0
            self._settle(job, **{"result" if fine else "error": outcome})

    def _try_again(self, job: _Job) -> None:
        """Start a task again whose pool broke: it breaks as a whole when an idle worker dies, through no fault of the tasks."""
        with self._lock:
            pool = job.pool
            if pool is not None and self._pool is pool and (pool.is_orphaned or not pool.processes.active):
                self._pool = None
        job.broken += 1
        if job.broken < POOLS_PER_TASK or (pool is not None and pool.is_orphaned):
            self._start(job)
        else:
            self._settle(job, error=ReaderCrashed(f"its worker processes broke {job.broken} times"))

    def _settle(self, job: _Job, *, result: Any = None, error: BaseException | None = None) -> None:
        with self._lock:
            if job not in self._jobs:  # settled by close
                return
            self._jobs.remove(job)
        if not job.future.set_running_or_notify_cancel():
            return
        if error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(result)


def _make_pool(workers: int, memory: int, preload: Sequence[str]) -> _Pool:
    """Return a pool whose processes come from a fork server: forking this process would copy its threads' locks."""
    import multiprocessing

    from pebble import ProcessPool

    _start_fork_server(preload)
    processes = ProcessPool(
        max_workers=workers,
        max_tasks=TASKS_PER_WORKER,
        initializer=guard_worker,
        initargs=(memory,),
        context=multiprocessing.get_context("forkserver"),
    )
    server = _fork_server()
    if server is None or not processes.active:  # to ask for the latter starts them
        raise BrokenProcessPool("they ended at once")
    return _Pool(processes, server)


def _start_fork_server(preload: Sequence[str]) -> None:
    """Start the fork server with SIGINT blocked, as its children inherit: Ctrl-C reaches the whole group of the terminal."""
    from multiprocessing import forkserver, resource_tracker

    forkserver.set_forkserver_preload(["__main__", *preload])
    resource_tracker.ensure_running()  # first: it unblocks SIGINT when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _fork_server() -> int | None:
    """Return the process id of the fork server that there is now; None if there is none, for 0 is a whole group of processes."""
    from multiprocessing import forkserver

    pid: int | None = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    return pid


def _cancel(inner: Any) -> None:
    if inner is not None:
        inner.cancel()


def _exit_reason(error: BaseException) -> str:
    code = getattr(error, "exitcode", None)
    if code is None:
        return f"the process died: {type(error).__name__}: {error}"
    if code < 0:
        return f"the process was killed by {signal.Signals(-code).name}"
    return f"the process ended with code {code}"


def open_executor(uri: str, *, workers: int, timeout: float, memory: int, preload: Sequence[str] = ()) -> LocalExecutor:
    """Return the executor of ``local``: guarded processes on this machine."""
    return LocalExecutor(workers, timeout=timeout, memory=memory, preload=preload)

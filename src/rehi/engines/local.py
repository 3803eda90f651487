"""The local executor: guarded processes on this machine. A task that crashes, hangs or is greedy harms no other."""

from __future__ import annotations

import ctypes
import errno
import os
import pickle
import resource
import signal
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from rehi.errors import ReaderCrashed, ReadTimeout, ReadTooLarge

P = ParamSpec("P")
T = TypeVar("T")

TASKS_PER_WORKER = 500  # parsers leak; a fresh worker costs 20 ms from the fork server
POOLS_PER_TASK = 3  # pools that may break while a task is in them before it is given up
NICENESS = 10  # so that the main process goes first
WATCH_SECONDS = 0.2  # between two looks whether a pool has broken
ORPHAN_SECONDS = 10.0  # beyond a task's time: by then the parent has ended the worker, or is dead itself


@dataclass(slots=True, eq=False)
class _Job:
    """A submitted task: the pickled work, and the future that its caller holds."""

    payload: bytes
    future: Future[Any] = field(default_factory=Future)
    pools: int = 0


@dataclass(slots=True, eq=False)
class _Pool:
    """A pool of processes, and the futures that it has given."""

    processes: Any
    futures: weakref.WeakSet[Future[bytes]] = field(default_factory=weakref.WeakSet)
    ending: bool = False


class LocalExecutor:
    """Port ``Executor`` on processes of this machine, each with a time and a memory limit."""

    def __init__(self, workers: int, *, timeout: float, memory: int, preload: Sequence[str] = ()) -> None:
        self._workers = workers or len(os.sched_getaffinity(0))
        self._timeout = timeout
        self._memory = memory
        self._preload = tuple(preload)  # modules that the fork server imports for all workers, if it is started here
        self._lock = threading.RLock()
        self._jobs: set[_Job] = set()
        self._pool: _Pool | None = None
        self._closed = False

    @property
    def workers(self) -> int:
        """How many tasks run at once."""
        return self._workers

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a task in a worker; its future raises ReaderCrashed, ReadTimeout or ReadTooLarge if the worker had to be ended."""
        job = _Job(pickle.dumps((work, args, kwargs), pickle.HIGHEST_PROTOCOL))
        with self._lock:
            if self._closed:
                raise ReaderCrashed("the executor is closed")
            self._jobs.add(job)
        self._start(job)
        return job.future

    def close(self) -> None:
        """End all workers at once; tasks that were running fail."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
            jobs = list(self._jobs)
        if pool is not None:
            self._end(pool)
        for job in jobs:
            self._settle(job, error=ReaderCrashed("the executor was closed"))

    def _start(self, job: _Job) -> None:
        inner = self._schedule(job)
        if inner is None:
            self._settle(job, error=ReaderCrashed("there is no worker process to run it"))
            return
        inner.add_done_callback(lambda done: self._finish(job, done))
        # Weakly: in a circle, both would hold a document's text until the collector comes by.
        held = weakref.ref(inner)
        job.future.add_done_callback(lambda outer: _cancel(held()) if outer.cancelled() else None)

    def _schedule(self, job: _Job) -> Any:
        """Return the pool's own future of a task; None if the executor is closed, or one pool after another breaks."""
        with self._lock:
            while not self._closed and job.pools < POOLS_PER_TASK:
                if self._pool is None:
                    self._pool = _Pool(_make_pool(self._workers, self._memory, self._preload))
                    threading.Thread(target=self._watch, args=(self._pool,), name="pool-watch", daemon=True).start()
                job.pools += 1
                try:
                    inner = self._pool.processes.schedule(
                        _run_guarded, args=(job.payload, self._timeout), timeout=self._timeout
                    )
                except RuntimeError:  # this pool broke since it was last used
                    self._pool = None
                else:
                    self._pool.futures.add(inner)
                    return inner
            return None

    def _watch(self, pool: _Pool) -> None:
        """End a pool when it has broken; not in its own threads, which it joins when it ends."""
        while pool.processes.active:
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
        pool.processes.stop()
        pool.processes.join()
        if self._closed:
            return
        # What was still in its queue when it broke, or was taken from there just then, it answers never.
        for inner in list(pool.futures):
            if not inner.done():
                inner.set_exception(BrokenProcessPool("the pool broke before it took the task"))

    def _finish(self, job: _Job, inner: Future[bytes]) -> None:
        try:
            fine, outcome = pickle.loads(inner.result())  # noqa: S301  from a process of our own
        except BrokenProcessPool:
            self._try_again(job)
        except CancelledError:
            self._settle(job, error=ReaderCrashed("the task was given up"))
        except TimeoutError:
            self._settle(job, error=ReadTimeout(f"reading took longer than {self._timeout:g} seconds"))
        except Exception as error:  # whatever else reaches us here is a process that did not end well
            self._settle(job, error=ReaderCrashed(_exit_reason(error)))
        else:
            self._settle(job, **{"result" if fine else "error": outcome})

    def _try_again(self, job: _Job) -> None:
        """Start a task again whose pool broke: it breaks as a whole when an idle worker dies, through no fault of the tasks."""
        with self._lock:
            if self._pool is not None and not self._pool.processes.active:
                self._pool = None
        self._start(job)

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


def _make_pool(workers: int, memory: int, preload: Sequence[str]) -> Any:
    """Return a pool whose processes come from a fork server: forking this process would copy its threads' locks."""
    import multiprocessing

    from pebble import ProcessPool

    _start_fork_server(preload)
    return ProcessPool(
        max_workers=workers,
        max_tasks=TASKS_PER_WORKER,
        initializer=_guard_worker,
        initargs=(memory,),
        context=multiprocessing.get_context("forkserver"),
    )


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


# inside a worker ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _guard_worker(memory: int) -> None:
    """Set the limits of a new worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a Python handler would wait for native code to return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # RLIMIT_DATA stops Python's and native allocations alike, and does not count mapped libraries and models as
    # RLIMIT_AS does.
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_CORE, 0)
    os.nice(NICENESS)
    threading.Thread(target=_exit_with_parent, name="parent-watch", daemon=True).start()


def _run_guarded(payload: bytes, timeout: float) -> bytes:
    """Run pickled work; return the pickled outcome, ``(True, result)`` or ``(False, error)``."""
    # The alarm is the kernel's: it ends a worker that is stuck in native code after its parent was killed.
    signal.setitimer(signal.ITIMER_REAL, timeout + ORPHAN_SECONDS)
    try:
        outcome = _attempt(payload)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if outcome is None:
        _release_memory()
        outcome = pickle.dumps((False, ReadTooLarge("reading wanted more memory than a document may have")))
    return outcome


def _attempt(payload: bytes) -> bytes | None:
    """Return the pickled outcome; None if memory ran out: leaving this frame frees what the work held."""
    try:
        work, args, kwargs = pickle.loads(payload)  # noqa: S301  from our own parent
        return pickle.dumps((True, work(*args, **kwargs)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return None
    except OSError as error:
        return None if error.errno == errno.ENOMEM else _pack(error)
    except BaseException as error:  # SystemExit too: a task may not end its worker
        return _pack(error)


def _pack(error: BaseException) -> bytes:
    """Return an error pickled: as it is if it is an Exception that can be pickled, else as a ReaderCrashed that names it."""
    crash = ReaderCrashed(f"{type(error).__name__}: {error}")
    if not isinstance(error, Exception):
        return pickle.dumps((False, crash))
    try:
        packed = pickle.dumps((False, error))
        pickle.loads(packed)  # noqa: S301  our own bytes of a moment ago
    except Exception:  # any class may fail in its own way to be copied
        return pickle.dumps((False, crash))
    return packed


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (allowed, allowed))


def _release_memory() -> None:
    """Return freed memory to the system: what the allocator keeps counts against the next task."""
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _exit_with_parent() -> None:
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def open_executor(uri: str, *, workers: int, timeout: float, memory: int, preload: Sequence[str] = ()) -> LocalExecutor:
    """Return the executor of ``local``: guarded processes on this machine."""
    return LocalExecutor(workers, timeout=timeout, memory=memory, preload=preload)

"""A worker process of the local executor, from the inside: its limits, and what it does with a task."""

from __future__ import annotations

import ctypes
import errno
import os
import pickle
import resource
import signal
import threading
from typing import Any

from rehi.errors import ReaderCrashed, ReadTooLarge

NICENESS = 10  # so that the main process goes first
ORPHAN_SECONDS = 10.0  # beyond a task's time: by then the parent has ended the worker, or is dead itself
_PR_SET_PDEATHSIG = 1  # of Linux's prctl


def guard_worker(memory: int) -> None:
    """Set the limits of a new worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a Python handler would wait for native code to return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # RLIMIT_DATA stops Python's and native allocations alike, and does not count mapped libraries and models as
    # RLIMIT_AS does.
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_CORE, 0)
    os.nice(NICENESS)
    _end_with_fork_server()
    threading.Thread(target=_exit_with_parent, name="parent-watch", daemon=True).start()


def run_guarded(payload: bytes, timeout: float) -> bytes:
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


def _limit(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (allowed, allowed))


def _release_memory() -> None:
    """Return freed memory to the system: what the allocator keeps counts against the next task."""
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _end_with_fork_server() -> None:
    """Have the kernel end this process when the fork server ends: nobody would hear of it any more."""
    set_option: Any = getattr(ctypes.CDLL(None), "prctl", None)
    if set_option is not None:
        set_option(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _exit_with_parent() -> None:
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

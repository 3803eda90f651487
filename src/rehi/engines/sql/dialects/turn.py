"""A turn to write: processes and threads that share a SQLite file queue for it at two files beside it.

SQLite's own waiting polls, up to 100 ms at a time, and whoever comes at the right moment goes first. Here the kernel wakes
those who wait. Two locks, so that what is urgent passes the rest: all wait at the door, but of those who are not urgent
only one stands there, and the others behind a gate. It is for fairness only: who waits for too long goes on, and meets
SQLite's own lock.

Each one who waits opens the file for itself, so that nobody's lock is another's, not even in the same process.
"""

from __future__ import annotations

import fcntl
import os
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

_PATIENCE = 5.0  # seconds


class Turn:
    """The queue at one file."""

    def __init__(self, path: str, *, patience: float = _PATIENCE) -> None:
        self._door, self._gate = f"{path}-turn", f"{path}-gate"
        self._patience = patience

    @contextmanager
    def __call__(self, *, urgent: bool) -> Iterator[None]:
        """Wait, and have the turn for as long as this lasts."""
        if urgent:
            door = self._enter(self._door)
        else:
            gate = self._enter(self._gate)
            try:
                door = self._enter(self._door)
            finally:
                _leave(gate)
        try:
            yield
        finally:
            _leave(door)

    def _enter(self, path: str) -> int | None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return None  # no room, or no right; SQLite has its own locks, and its own complaint
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _Waiter(descriptor).wait(self._patience)
        except OSError:
            _leave(descriptor)  # a place without such locks
            return None
        return descriptor


def _leave(descriptor: int | None) -> None:
    if descriptor is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open too
        os.close(descriptor)


class _Waiter:
    """Waits where a deadline can't be given, in a thread of its own, so that somebody else can give up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._decision, self._done = Lock(), Lock()
        self._abandoned = self._held = False
        self._done.acquire()

    def wait(self, seconds: float) -> int | None:
        """Return the file, if its lock was had in time."""
        try:
            # Not a Thread, which waits until it runs: on a busy machine that is a second time in the queue.
            start_new_thread(self._run, ())
        except RuntimeError:  # there may be no more threads
            _leave(self._descriptor)
            return None
        self._done.acquire(timeout=seconds)
        with self._decision:
            self._abandoned = not self._held
        return self._descriptor if self._held else None

    def _run(self) -> None:
        locked = False
        with suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            locked = True
        with self._decision:
            self._held = locked and not self._abandoned
        self._done.release()
        if not self._held:
            _leave(self._descriptor)

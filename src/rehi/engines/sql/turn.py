"""A turn to write: processes and threads that share a SQLite file queue for it at a lock beside the file.

SQLite's own waiting polls, up to 100 ms at a time, and whoever comes at the right moment goes first. Here the kernel wakes
those who wait. Two locks, so that what is urgent passes the rest: all wait at the door, but of those who are not urgent
only one stands there, and the others behind a gate. It is for fairness only: who waits for too long goes on, and meets
SQLite's own lock.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

_DOOR, _GATE = 0, 1  # bytes of the file that are locked
_PATIENCE = 5.0  # seconds


class Turn:
    """The queue at one file."""

    def __init__(self, path: str, *, patience: float = _PATIENCE) -> None:
        self._path = f"{path}-turn"
        self._patience = patience
        self._descriptor: int | None = None
        self._threads = (Lock(), Lock())  # the kernel's locks hold between processes only
        self._held = [False, False]

    @contextmanager
    def take(self, *, urgent: bool) -> Iterator[None]:
        """Wait, and have the turn for as long as this lasts."""
        if urgent:
            self._enter(_DOOR)
        else:
            self._enter(_GATE)
            try:
                self._enter(_DOOR)
            finally:
                self._leave(_GATE)
        try:
            yield
        finally:
            self._leave(_DOOR)

    def close(self) -> None:
        """Give the file back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _enter(self, place: int) -> None:
        self._threads[place].acquire()
        self._held[place] = self._lock(place)

    def _leave(self, place: int) -> None:
        if self._held[place] and self._descriptor is not None:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, place)
        self._threads[place].release()

    def _lock(self, place: int) -> bool:
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return self._descriptor is not None and _Waiter(self._descriptor, place).wait(self._patience)
        except OSError:
            return False  # a place without such locks, or without room; SQLite has its own, and its own complaint
        return True


class _Waiter(Thread):
    """Waits where a deadline can't be given, so that somebody else can give up."""

    def __init__(self, descriptor: int, place: int) -> None:
        super().__init__(name="rehi-turn", daemon=True)
        self._descriptor, self._place = descriptor, place
        self._decision = Lock()
        self._done = Event()
        self._abandoned = self._held = False

    def wait(self, seconds: float) -> bool:
        """Whether the lock was had in time."""
        self.start()
        self._done.wait(seconds)
        with self._decision:
            self._abandoned = not self._done.is_set()
        return self._held

    def run(self) -> None:
        """Have the lock; give it back if nobody waits for it any more."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX, 1, self._place)
            with self._decision:
                self._held = not self._abandoned
            if self._abandoned:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, self._place)
        except OSError:
            self._held = False  # the file was closed meanwhile
        self._done.set()

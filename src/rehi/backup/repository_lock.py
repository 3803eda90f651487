"""The lock of a repository: any number may write to it, but nobody while chunks are deleted from it.

Each one who works there leaves an object that says what for and until when. It is written before the others' are looked at,
so that of two who come at once at least one sees the other. One who was killed is waited for until its time is over, or not
at all if it was on this machine.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from rehi.errors import BackupBusy, NotFound
from rehi.ports import BackupStore

FOLDER = "locks"
HELD = timedelta(minutes=20)  # without a renewal
RENEWED = timedelta(minutes=2)


class Use(StrEnum):
    """What a process does in a repository."""

    WRITE = "write"
    DELETE = "delete"


class RepositoryLock:
    """The lock of one process on a repository that it writes to or deletes from."""

    def __init__(self, store: BackupStore, use: Use, clock: Callable[[], datetime]) -> None:
        self._store, self._use, self._clock = store, use, clock
        self._name = f"{FOLDER}/{secrets.token_hex(8)}.json"
        self._renewed_at = clock()

    def take(self) -> None:
        """Take the lock; BackupBusy if another process deletes, or if this one wants to delete and another is there."""
        self._write()
        try:
            for name, other in list(_others(self._store, self._name)):
                if self._is_over(other):
                    self._store.delete(name)
                elif Use.DELETE in (self._use, other.get("use")):
                    who = f"process {other.get('process')} on {other.get('machine')}"
                    raise BackupBusy(
                        f"{self._store.where} is in use by {who}: try again when that one is done, or after {other.get('until')}"
                    )
        except BaseException:
            self.release()
            raise

    def renew(self) -> None:
        """Prolong the lock now and then; BackupBusy if another process has taken it for abandoned."""
        if self._clock() - self._renewed_at >= RENEWED:
            self.confirm()

    def confirm(self) -> None:
        """Make sure that nobody has deleted anything meanwhile; BackupBusy if somebody may have."""
        try:
            self._store.read(self._name)
        except NotFound as error:
            raise BackupBusy(
                f"this was away from {self._store.where} for too long, and somebody pruned it: start again"
            ) from error
        if self._clock() - self._renewed_at >= RENEWED:
            self._write()

    def release(self) -> None:
        """Remove this process's lock."""
        self._store.delete(self._name)

    def _write(self) -> None:
        self._renewed_at = self._clock()
        until = (self._renewed_at + HELD).isoformat(timespec="seconds")
        row = {"use": self._use.value, "machine": socket.gethostname(), "process": os.getpid(), "until": until}
        self._store.write(self._name, json.dumps(row).encode())

    def _is_over(self, other: dict[str, Any]) -> bool:
        try:
            if datetime.fromisoformat(str(other["until"])) < self._clock():
                return True
            return other["machine"] == socket.gethostname() and not _is_alive(int(other["process"]))
        except (KeyError, ValueError, TypeError):
            return False  # not one that we understand: whoever wrote it may be working


def _others(store: BackupStore, own: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, _ in store.list(FOLDER):
        if name != own:
            try:
                row = json.loads(store.read(name))
            except NotFound:  # released just now
                continue
            except ValueError:
                row = {}
            yield name, row if isinstance(row, dict) else {}


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


@contextmanager
def use_repository(store: BackupStore, use: Use, clock: Callable[[], datetime]) -> Iterator[RepositoryLock]:
    """Hold the lock of a repository for one use; BackupBusy if another process excludes it."""
    lock = RepositoryLock(store, use, clock)
    lock.take()
    try:
        yield lock
    finally:
        lock.release()

"""Checkpoints of a SQLite file: what its log holds is moved into it, beside the work.

Left to itself, SQLite does this within the transaction that fills the log: some 100 ms to 400 ms for 64 MB, in which nobody
writes. Here a thread does it while others write; only the rest that they wrote meanwhile is moved in a turn of its own, so that
the log can begin again from its start.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock, Thread

from rehi.engines.sql.dialects.turn import Turn

LOG_BYTES = 64_000_000  # 16,000 pages: 67,000 rows/s are taken in so; with the default, 4 MB, fewer


class Checkpoints:
    """The checkpoints that this process makes; SQLite lets only one process at a time make one."""

    def __init__(self, path: str, turn: Turn, *, timeout: float) -> None:
        self._path, self._log = path, Path(f"{path}-wal")
        self._turn, self._timeout = turn, timeout
        self._busy = Lock()
        self._thread: Thread | None = None

    def make_if_due(self) -> None:
        """Begin a checkpoint if the log is long. It is cut to its usual length when it begins again: longer is long."""
        with suppress(OSError):  # there is no log yet
            if self._log.stat().st_size > LOG_BYTES and self._busy.acquire(blocking=False):
                self._thread = Thread(target=self._make, name="rehi-checkpoint", daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Wait for a checkpoint that is under way."""
        if self._thread is not None:
            self._thread.join(self._timeout)

    def _make(self) -> None:
        try:
            # If it fails, the log grows until SQLite makes a checkpoint by itself, and says what is wrong to who writes.
            with suppress(sqlite3.Error), closing(sqlite3.connect(self._path, timeout=self._timeout)) as connection:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                with self._turn.take(urgent=False):
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            self._busy.release()

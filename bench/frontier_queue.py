"""The peer of the frontier benchmark: a queue of jobs in a table, one URL at a time, as job queues commonly do it.

A job is taken with one transaction and done with another. It is as polite as we are: a host of which a job is under way
is passed over, by a row for each host. It does less: of a visit it keeps one row and the job's next time, no versions,
problems, redirects or counts. It talks to the driver directly, on the same engine with the same settings. Its
jobs are in a mixed order, so that what it must pass over is little.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Barrier
from time import monotonic, process_time
from typing import Any

from bench.frontier_crowd import Report, Shift

_DAY = 86_400.0
_TABLES = (
    "CREATE TABLE job (id BIGINT PRIMARY KEY, host_id BIGINT NOT NULL, url TEXT NOT NULL, due_at DOUBLE PRECISION NOT NULL, "
    "state TEXT NOT NULL)",
    "CREATE TABLE place (id BIGINT PRIMARY KEY, busy_until DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE done (job_id BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, outcome TEXT NOT NULL, status INT, size BIGINT)",
)
_FILL = (
    "INSERT INTO job SELECT id, host_id, url, id * 7919 % 1000003, 'waiting' FROM {of}resource",
    "INSERT INTO place SELECT id, 0 FROM {of}host",
    "CREATE INDEX job_due ON job (due_at)",
)
_NEXT = """
    SELECT job.id, job.host_id FROM job JOIN place ON place.id = job.host_id
    WHERE job.due_at <= {0} AND place.busy_until <= {0} ORDER BY job.due_at LIMIT 1
"""
_LOCKED = "FOR UPDATE OF job, place SKIP LOCKED"
_PUT_OFF = "UPDATE job SET due_at = {0}, state = {0} WHERE id = {0}"
_HOLD = "UPDATE place SET busy_until = {0} WHERE id = {0}"
_DONE = "INSERT INTO done (job_id, at, outcome, status, size) VALUES ({0}, {0}, {0}, 200, 20000)"


def fill_queue(uri: str) -> str:
    """Make a queue of all URLs of a catalogue; its address."""
    if not uri.startswith("sqlite:///"):
        with _postgres(uri) as connection:
            for statement in (*_TABLES, *(fill.format(of="") for fill in _FILL), "ANALYZE job, place"):
                connection.execute(statement)
        return uri
    path = Path(uri.removeprefix("sqlite:///")).with_suffix(".queue")
    with _sqlite(str(path)) as connection:
        connection.execute("ATTACH ? AS known", [uri.removeprefix("sqlite:///")])
        for statement in (*_TABLES, *(fill.format(of="known.") for fill in _FILL)):
            connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return f"sqlite:///{path}"


def count_done(uri: str) -> int:
    """The visits on record."""
    with _open(uri) as (connection, _, _):
        count: int = connection.execute("SELECT count(*) FROM done").fetchone()[0]
        return count


def work_queue(shift: Shift, ready: Barrier) -> Report:
    """Take a job, visit, say that it is done; until the time is over."""
    report, random = Report(), Random(shift.worker)  # noqa: S311 - not for secrets
    with _open(shift.uri) as (connection, transaction, mark):
        queue = _Queue(connection, transaction, mark, locks=not shift.uri.startswith("sqlite"))
        ready.wait(120)
        began, cpu = monotonic(), process_time()
        while monotonic() - began < shift.seconds:
            at = monotonic()
            job = queue.take()
            taken = monotonic()
            report.lease_seconds.append(taken - at)
            if job is None:
                continue  # all that is due is on hosts that others hold
            queue.finish(job, random.choices(("unchanged", "new", "failed", "redirect"), (60, 25, 10, 5))[0])
            report.record_seconds.append(monotonic() - taken)
            report.holds.append((job[1], taken, taken))
            report.visits += 1
        report.seconds, report.cpu_seconds = monotonic() - began, process_time() - cpu
    return report


class _Queue:
    def __init__(self, connection: Any, transaction: Callable[[], Any], mark: str, *, locks: bool) -> None:
        self._connection, self._transaction = connection, transaction
        self._next = _NEXT.format(mark) + (_LOCKED if locks else "")
        self._put_off, self._hold, self._done = (sql.format(mark) for sql in (_PUT_OFF, _HOLD, _DONE))

    def take(self) -> tuple[int, int] | None:
        """A job that is due on a host that is free."""
        now = time.time()
        with self._transaction():
            job: tuple[int, int] | None = self._connection.execute(self._next, (now, now)).fetchone()
            if job is not None:
                self._connection.execute(self._put_off, (now + 600, "taken", job[0]))
                self._connection.execute(self._hold, (now + 600, job[1]))
        return job

    def finish(self, job: tuple[int, int], outcome: str) -> None:
        """Say what came of it, and when it is due again."""
        now = time.time()
        with self._transaction():
            self._connection.execute(self._done, (job[0], now, outcome))
            self._connection.execute(self._put_off, (now + 30 * _DAY, outcome, job[0]))
            self._connection.execute(self._hold, (now, job[1]))


@contextmanager
def _open(uri: str) -> Any:
    """A connection, what begins a transaction, and the mark for a value."""
    if uri.startswith("sqlite:///"):
        with _sqlite(uri.removeprefix("sqlite:///")) as connection:
            yield connection, lambda: _immediate(connection), "?"
    else:
        with _postgres(uri) as connection:
            yield connection, connection.transaction, "%s"


@contextmanager
def _sqlite(path: str) -> Any:
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536", "wal_autocheckpoint = 16000"):
        connection.execute(f"PRAGMA {pragma}")
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Any:
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def _postgres(uri: str) -> Any:
    import psycopg

    return psycopg.connect(uri, autocommit=True)

"""The peer of the frontier benchmark: a queue of jobs in a table, as job queues commonly do it.

Jobs are taken with one transaction and done with another, one at a time or fifty, as many as we record at once. It is as
polite as we are: a host of which a job is under way is passed over, by a row for each host. It does less: of a visit it
keeps one row and the job's next time, no versions, problems, redirects or counts. It talks to the driver directly, on the
same engine with our durability: on SQLite the log is brought to disk before a result is acknowledged, and not for a lease,
which a power cut may forget; on PostgreSQL every commit is. Its jobs are in a mixed order, so that what it must pass over
is little.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Barrier
from time import monotonic, process_time
from typing import Any

from bench.frontier_crowd import Report, Shift
from bench.log_plain import PRAGMAS, sync_log

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
# One job of each host: those of the same host wait for each other. Of the jobs that are due first, so many are looked at.
_NEXT = """
    SELECT min(id), host_id FROM (
        SELECT job.id, job.host_id FROM job JOIN place ON place.id = job.host_id
        WHERE job.due_at <= {0} AND place.busy_until <= {0} ORDER BY job.due_at LIMIT {1}
    ) ready GROUP BY host_id LIMIT {0}
"""
_NEXT_LOCKED = """
    SELECT job.id, job.host_id FROM job JOIN place ON place.id = job.host_id
    WHERE job.due_at <= {0} AND place.busy_until <= {0} ORDER BY job.due_at LIMIT {1} FOR UPDATE OF job, place SKIP LOCKED
"""
_LOOKED_AT = 2  # times as many as wanted: of a large host several may stand there
_PUT_OFF = "UPDATE job SET due_at = {0}, state = {0} WHERE id = {0}"
_HOLD = "UPDATE place SET busy_until = {0} WHERE id = {0}"
_DONE = "INSERT INTO done (job_id, at, outcome, status, size) VALUES ({0}, {0}, {0}, 200, 20000)"

Job = tuple[int, int]  # with its host


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
    """Take jobs, visit, say that they are done; until the time is over."""
    report, random = Report(), Random(shift.worker)  # noqa: S311 - not for secrets
    with _open(shift.uri) as (connection, transaction, mark):
        queue = _Queue(connection, transaction, mark, uri=shift.uri, batch=shift.batch)
        ready.wait(120)
        began, cpu = monotonic(), process_time()
        while monotonic() - began < shift.seconds:
            at = monotonic()
            jobs = queue.take()
            taken = monotonic()
            report.lease_seconds.append(taken - at)
            if not jobs:
                continue  # all that is due is on hosts that others hold
            outcomes = random.choices(("unchanged", "new", "failed", "redirect"), (60, 25, 10, 5), k=len(jobs))
            given_back = monotonic()
            queue.finish(jobs, outcomes)
            report.record_seconds.append(monotonic() - given_back)
            report.holds += [(host, taken, given_back) for _, host in jobs]
            report.visits += len(jobs)
        report.seconds, report.cpu_seconds = monotonic() - began, process_time() - cpu
    return report


class _Queue:
    def __init__(self, connection: Any, transaction: Callable[[], Any], mark: str, *, uri: str, batch: int) -> None:
        self._cursor, self._transaction, self._batch = connection.cursor(), transaction, batch
        self._path = uri.removeprefix("sqlite:///") if uri.startswith("sqlite:///") else ""
        self._next = (_NEXT if self._path else _NEXT_LOCKED).format(mark, batch if batch == 1 else batch * _LOOKED_AT)
        self._put_off, self._hold, self._done = (sql.format(mark) for sql in (_PUT_OFF, _HOLD, _DONE))

    def take(self) -> Sequence[Job]:
        """Return jobs that are due on hosts that are free, one of each host."""
        now = time.time()
        with self._transaction():
            values = (now, now, self._batch) if self._path else (now, now)
            rows: Sequence[Job] = self._cursor.execute(self._next, values).fetchall()
            jobs = [(job, host) for host, job in {host: job for job, host in reversed(rows)}.items()][: self._batch]
            if jobs:
                self._cursor.executemany(self._put_off, [(now + 600, "taken", job) for job, _ in jobs])
                self._cursor.executemany(self._hold, [(now + 600, host) for _, host in jobs])
        return jobs

    def finish(self, jobs: Sequence[Job], outcomes: Sequence[str]) -> None:
        """Say what came of them, and when they are due again; when it returns, that is on disk."""
        now = time.time()
        with self._transaction():
            each = list(zip(jobs, outcomes, strict=True))
            self._cursor.executemany(self._done, [(job, now, outcome) for (job, _), outcome in each])
            self._cursor.executemany(self._put_off, [(now + 30 * _DAY, outcome, job) for (job, _), outcome in each])
            self._cursor.executemany(self._hold, [(now, host) for _, host in jobs])
        if self._path:
            sync_log(self._path)


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
    for pragma in PRAGMAS:
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

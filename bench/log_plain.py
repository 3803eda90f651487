"""The peer of the log benchmark: the plain way to take a log in, on the same engines with the durability of our catalogue.

Split, urlsplit, and one bulk insert per batch that passes over what is there: INSERT OR IGNORE on SQLite, COPY and INSERT
ON CONFLICT on PostgreSQL. It stores the same URLs with their hosts, and nothing else: no hosts of their own, no schedule, no
counts of what was rejected and why.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

BATCH = 40_000
# As in rehi's SQLite dialect: the log is brought to disk once per batch, before the batch is acknowledged.
PRAGMAS = ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -30720", "wal_autocheckpoint = 16000")
_TABLE = "CREATE TABLE url (id {key} PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL)"
_POSTGRES_KEY = "BIGINT GENERATED ALWAYS AS IDENTITY"

Row = tuple[str, str]


def take_in_plainly(log: Path, store: str) -> dict[str, float]:
    """Take a log into a store by its address; the lines read and the rows that there are then."""
    return _into_sqlite(log, store) if store.startswith("sqlite:///") else _into_postgres(log, store)


def _into_sqlite(log: Path, store: str) -> dict[str, float]:
    path = store.removeprefix("sqlite:///")
    database, count = sqlite3.connect(path), 0
    for pragma in PRAGMAS:
        database.execute(f"PRAGMA {pragma}")
    database.execute(_TABLE.format(key="INTEGER"))
    for lines, rows in _batches(log):
        count += lines
        with database:
            database.executemany("INSERT OR IGNORE INTO url (url, host) VALUES (?, ?)", rows)
        sync_log(path)
    (stored,) = database.execute("SELECT count(*) FROM url").fetchone()
    database.close()
    return {"lines": count, "rows": stored}


def sync_log(path: str) -> None:
    """Wait until the log of a SQLite file is on disk."""
    descriptor = os.open(f"{path}-wal", os.O_RDONLY)
    try:
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def _into_postgres(log: Path, store: str) -> dict[str, float]:
    import psycopg

    count = 0
    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute(_TABLE.format(key=_POSTGRES_KEY))
        connection.execute("CREATE TEMPORARY TABLE batch (url TEXT, host TEXT)")
        for lines, rows in _batches(log):
            count += lines
            with connection.transaction(), connection.cursor() as cursor:
                with cursor.copy("COPY batch (url, host) FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
                cursor.execute("INSERT INTO url (url, host) SELECT url, host FROM batch ON CONFLICT DO NOTHING")
                cursor.execute("TRUNCATE batch")
        stored = connection.execute("SELECT count(*) FROM url").fetchone()
    assert stored is not None
    return {"lines": count, "rows": stored[0]}


def _batches(log: Path) -> Iterator[tuple[int, Sequence[Row]]]:
    """Yield how many lines were read, and the rows that came of them."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        while batch := list(islice(lines, BATCH)):
            yield len(batch), [row for row in map(_plain_row, batch) if row]


def _plain_row(line: str) -> Row | None:
    columns = line.split()
    if len(columns) < 7 or "X" in columns[4]:
        return None
    if columns[4].endswith("P"):
        url = columns[5]
    elif not 100 <= int(columns[1]) < 600 or columns[6].startswith(("image/", "text/css", "application/javascript")):
        return None
    else:
        url = columns[3]
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path == "/robots.txt":
        return None
    return parts._replace(fragment="", netloc=parts.hostname).geturl(), parts.hostname

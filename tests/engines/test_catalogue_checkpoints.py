"""Tests of SQLite's log: it is moved into the file beside the work."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from rehi.engines.sql.dialects.sqlite import LOG_BYTES, Checkpoints
from rehi.engines.sql.dialects.turn import Turn


def test_a_long_log_is_moved_into_the_file_and_begins_again(tmp_path: Path) -> None:
    path = str(tmp_path / "catalogue.db")
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = WAL", f"journal_size_limit = {LOG_BYTES}", "wal_autocheckpoint = 0"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE t (b BLOB)")
    turn = Turn(path)
    checkpoints = Checkpoints(path, turn, timeout=20)
    log = Path(f"{path}-wal")
    sizes = []
    for _ in range(3):
        connection.execute("INSERT INTO t VALUES (zeroblob(?))", [LOG_BYTES // 2])
        checkpoints.make_if_due()
        checkpoints.end()
        sizes.append(log.stat().st_size)
    connection.execute("INSERT INTO t VALUES (zeroblob(10))")
    connection.close()
    assert max(sizes) > LOG_BYTES
    assert Path(path).stat().st_size > LOG_BYTES


def test_without_a_log_there_is_nothing_to_do(tmp_path: Path) -> None:
    path = str(tmp_path / "catalogue.db")
    checkpoints = Checkpoints(path, Turn(path), timeout=1)
    checkpoints.make_if_due()
    checkpoints.end()
    assert not Path(path).exists()

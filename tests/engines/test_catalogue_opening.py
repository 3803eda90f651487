"""Opening a catalogue: versions, migrations, and what can be wrong."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from rehi.engines.sql import open_catalogue
from rehi.engines.sql.catalogue import _dialect_of
from rehi.engines.sql.database import Database
from rehi.engines.sql.migrations import STEPS, upgrade
from rehi.errors import DiskFull, EngineError, StoreVersionError
from rehi.testing.contracts.catalogue_samples import add, at, findings
from rehi.testing.postgres import PostgresServer
from rehi.testing.waiting import PATIENCE

NEWER = 2 + len(STEPS)  # the version after one step more than there are


def _add_colour(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE source ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"))


def _fail(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE source ADD COLUMN shape TEXT"))
    connection.execute(text("SELECT * FROM nowhere"))


def test_an_older_catalogue_is_upgraded_with_what_it_holds(catalogue_uri: str) -> None:
    first = open_catalogue(catalogue_uri)
    add(first, "http://a.ee/")
    first.close()
    database = Database(_dialect_of(catalogue_uri))
    assert upgrade(database, (*STEPS, _add_colour)) == NEWER
    assert upgrade(database, (*STEPS, _add_colour)) == NEWER
    assert database.read(lambda c: c.execute(text("SELECT colour FROM source")).scalars().all()) == ["red"]
    database.close()


def test_an_upgrade_that_fails_leaves_everything_as_it_was(catalogue_uri: str) -> None:
    open_catalogue(catalogue_uri).close()
    database = Database(_dialect_of(catalogue_uri))
    with pytest.raises(EngineError):
        upgrade(database, (*STEPS, _add_colour, _fail))
    database.close()
    catalogue = open_catalogue(catalogue_uri)
    add(catalogue, "http://a.ee/")
    catalogue.close()


def test_a_catalogue_from_a_newer_rehi_is_refused_in_one_sentence(catalogue_uri: str) -> None:
    open_catalogue(catalogue_uri).close()
    database = Database(_dialect_of(catalogue_uri))
    upgrade(database, (*STEPS, _add_colour))
    database.close()
    said = f"has version {NEWER}, but this rehi knows only versions up to {NEWER - 1}: upgrade rehi"
    with pytest.raises(StoreVersionError, match=said):
        open_catalogue(catalogue_uri)


def test_a_database_of_something_else_is_refused(catalogue_uri: str) -> None:
    database = Database(_dialect_of(catalogue_uri))
    database.write(lambda c: c.execute(text("CREATE TABLE host (name TEXT)")))
    database.close()
    with pytest.raises(EngineError, match="tables of something else"):
        open_catalogue(catalogue_uri)


def test_what_was_stored_is_there_when_it_is_opened_again(catalogue_uri: str) -> None:
    first = open_catalogue(catalogue_uri)
    source = add(first, "http://a.ee/")
    first.close()
    second = open_catalogue(catalogue_uri)
    assert second.source(source.id) == source
    second.close()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.db"
    path.write_bytes(b"this is no database " * 500)
    with pytest.raises(EngineError, match="is not a database"):
        open_catalogue(f"sqlite:///{path}")
    assert path.read_bytes().startswith(b"this is no database")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="can't be opened"):
        open_catalogue(f"sqlite:///{tmp_path}/nowhere/catalogue.db")


@pytest.mark.parametrize("uri", ["", "nonsense", "mysql://a/b", "sqlite://", "sqlite:///x.db?timeout=soon", "oracle:x"])
def test_a_wrong_address_is_refused(uri: str) -> None:
    with pytest.raises(EngineError):
        open_catalogue(uri)


def test_a_catalogue_locked_for_too_long_says_so(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.db"
    catalogue = open_catalogue(f"sqlite:///{path}?timeout=0.2")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(EngineError, match="locked by another process for too long"):
        add(catalogue, "http://a.ee/")
    other.execute("ROLLBACK")
    other.close()
    add(catalogue, "http://a.ee/")
    catalogue.close()


def test_sqlite_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/catalogue.db")

    def ask(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [connection.execute(text(f"PRAGMA {name}")).scalar() for name in names]

    assert catalogue.database.read(ask) == ["wal", 1, 1]
    catalogue.close()


def test_what_sqlite_acknowledged_outlasts_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is taken to be on disk as it was when we last waited for the disk."""
    flushed: list[dict[str, bytes]] = []
    synced: list[int] = []

    def flush(descriptor: int) -> None:
        os.fsync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)
        flushed.append({name: (tmp_path / name).read_bytes() for name in ("catalogue.db", "catalogue.db-wal")})

    monkeypatch.setattr(os, "fdatasync", flush)
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/catalogue.db")
    add(catalogue, "http://a.ee/")
    assert set(synced) == {(tmp_path / "catalogue.db-wal").stat().st_ino, tmp_path.stat().st_ino}
    for name, content in flushed[-1].items():
        (tmp_path / "later").mkdir(exist_ok=True)
        (tmp_path / "later" / name).write_bytes(content)
    catalogue.close()
    later = open_catalogue(f"sqlite:///{tmp_path}/later/catalogue.db")
    assert later.totals(now=at(0)).resources == 1
    later.close()


def test_a_log_that_does_not_reach_the_disk_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/catalogue.db")

    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(DiskFull, match="the disk is full"):
        add(catalogue, "http://a.ee/")
    catalogue.close()


def test_a_full_disk_is_called_one_and_nothing_is_half_stored(tmp_path: Path) -> None:
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/catalogue.db")
    source = add(catalogue, "http://a.ee/")

    def cap(connection: Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")

    catalogue.database.read(cap)
    many = findings(*(f"http://b.ee/{n}" for n in range(5000)))
    with pytest.raises(DiskFull, match="the disk is full"):
        catalogue.take_in(source, many, cursor=b"9", counts={}, now=at(1))
    assert catalogue.source(source.id) == source
    assert catalogue.totals(now=at(1)).resources == 1
    catalogue.close()


_LIMITED = """
import resource, signal, sys
from rehi.engines.sql import open_catalogue
from rehi.errors import RehiError
from rehi.testing.contracts.catalogue_samples import add
catalogue = open_catalogue(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    add(catalogue, *(f"http://b.ee/{n}" for n in range(20_000)))
except RehiError as error:
    print(type(error).__name__, error)
"""


def test_a_file_that_may_not_grow_ends_in_one_sentence(tmp_path: Path) -> None:
    assert resource.RLIMIT_FSIZE
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, f"sqlite:///{tmp_path}/catalogue.db"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.stdout.startswith(("DiskFull", "EngineError"))
    assert "the disk is full" in done.stdout or "make room and start again" in done.stdout
    assert "Traceback" not in done.stderr
    later = open_catalogue(f"sqlite:///{tmp_path}/catalogue.db")  # there is room again
    assert later.totals(now=at(0)).resources == 0
    add(later, *(f"http://b.ee/{n}" for n in range(20_000)))
    assert later.totals(now=at(0)).resources == 20_000
    later.close()


def test_an_unreachable_server_is_named_without_its_password() -> None:
    with pytest.raises(EngineError, match="can't be used") as caught:
        open_catalogue("postgresql://rehi:geheim@127.0.0.1:1/rehi")
    assert "geheim" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_password_and_a_missing_database_are_named(postgres: PostgresServer, postgres_uri: str) -> None:
    with pytest.raises(EngineError, match="password authentication failed") as caught:
        open_catalogue(postgres.guarded_uri("tests", "wrong-one"))
    assert "wrong-one" not in str(caught.value)
    with pytest.raises(EngineError, match="does not exist"):
        open_catalogue(postgres_uri.replace("/tests", "/nowhere"))


def test_what_the_server_refuses_within_a_bulk_is_one_sentence(postgres: PostgresServer, postgres_uri: str) -> None:
    catalogue = open_catalogue(postgres.schema_uri(postgres_uri, "refusal"))
    with pytest.raises(EngineError, match="can't be used"):
        add(catalogue, "http://a.ee/\0")
    add(catalogue, "http://a.ee/")
    assert catalogue.totals(now=at(0)).resources == 1
    catalogue.close()


def test_without_psycopg_the_cure_is_named(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ModuleNotFoundError('psycopg', name='psycopg')\n")
    code = (
        "from rehi.engines.sql import open_catalogue\nfrom rehi.errors import EngineError\n"
        "try:\n    open_catalogue('postgresql://a@127.0.0.1:1/b')\nexcept EngineError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert 'install "rehi[postgres]"' in done.stdout, done.stderr


def test_psycopg_is_loaded_only_when_it_is_used() -> None:
    code = "import sys, rehi.engines.sql\nprint('psycopg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.strip() == "False", done.stderr

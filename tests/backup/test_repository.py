"""The repository: what it promises to those who write, read and prune at once, and what it refuses to believe."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from rehi.backup import Backup, BackupPart, Repository, prune, verify, writing
from rehi.backup.manifest import decode, decode_files, encode_files
from rehi.backup.repository_lock import HELD
from rehi.engines.backup_folder import FolderBackups
from rehi.engines.sql import open_catalogue
from rehi.errors import BackupBusy, BackupDamaged, EngineError, NotFound, StoreVersionError
from rehi.model.pieces import cut_lines, join_lines

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(FolderBackups(tmp_path / "backups"))


def make(repository: Repository, clock: Clock, *contents: bytes, worker: str = "w") -> Backup:
    with writing(repository, clock) as writer:
        for number, content in enumerate(contents):
            writer.add(BackupPart.ARCHIVE, f"{number}.warc.gz", [content])
        return writer.finish(lambda backup: replace(backup, worker=worker), now=clock())


def content_of(repository: Repository, backup: Backup) -> list[bytes]:
    return [b"".join(repository.read(file)) for file in repository.files(backup)]


def test_pruning_leaves_what_the_others_need(repository: Repository, clock: Clock) -> None:
    make(repository, clock, b"shared", b"first")
    second = make(repository, clock, b"shared", b"second")
    other = make(repository, clock, b"other", worker="v")
    assert (second.number, second.new_chunks) == (2, 2)  # the second file, and the list
    would = prune(repository, keep=1, clock=clock, dry_run=True)
    assert repository.numbers() == [1, 2, 3]
    assert prune(repository, keep=1, clock=clock) == would
    assert (would.backups, would.chunks, would.kept) == ((1,), 2, 2)
    assert content_of(repository, second) == [b"shared", b"second"]
    assert content_of(repository, other) == [b"other"]
    assert verify(repository, repository.backups()).ok


def test_nobody_prunes_while_somebody_writes_and_the_other_way_round(repository: Repository, clock: Clock) -> None:
    make(repository, clock, b"one")
    with writing(repository, clock):
        with pytest.raises(BackupBusy, match=rf"process {os.getpid()} on {socket.gethostname()}"):
            prune(repository, keep=1, clock=clock)
        assert make(repository, clock, b"two").number == 2  # others may write
    prune(repository, keep=1, clock=clock)
    assert list(repository.store.list("locks")) == []


def leave_lock(repository: Repository, *, machine: str, process: int, use: str = "write") -> None:
    until = (NOON + HELD).isoformat()
    row = {"use": use, "machine": machine, "process": process, "until": until}
    repository.store.write("locks/left.json", json.dumps(row).encode())


def test_who_was_killed_is_waited_for_only_where_that_can_t_be_known(repository: Repository, clock: Clock) -> None:
    make(repository, clock, b"one")
    leave_lock(repository, machine=socket.gethostname(), process=2**22 + 1)  # no process has such a number
    prune(repository, keep=1, clock=clock)
    leave_lock(repository, machine="elsewhere", process=1, use="delete")
    with pytest.raises(BackupBusy, match="process 1 on elsewhere"):
        make(repository, clock, b"two")
    clock.now += HELD + timedelta(seconds=1)
    assert make(repository, clock, b"two").number == 2


def test_a_backup_that_was_away_too_long_while_somebody_pruned_is_not_finished(
    repository: Repository, clock: Clock
) -> None:
    make(repository, clock, b"one")
    with writing(repository, clock) as writer:
        writer.add(BackupPart.ARCHIVE, "a", [b"two"])
        clock.now += HELD + timedelta(seconds=1)
        prune(repository, keep=1, clock=clock)
        with pytest.raises((BackupBusy, BackupDamaged)):
            writer.finish(lambda backup: backup, now=clock())
    assert repository.numbers() == [1]
    assert verify(repository, repository.backups()).ok


def test_the_newest_of_several_workers_must_be_named(repository: Repository, clock: Clock) -> None:
    first = make(repository, clock, b"one")
    clock.now += timedelta(days=1)
    second = make(repository, clock, b"two")
    assert repository.newest() == second
    assert repository.newest(until=NOON) == first
    with pytest.raises(NotFound, match="from before"):
        repository.newest(until=NOON - timedelta(days=1))
    make(repository, clock, b"three", worker="v")
    with pytest.raises(NotFound, match=r"several workers \(v, w\): name one by its number, with --at"):
        repository.newest()
    assert repository.newest(worker="w") == second


@pytest.mark.parametrize(
    "change",
    [{"path": "../../etc/passwd"}, {"path": "/etc/passwd"}, {"path": "a/../b"}, {"path": "a\0b"}, {"path": ""},
     {"part": "elsewhere"}, {"size": -1}, {"chunks": ["../../x"]}, {"chunks": "ab"}],
    ids=lambda change: json.dumps(change),
)  # fmt: skip
def test_a_list_of_files_that_leads_elsewhere_is_refused(change: dict[str, object]) -> None:
    row = {"part": "archive", "path": "a", "size": 1, "chunks": [], "modified": 0, "sealed": False}
    assert len(list(decode_files([json.dumps(row).encode()]))) == 1
    with pytest.raises(BackupDamaged):
        list(decode_files([json.dumps(row | change).encode()]))


def test_what_a_newer_rehi_has_made_is_left_alone(repository: Repository, clock: Clock) -> None:
    make(repository, clock, b"one")
    repository.store.write("repository.json", b'{"what": "backups of rehi", "format": 2}')
    with pytest.raises(StoreVersionError, match="upgrade rehi"):
        repository.backups()
    with pytest.raises(StoreVersionError, match="upgrade rehi"):
        make(repository, clock, b"two")
    repository.store.write("repository.json", b"[]")
    with pytest.raises(BackupDamaged, match="not of rehi"):
        repository.backups()


def test_pieces_of_lines_stay_the_same_around_an_insertion() -> None:
    def lines(*numbers: int) -> Iterator[tuple[bytes, bytes]]:
        return ((b"%d" % number, b"line %d\n" % number) for number in numbers)

    before = list(cut_lines(lines(*range(0, 4000, 2)), every=50))
    after = list(cut_lines(lines(*range(0, 2000, 2), 1999, *range(2000, 4000, 2)), every=50))
    assert len(before) > 20
    assert len(set(after) - set(before)) <= 2
    assert list(join_lines(before)) == [line.rstrip() for _, line in lines(*range(0, 4000, 2))]


def test_files_are_listed_as_they_were(repository: Repository, clock: Clock) -> None:
    with writing(repository, clock) as writer:
        file = writer.add(BackupPart.DERIVED, "torn/ä b.warc.gz", [b"1", b"22"], modified=7, sealed=True)
    assert (file.size, file.chunks) == (3, (sha256(b"1").hexdigest(), sha256(b"22").hexdigest()))
    assert list(decode_files(encode_files([file]))) == [file]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 10**6},
        {"version": "x"},
        {"make": {"SQLite": ["DROP TABLE host"]}},
        {"make": {"SQLite": ["CREATE TABLE a (b INTEGER); DROP TABLE host"]}},
        {"index": {}},
        {"tables": {'a" (b) VALUES (1); --': ["b"]}},
    ],
    ids=lambda change: json.dumps(change),
)
def test_a_dump_that_does_something_else_than_make_tables_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/a.db")
    with catalogue.dump() as files:
        dumped = [(name, list(pieces)) for name, pieces in files]
    schema = json.loads(dumped[0][1][0]) | change
    with pytest.raises((EngineError, StoreVersionError)):
        catalogue.load_dump([("schema.json", [json.dumps(schema).encode()]), *dumped[1:]])
    catalogue.load_dump(dumped)  # it is as it was
    catalogue.close()


def test_the_tables_of_a_dump_come_with_it(tmp_path: Path) -> None:
    """Else an older dump could not be loaded when the tables of today are others."""
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/a.db")
    with catalogue.dump() as files:
        dumped = [(name, list(pieces)) for name, pieces in files]
    schema = json.loads(dumped[0][1][0])
    schema["make"]["SQLite"].append("CREATE TABLE of_old (id INTEGER)")
    schema["tables"]["of_old"] = ["id"]
    rows = ("of_old.jsonl", [b"[7]\n"])
    catalogue.load_dump([("schema.json", [json.dumps(schema).encode()]), *dumped[1:], rows])
    catalogue.close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        assert database.execute("SELECT id FROM of_old").fetchall() == [(7,)]


@pytest.mark.parametrize("number", ["Infinity", "NaN", "null", "[]", '"x"', "9" * 5_000])
def test_a_manifest_whose_format_is_no_number_is_damaged(number: str) -> None:
    with pytest.raises(BackupDamaged, match="here is damaged"):
        decode(b'{"format": %s, "sha256": "", "backup": {}}' % number.encode(), where="here")

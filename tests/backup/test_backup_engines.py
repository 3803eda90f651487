"""Backups in a bucket, of a bucket, and of a catalogue on PostgreSQL."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

import pytest

from rehi.app import House
from rehi.app.places import open_shelf
from rehi.engines.backup_folder import FolderBackups
from rehi.engines.bucket import BucketShelf
from rehi.engines.bucket.backups import open_backups
from rehi.errors import EngineError, SettingsError
from rehi.operations.backup import make_backup
from rehi.operations.backups import list_backups, prune_backups, verify_backups
from rehi.ports import BackupStore
from rehi.testing.contracts.backup_store import BackupStoreContract
from rehi.testing.postgres import PostgresServer
from rehi.testing.s3 import BUCKET, S3Server
from rehi.testing.snapshot import take_snapshot
from rehi.testing.waiting import PATIENCE
from tests.backup.conftest import Backed, check_bodies, harvest, settings_of
from tests.backup.test_backup import restore


class TestFolder(BackupStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> BackupStore:
        return FolderBackups(tmp_path / "backups")


class TestBucket(BackupStoreContract):
    @pytest.fixture
    def store(self, s3: S3Server) -> BackupStore:
        return open_backups(f"s3://{BUCKET}/{secrets.token_hex(6)}", endpoint=s3.endpoint)


def test_a_house_goes_into_a_bucket_and_comes_back(backed: Backed, s3: S3Server, tmp_path: Path) -> None:
    settings = settings_of(backed.data, backed.site, archive={"endpoint": s3.endpoint})
    place = f"s3://{BUCKET}/{secrets.token_hex(6)}"
    with House(settings) as house:
        before = take_snapshot(house)
        make_backup(house, place)
        assert make_backup(house, place).backup.new_chunks == 0
        assert prune_backups(house, place, keep=1).backups == (1,)
        assert not verify_backups(house, place).faults
        assert [backup.number for backup in list_backups(house, place)] == [2]
    elsewhere = settings_of(tmp_path / "elsewhere", backed.site, archive={"endpoint": s3.endpoint})
    restore(elsewhere, place)
    with House(elsewhere) as house:
        assert take_snapshot(house) == before


def test_what_lies_in_the_archives_own_bucket_is_backed_up_too(backed: Backed, s3: S3Server, tmp_path: Path) -> None:
    archive = {"endpoint": s3.endpoint, "uri": f"s3://{BUCKET}/{secrets.token_hex(6)}", "local_bytes": 0}
    settings = settings_of(backed.data, backed.site, archive=archive)
    shelf = open_shelf(backed.data / "archive", settings.archive)
    assert isinstance(shelf, BucketShelf)
    shelf.start_uploads()
    (file,) = (path.name for path in backed.data.glob("archive/rehi-*.warc.gz"))
    shelf.seal(file)
    assert shelf.wait(PATIENCE)
    shelf.close()
    assert not (backed.data / "archive" / file).exists()
    with House(settings) as house:
        make_backup(house, backed.place)
        assert make_backup(house, backed.place).backup.new_chunks == 0
        left_out = make_backup(house, f"{backed.place}-local", with_bucket=False).backup
    assert left_out.files == list_backups(House(settings), backed.place)[0].files - 1
    shutil.rmtree(backed.data)
    assert restore(settings, backed.place).left_in_bucket == 1  # the bucket still has it
    with House(settings) as house:
        check_bodies(house)
    other = settings_of(
        tmp_path / "other", backed.site, archive=archive | {"uri": f"s3://{BUCKET}/{secrets.token_hex(6)}"}
    )
    assert restore(other, backed.place).left_in_bucket == 0
    with House(other) as house:
        check_bodies(house)


def test_a_catalogue_goes_from_sqlite_to_postgresql_and_back(
    backed: Backed, postgres: PostgresServer, tmp_path: Path
) -> None:
    with House(backed.settings) as house:
        before = take_snapshot(house)
        make_backup(house, backed.place)
    shared = settings_of(tmp_path / "shared", backed.site, catalogue=postgres.uri("restored"))
    restore(shared, backed.place)
    harvest(shared)
    with House(shared) as house:
        assert take_snapshot(house) == before
        make_backup(house, f"{backed.place}-2")
    again = settings_of(tmp_path / "again", backed.site, catalogue=shared.catalogue)
    with pytest.raises((EngineError, SettingsError), match="not empty"):
        restore(again, f"{backed.place}-2")
    back = settings_of(tmp_path / "back", backed.site)
    restore(back, f"{backed.place}-2")
    with House(back) as house:
        assert take_snapshot(house) == before

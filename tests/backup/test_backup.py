"""A house is backed up and comes back: all of it, each of its parts, beside a harvest, on every engine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rehi.app import House
from rehi.app.places import open_repository
from rehi.backup import BackupFile, BackupPart, Repository
from rehi.backup.chunk import name_of
from rehi.errors import BackupDamaged, DataFolderBusy, EngineError, NotFound, SettingsError
from rehi.operations.backup import BackupResult, make_backup
from rehi.operations.backups import find_backup, prune_backups, verify_backups
from rehi.operations.health import HousePart, examine_house
from rehi.operations.restore import Restored, restore_house, restore_parts
from rehi.settings import Settings
from rehi.testing.snapshot import take_snapshot
from rehi.testing.waiting import PATIENCE, wait_until
from tests.backup.conftest import URLS, Backed, GatedSite, add_urls, check_bodies, harvest, settings_of
from tests.keeper import Keeper, at


def back_up(settings: Settings, place: str, **how: bool) -> BackupResult:
    with House(settings) as house:
        return make_backup(house, place, **how)  # type: ignore[arg-type]


def restore(settings: Settings, place: str, *parts: str, at: str | None = None, force: bool = False) -> Restored:
    repository, backup = find_backup(settings, place, at=at)
    if parts:
        return restore_parts(settings, repository, backup, parts)
    return restore_house(settings, repository, backup, force=force)


def destroy(data: Path, part: str) -> None:
    for path in [data / "catalogue.db", *data.glob("catalogue.db-*")] if part == "catalogue" else [data / part]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_a_house_that_was_lost_comes_back_and_goes_on(backed: Backed) -> None:
    with House(backed.settings) as house:
        before = take_snapshot(house)
        result = make_backup(house, backed.place)
    assert result.backup.graph_is_current
    assert result.backup.notes == ()
    shutil.rmtree(backed.data)
    restored = restore(backed.settings, backed.place)
    assert (restored.worker, restored.graph_anew) == (result.backup.worker, False)
    harvest(backed.settings)  # nothing is due, and nothing is done twice
    with House(backed.settings) as house:
        assert take_snapshot(house) == before
        check_bodies(house)
    assert back_up(backed.settings, backed.place).backup.worker == result.backup.worker


@pytest.mark.parametrize("part", ["catalogue", "archive", "derived", "graph"])
def test_a_part_that_was_lost_comes_back(backed: Backed, part: str) -> None:
    with House(backed.settings) as house:
        before = take_snapshot(house)
        make_backup(house, backed.place)
    destroy(backed.data, part)
    result = restore(backed.settings, backed.place, part)
    assert result.parts == (part,)
    if result.graph_anew:
        assert part in ("catalogue", "graph")
        harvest(backed.settings)
    with House(backed.settings) as house:
        assert take_snapshot(house) == before


def graph_ailments(settings: Settings) -> list[str]:
    with House(settings) as house:
        return [one.why for seen in examine_house(house) for one in seen.ailments if one.part is HousePart.GRAPH]


def test_a_graph_that_is_restored_is_written_again_only_if_the_doctor_finds_it_behind(backed: Backed) -> None:
    back_up(backed.settings, backed.place)
    destroy(backed.data, "graph")
    assert not restore(backed.settings, backed.place, "graph").graph_anew
    with House(backed.settings) as house:
        assert [seen.ailments for seen in examine_house(house, deep=True)] == [()] * 4
        before = take_snapshot(house)
        keeper = Keeper(house)
        keeper.new("http://h0.test/new", b"<p>Katrin Paio", at(1))
        keeper.close()
    harvest(backed.settings)
    assert graph_ailments(backed.settings) == []
    assert restore(backed.settings, backed.place, "graph").graph_anew
    assert graph_ailments(backed.settings) == ["it is older"]
    harvest(backed.settings)
    assert graph_ailments(backed.settings) == []
    with House(backed.settings) as house:
        assert set(before.statements) < set(take_snapshot(house).statements)


def test_a_backup_beside_a_harvest_holds_all_that_its_catalogue_knows(site: GatedSite, tmp_path: Path) -> None:
    settings, place = settings_of(tmp_path / "data", site), str(tmp_path / "backups")
    stop = threading.Event()
    with House(settings) as house:
        add_urls(house, tmp_path)

    def work() -> None:
        with House(settings) as house, house.working() as wheel:
            wheel.run(until_idle=True, stopped=stop.is_set)

    thread, steps = threading.Thread(target=work), iter(range(2, 8))
    site.gated = True
    try:
        with House(settings) as house:
            site.let_out(2)
            thread.start()

            def versions() -> int:
                return house.catalogue.totals(now=house.catalogue.clock()).versions

            def let_one_more_out(_: int) -> None:
                """Between two steps of the backup, the harvest brings another page and commits it."""
                if (step := next(steps, None)) is not None:
                    site.let_out()
                    wait_until(lambda: versions() > step, what="another page is kept")

            wait_until(lambda: versions() >= 2, what="two pages are kept")
            make_backup(house, place, on_progress=let_one_more_out)
            known_after = versions()
    finally:
        stop.set()
        site.let_out(100)
        thread.join(PATIENCE)
        site.gated = False
    assert not thread.is_alive()
    assert known_after > 4  # the harvest went on meanwhile
    elsewhere = settings_of(tmp_path / "elsewhere", site)
    restore(elsewhere, place)
    with House(elsewhere) as house:
        check_bodies(house, least=2)
    harvest(elsewhere)
    with House(elsewhere) as house:
        check_bodies(house)
        assert [len(house.catalogue.versions(url)) for url in URLS] == [1] * len(URLS)
        restored = take_snapshot(house)
    harvest(settings)
    with House(settings) as house:
        undisturbed = take_snapshot(house)
    assert restored.texts == undisturbed.texts
    assert restored.names == undisturbed.names
    assert restored.statements == undisturbed.statements


def test_the_next_backup_stores_only_what_is_new(backed: Backed) -> None:
    first = back_up(backed.settings, backed.place).backup
    again = back_up(backed.settings, backed.place)
    assert (again.backup.new_chunks, again.backup.new_bytes) == (0, 0)
    assert again.reused_files > 2
    assert again.backup.chunks == first.chunks
    read = back_up(backed.settings, backed.place, read_all=True)
    assert (read.backup.new_chunks, read.reused_files) == (0, 0)
    with House(backed.settings) as house:
        keeper = Keeper(house)
        keeper.new("http://new.test/", os.urandom(9_000_000), at(1))
        keeper.close()
    repository = open_repository(backed.place, backed.settings.archive)
    before = {digest for digest, _ in repository.chunk_sizes()}
    more = back_up(backed.settings, backed.place).backup
    assert len(dict(repository.chunk_sizes()).keys() - before) == more.new_chunks
    assert 9_000_000 < more.new_bytes < 9_300_000
    with House(backed.settings) as house:
        keeper = Keeper(house)
        keeper.new("http://new.test/2", os.urandom(1000), at(2))
        keeper.close()
    last = back_up(backed.settings, backed.place).backup
    assert last.new_bytes < 4 << 20  # of the archive's file only its last piece
    assert not verify_backups(House(backed.settings), backed.place).faults


def damage(repository: Repository, which: Callable[[BackupFile], bool]) -> Path:
    """Flip a bit in the first chunk of a file."""
    file = next(file for file in repository.files(repository.newest()) if which(file))
    path = Path(repository.where) / name_of(file.chunks[0])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path


def test_a_flipped_bit_is_noticed_refused_and_mended(backed: Backed) -> None:
    back_up(backed.settings, backed.place)
    bad = damage(open_repository(backed.place, backed.settings.archive), lambda file: file.part is BackupPart.ARCHIVE)
    with House(backed.settings) as house:
        done = verify_backups(house, backed.place)
        assert [digest[:16] for digest in done.damaged] == [bad.name[:16]]
        assert len(done.faults) == 1
        assert "archive/rehi-" in done.faults[0]
        elsewhere = backed.settings.model_copy(update={"data": backed.data.with_name("elsewhere")})
        with pytest.raises(BackupDamaged, match=r"the chunk [0-9a-f]{16}… in .* is damaged; `rehi backup verify`"):
            restore(elsewhere, backed.place)
        assert not elsewhere.data.exists()  # what is half restored is no house
        verify_backups(house, backed.place, mend=True)
        assert make_backup(house, backed.place, read_all=True).backup.new_chunks == 1
        assert not verify_backups(house, backed.place).faults
    restore(elsewhere, backed.place)
    with House(elsewhere) as house:
        check_bodies(house)


def test_a_chunk_that_is_missing_and_a_manifest_that_was_changed_are_noticed(backed: Backed) -> None:
    result = back_up(backed.settings, backed.place)
    repository = open_repository(backed.place, backed.settings.archive)
    file = next(file for file in repository.files(result.backup) if file.part is BackupPart.GRAPH and file.size)
    (Path(backed.place) / name_of(file.chunks[0])).unlink()
    with House(backed.settings) as house:
        done = verify_backups(house, backed.place, percent=0)
        assert (done.missing, done.read) == ([file.chunks[0]], 0)
        manifest = Path(backed.place) / "backups" / "00000001.json"
        manifest.write_text(manifest.read_text().replace(result.backup.worker, "somebody-else"))
        with pytest.raises(BackupDamaged, match="not the manifest that was written"):
            verify_backups(house, backed.place)


KILLED = """
import os, signal, sys
from pathlib import Path
from rehi.app import House
from rehi.engines.backup_folder import FolderBackups
from rehi.operations.backup import make_backup
from rehi.settings import load_settings

name, left = sys.argv[3], int(sys.argv[4])
method = getattr(FolderBackups, name)

def die(self, *words):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return method(self, *words)

setattr(FolderBackups, name, die)
with House(load_settings(data=Path(sys.argv[1]))) as house:
    make_backup(house, sys.argv[2])
"""


@pytest.mark.parametrize(("method", "count"), [("write", 3), ("write", 20), ("create", 1)])
def test_a_backup_that_is_killed_hurts_no_other(backed: Backed, method: str, count: int) -> None:
    first = back_up(backed.settings, backed.place).backup
    with House(backed.settings) as house:
        keeper = Keeper(house)
        for number in range(40):
            keeper.new(f"http://h{number}.test/", os.urandom(100), at(number))
        keeper.close()
        (backed.data / "sources").mkdir(exist_ok=True)
        for number in range(20):
            (backed.data / "sources" / f"list-{number}.txt").write_text(f"http://h{number}.test/")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(backed.data), backed.place, method, str(count)],
        timeout=PATIENCE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    with House(backed.settings) as house:
        assert open_repository(backed.place, house.settings.archive).numbers() == [1]
        assert not verify_backups(house, backed.place).faults
        second = make_backup(house, backed.place).backup
        assert (second.number, second.bytes > first.bytes) == (2, True)
        assert prune_backups(house, backed.place, keep=1).backups == (1,)  # the lock of who was killed is no hindrance
        assert not verify_backups(house, backed.place).faults


def test_what_is_there_is_not_overwritten(backed: Backed) -> None:
    back_up(backed.settings, backed.place)
    with pytest.raises(SettingsError, match=r"is not empty: name another folder with --to, or use --force"):
        restore(backed.settings, backed.place)
    with House(backed.settings) as house, house.working(), pytest.raises(DataFolderBusy):
        restore(backed.settings, backed.place, force=True)
    (backed.data / "mine.txt").write_text("mine")
    result = restore(backed.settings, backed.place, force=True)
    assert result.aside is not None
    assert (result.aside / "mine.txt").read_text() == "mine"
    assert not (backed.data / "mine.txt").exists()
    with House(backed.settings) as house:
        check_bodies(house)


def test_a_damaged_file_that_has_grown_is_mended_and_keeps_what_came_later(backed: Backed) -> None:
    back_up(backed.settings, backed.place)
    with House(backed.settings) as house:
        keeper = Keeper(house)
        version = keeper.new("http://h0.test/new", b"later", at(1))
        keeper.close()
    (file,) = backed.data.glob("archive/rehi-*.warc.gz")
    content = file.read_bytes()
    file.write_bytes(content[:500] + bytes(300) + content[800:])
    result = restore(backed.settings, backed.place, "archive")
    assert file.read_bytes() == content
    assert result.aside is not None
    assert (result.aside / "archive" / file.name).stat().st_size == len(content)
    with House(backed.settings) as house, house.archive.open_body(version.body) as body:
        assert body.read() == b"later"


def test_what_is_damaged_or_gone_in_the_house_is_said_and_stops_nothing(backed: Backed) -> None:
    (file,) = backed.data.glob("archive/rehi-*.warc.gz")
    whole = file.read_bytes()
    file.write_bytes(whole[:500] + bytes(300) + whole[800:])
    assert back_up(backed.settings, backed.place).backup.files
    file.write_bytes(whole[:-10])
    notes = back_up(backed.settings, backed.place).backup.notes
    assert notes == (f"archive/{file.name} is shorter than the catalogue says",)
    file.write_bytes(whole)
    back_up(backed.settings, backed.place)
    file.unlink()
    notes = back_up(backed.settings, backed.place, read_all=True).backup.notes
    assert notes == (f"archive/{file.name} is gone: this backup has it as it was in the last one",)
    restore(backed.settings, backed.place, "archive")
    assert file.read_bytes() == whole


def test_a_file_that_was_adopted_is_in_the_backup(backed: Backed, tmp_path: Path) -> None:
    outside = tmp_path / "outside.warc"
    outside.write_bytes(b"WARC/1.0\r\n" * 100)
    with House(backed.settings) as house:
        name = house.adopt(outside)
        make_backup(house, backed.place)
    outside.unlink()
    shutil.rmtree(backed.data)
    restore(backed.settings, backed.place)
    assert (backed.data / "archive" / name).read_bytes() == b"WARC/1.0\r\n" * 100


def test_no_secret_is_in_a_backup(backed: Backed) -> None:
    secret = "a-planted-secret"
    hosts = [{"match": "a.test", "headers": {"X-Key": secret}, "proxy": f"http://me:{secret}@proxy:3128"}]
    fetch = backed.settings.fetch.model_dump() | {"hosts": hosts}
    settings = settings_of(backed.data, backed.site, serve={"token": secret}).model_copy(
        update={"fetch": type(backed.settings.fetch)(**fetch)}
    )
    backup = back_up(settings, backed.place).backup
    assert secret not in str(backup)
    repository = open_repository(backed.place, settings.archive)
    chunks = [repository.read_chunk(digest) for digest, _ in repository.chunk_sizes()]
    assert not [chunk for chunk in chunks if secret.encode() in chunk]


def test_a_place_must_be_apart_and_hold_backups_or_nothing(backed: Backed, tmp_path: Path) -> None:
    with House(backed.settings) as house:
        for place in (backed.data, backed.data / "backups", tmp_path):
            with pytest.raises(SettingsError, match="lie in each other"):
                make_backup(house, str(place))
        (tmp_path / "photos").mkdir()
        (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
        with pytest.raises(NotFound, match="something else than backups"):
            make_backup(house, str(tmp_path / "photos"))
        with pytest.raises(NotFound, match="there are no backups in"):
            find_backup(house.settings, str(tmp_path / "nothing"))
        with pytest.raises(SettingsError, match="is no place for backups"):
            make_backup(house, "s3://bucket/a b")


def test_parts_of_another_worker_are_refused(backed: Backed) -> None:
    back_up(backed.settings, backed.place)
    (backed.data / "worker").write_text("somebody-else")
    with pytest.raises(SettingsError, match="somebody-else's, and the backup is"):
        restore(backed.settings, backed.place, "archive")


def test_a_catalogue_that_is_not_empty_is_refused_before_anything_is_written(backed: Backed, tmp_path: Path) -> None:
    back_up(backed.settings, backed.place)
    elsewhere = settings_of(tmp_path / "elsewhere", backed.site, catalogue=f"sqlite:///{backed.data}/catalogue.db")
    with pytest.raises((SettingsError, EngineError), match="not empty"):
        restore(elsewhere, backed.place)
    assert not elsewhere.data.exists()

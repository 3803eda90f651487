"""The folder shelf: the contract, and what only a real disk does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rehi.engines.folder import FolderShelf
from rehi.errors import EngineError, RecordMissing
from rehi.model.version import RecordRef
from rehi.ports import Shelf
from rehi.testing.contracts.shelf import ShelfContract
from rehi.testing.waiting import PATIENCE


class TestFolderShelf(ShelfContract):
    @pytest.fixture
    def open_shelf(self, tmp_path: Path) -> Iterator[Callable[[], Shelf]]:
        opened: list[FolderShelf] = []

        def open_shelf() -> Shelf:
            opened.append(FolderShelf(tmp_path / "shelf"))
            return opened[-1]

        yield open_shelf
        for shelf in opened:
            shelf.close()


def test_looking_at_a_shelf_makes_no_folder(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path / "shelf")
    assert shelf.files() == []
    with pytest.raises(RecordMissing):
        shelf.open(RecordRef("a.bin", 0, 1))
    shelf.close()
    assert not (tmp_path / "shelf").exists()


def test_a_torn_tail_is_kept_beside_the_files(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path)
    for tail in (b"torn once", b"torn twice"):
        shelf.append("a.bin", [tail])
        shelf.set_aside("a.bin", 0)
    shelf.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "torn"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "torn").iterdir()} == {
        "a.bin.0": b"torn once",
        "a.bin.0.1": b"torn twice",
    }


def test_a_file_that_shrinks_under_a_reader_is_reported_and_does_not_hang(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path)
    ref = shelf.append("a.bin", [b"x" * 200_000])
    with shelf.open(ref) as stream:
        assert len(stream.read(10)) == 10
        shelf.set_aside("a.bin", 100)
        with pytest.raises(RecordMissing):
            stream.read()
    shelf.close()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    shelf = FolderShelf(tmp_path / "taken" / "shelf")
    with pytest.raises(EngineError, match="can't be made"):
        shelf.append("a.bin", [b"x"])


FULL = """
import resource, sys
from pathlib import Path
from rehi.engines.folder import FolderShelf
from rehi.errors import DiskFull

shelf = FolderShelf(Path(sys.argv[1]))
path = Path(sys.argv[1]) / "a.bin"

def fails(step):
    try:
        step()
    except DiskFull as error:
        print(error)
    else:
        raise AssertionError("the disk was not full")

shelf.append("a.bin", [b"x" * 60_000])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
fails(lambda: shelf.append("a.bin", [b"y" * 30_000, b"y" * 90_000]))
assert shelf.files() == [("a.bin", 60_000)], shelf.files()
assert shelf.append("a.bin", [b"z" * 10_000]).offset == 60_000
shelf.sync()
held = shelf.append("a.bin", [b"u" * 50_000])
fails(shelf.sync)
fails(lambda: shelf.append("a.bin", [b"v" * 50_000]))
assert path.stat().st_size == held.offset == 70_000
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert shelf.append("a.bin", [b"y" * 60_000]).offset == held.end == 120_000
shelf.close()
"""


def test_when_the_disk_is_full_the_file_stays_whole_and_room_lets_it_go_on(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "full; make room" in done.stdout
    assert (tmp_path / "a.bin").read_bytes() == b"x" * 60_000 + b"z" * 10_000 + b"u" * 50_000 + b"y" * 60_000

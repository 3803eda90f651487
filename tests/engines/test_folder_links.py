"""A link in the archive's folder is to a file of somebody else's: it is read, and never written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehi.engines.folder import FolderShelf
from rehi.errors import EngineError
from rehi.model.version import RecordRef


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    path = tmp_path / "theirs.warc.gz"
    path.write_bytes(b"0123456789")
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "adopted-x.warc").symlink_to(path)
    return path


def test_it_is_read_and_listed_like_a_file(theirs: Path) -> None:
    shelf = FolderShelf(theirs.parent / "archive")
    assert shelf.open(RecordRef("adopted-x.warc", 2, 3)).read() == b"234"
    assert (shelf.files(), shelf.has("adopted-x.warc")) == ([("adopted-x.warc", 10)], True)


def test_it_is_never_appended_to_or_cut(theirs: Path) -> None:
    shelf = FolderShelf(theirs.parent / "archive")
    with pytest.raises(EngineError):
        shelf.append("adopted-x.warc", [b"x"])
    with pytest.raises(EngineError):
        shelf.set_aside("adopted-x.warc", 5)
    assert theirs.read_bytes() == b"0123456789"


def test_to_remove_or_replace_it_leaves_the_file(theirs: Path) -> None:
    shelf = FolderShelf(theirs.parent / "archive")
    shelf.put("adopted-x.warc", [b"ours"])
    shelf.remove("adopted-x.warc")
    assert (theirs.read_bytes(), shelf.files()) == (b"0123456789", [])


def test_one_that_leads_nowhere_is_not_there(theirs: Path) -> None:
    theirs.unlink()
    shelf = FolderShelf(theirs.parent / "archive")
    assert (shelf.files(), shelf.has("adopted-x.warc")) == ([], False)

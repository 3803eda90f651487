"""A zip file that is written as it goes, read by Python's own module."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rehi.errors import RecordDamaged
from rehi.operations.zip_stream import ZipStream

NOON = datetime(2026, 3, 1, 12, 30, 6, tzinfo=UTC)


def broken() -> Iterator[bytes]:
    yield b"half"
    raise RecordDamaged("the rest is gone")


def test_every_entry_is_whole_and_has_its_time() -> None:
    zipped = ZipStream()
    parts = [*zipped.add("a/õ.txt", [b"tere ", b"tere"], at=NOON, size=9)]
    parts += [*zipped.add("b.bin", [bytes(1000)], at=NOON, size=1000, packed=True)]
    parts += [*zipped.add("empty", [], at=datetime(1970, 1, 1, tzinfo=UTC), size=0), *zipped.end()]
    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as file:
        assert file.testzip() is None
        assert file.namelist() == ["a/õ.txt", "b.bin", "empty"]
        assert file.read("a/õ.txt") == b"tere tere"
        assert file.infolist()[0].date_time == (2026, 3, 1, 12, 30, 6)
        assert file.infolist()[2].date_time == (1980, 1, 1, 0, 0, 0)
        assert file.read("b.bin") == bytes(1000)


def test_an_entry_that_breaks_off_leaves_a_file_that_can_be_read() -> None:
    zipped, out = ZipStream(), io.BytesIO()
    for name, chunks, size in (("torn", broken(), 100), ("long", iter([b"12", b"345"]), 4)):
        with pytest.raises(RecordDamaged):
            out.writelines(zipped.add(name, chunks, at=NOON, size=size))
    out.writelines([*zipped.add("good", [b"x"], at=NOON, size=1), *zipped.end()])
    with zipfile.ZipFile(out) as file:
        assert file.testzip() is None
        assert [file.read(name) for name in file.namelist()] == [b"half", b"12", b"x"]


def test_more_entries_and_larger_ones_than_the_old_fields_can_hold(tmp_path: Path) -> None:
    before, path = 5 << 30, tmp_path / "large.zip"  # the file has a hole of 5 GB in front, which takes no room
    zipped = ZipStream(offset=before)
    with path.open("wb") as file:
        file.seek(before)
        file.writelines(zipped.add("huge", [b"x" * 1000], at=NOON, size=6 << 30))
        for number in range(66_000):
            file.writelines(zipped.add(f"{number}", [b"%d" % number], at=NOON, size=9))
        file.writelines(zipped.end())
    with zipfile.ZipFile(path) as file_read:
        assert len(file_read.namelist()) == 66_001
        assert file_read.read("huge") == b"x" * 1000
        assert file_read.read("65999") == b"65999"

"""Holes of 64 bytes all over a catalogue's file: each that changes a value, or the structure, is found."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rehi.app.embedded import embedded_catalogue
from rehi.operations.health import mend
from tests.health.conftest import settings_of
from tests.health.damage import HOLE

PAGE = 4096
MENDED = 3  # holes of each kind after which the house is mended: each takes seconds
PLACES = (0, 8, 40, PAGE // 2, PAGE - 700, PAGE - 300, PAGE - 150, PAGE - HOLE)  # head, cell pointers, and cells


def dump(path: Path) -> object:
    """All that a query could return, or the complaint."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.text_factory = bytes
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
            return {name: sorted(map(repr, _rows(connection, name.decode()))) for (name,) in tables}
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)


@pytest.mark.parametrize("zeros", [True, False], ids=["zeros", "others"])
def test_after_mending_nothing_ails_the_house(data: Path, tmp_path: Path, zeros: bool) -> None:
    whole, before = (data / "catalogue.db").read_bytes(), dump(data / "catalogue.db")
    lot, mended = random.Random(11), 0
    while mended < MENDED:
        offset = lot.randrange(0, len(whole), PAGE) + lot.choice(PLACES)
        hole = bytes(HOLE) if zeros else lot.randbytes(HOLE)
        (data / "catalogue.db").write_bytes(whole[:offset] + hole + whole[offset + HOLE :])
        if dump(data / "catalogue.db") == before:
            continue
        mended += 1
        house = Path(shutil.copytree(data, tmp_path / f"house-{mended}"))
        done = mend(settings_of(house))
        assert (done.ailing, done.lost, done.records) == ([], [], []), offset
        assert done.done, offset
        assert mend(settings_of(house)).done == [], offset


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[object]:
    yield from connection.execute(f'SELECT * FROM "{table}"')


@pytest.mark.parametrize("zeros", [True, False], ids=["zeros", "others"])
def test_each_hole_that_changes_anything_is_found(data: Path, zeros: bool) -> None:
    path = data / "catalogue.db"
    whole, before = path.read_bytes(), dump(path)
    lot, harmful, missed = random.Random(7), 0, []
    file = embedded_catalogue(settings_of(data))
    assert file is not None
    assert list(file.faults(deep=True)) == []
    for offset in (page + place for page in range(0, len(whole), PAGE) for place in lot.sample(PLACES, 2)):
        hole = bytes(HOLE) if zeros else lot.randbytes(HOLE)
        path.write_bytes(whole[:offset] + hole + whole[offset + HOLE :])
        if dump(path) != before:
            harmful += 1
            if not list(file.faults(deep=True)):
                missed.append(offset)
    assert harmful > 20
    assert missed == []

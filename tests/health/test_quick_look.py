"""A quick look at a large catalogue: rows of each table by lot come first, and what was not looked at is not called well."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rehi.app import House
from rehi.engines.sql.integrity import _check_lots, _TimeLimit, find_faults
from rehi.engines.sql.sampling import LOTS, ROWS, TableSample
from rehi.engines.sql.tables import metadata
from rehi.operations.sources import enter, read_in
from tests.health.conftest import settings_of

URLS = 30_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue with some more rows than lots are drawn."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "urls.txt").write_text("".join(f"http://h{n % 9}.test/{n}\n" for n in range(URLS)), encoding="ascii")
    with House(settings_of(folder / "data")) as house:
        read_in(house, enter(house, str(folder / "urls.txt")).id)
    return folder / "data" / "catalogue.db"


@pytest.fixture
def connection(large: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(large, isolation_level=None)) as opened:
        opened.text_factory = bytes
        opened.execute("BEGIN")  # what a test changes is taken back
        yield opened


@pytest.mark.parametrize("name", ["resource", "finding"])
def test_rows_are_drawn_from_all_of_a_table(connection: sqlite3.Connection, name: str) -> None:
    table = metadata.tables[name]
    sample, key = TableSample(table), table.columns.keys().index("id" if name == "resource" else "resource_id")
    drawn = [row[key] for row in sample.rows(connection, random.Random(7))]
    assert sample.drawn == len(drawn) <= LOTS * ROWS
    assert sample.total == pytest.approx(URLS, rel=0.1)
    tenths = {number * 10 // (URLS + 1) for number in drawn}
    assert tenths == set(range(10))


def test_a_small_table_is_read_as_a_whole(connection: sqlite3.Connection) -> None:
    sample = TableSample(metadata.tables["host"])
    assert len(list(sample.rows(connection, random.Random(7)))) == sample.drawn == sample.total == 9


@pytest.mark.parametrize(
    ("table", "change"),
    [("resource", "due_at = -7"), ("finding", "claims = 'no JSON'"), ("host", "lease_until = -7")],
    ids=["resource", "finding", "host"],
)
def test_wrong_values_are_found_by_lot(connection: sqlite3.Connection, table: str, change: str) -> None:
    connection.execute(f"UPDATE {table} SET {change}")
    looked: list[str] = []
    assert {fault.table for fault in _check_lots(connection, _TimeLimit(), {}, looked)} == {table}
    assert "of about" in looked[0]


def test_without_time_it_says_how_little_was_looked_at(large: Path) -> None:
    (fault,) = find_faults(large, deep=False, budget=0.0)
    assert fault.unread
    assert re.fullmatch(r"rows of \d+ of \d+ tables", fault.why)


def test_with_time_all_of_it_is_looked_at(large: Path) -> None:
    assert list(find_faults(large, deep=False, budget=600.0)) == []


def test_what_is_found_by_lot_is_said_though_the_time_is_up_then(large: Path, tmp_path: Path) -> None:
    path = tmp_path / "catalogue.db"
    path.write_bytes(large.read_bytes())
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE resource SET due_at = -7")
    faults = find_faults(path, deep=False, budget=600.0)
    assert next(faults).table == "resource"

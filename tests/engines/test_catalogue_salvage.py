"""Salvage from a catalogue that answers with nonsense: it comes to an end."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from rehi.engines.sql.salvage import _rows_between, salvage


class Nonsense:
    """A connection to a table whose first key is damaged, and whose pages can't be read after it."""

    def __init__(self, key: object) -> None:
        self._key = key

    def execute(self, _query: str, bounds: tuple[int, int]) -> Iterator[tuple[object, str]]:
        if bounds[0] < 0:
            yield self._key, "a row"
        raise sqlite3.DatabaseError("database disk image is malformed")


class BackwardsTable:
    """A connection to a table whose keys are out of order, so that a seek leads to a smaller one."""

    def execute(self, _query: str, _bounds: tuple[int, int]) -> Iterator[tuple[object, str]]:
        yield 3, "a row"
        raise sqlite3.DatabaseError("database disk image is malformed")


def test_a_key_from_before_the_range_does_not_make_it_larger() -> None:
    connection = cast(sqlite3.Connection, BackwardsTable())
    assert ["a row"] in list(_rows_between(connection, "SELECT", -1, (1 << 62) - 1, Counter()))


@pytest.mark.parametrize("key", [1.5, 4e18], ids=["small", "large"])
def test_a_key_that_is_no_whole_number_is_passed_over(key: float) -> None:
    connection = cast(sqlite3.Connection, Nonsense(key))
    assert ["a row"] in list(_rows_between(connection, "SELECT", -1, (1 << 62) - 1, Counter()))


def test_of_a_file_that_is_no_database_nothing_is_brought_over(tmp_path: Path) -> None:
    (tmp_path / "old.db").write_bytes(b"no database at all" * 1000)
    rows = salvage(tmp_path / "old.db", tmp_path / "new.db")
    assert not any(rows.copied.values())
    assert rows.left_out["source"] == rows.left_out["orders"] == 1

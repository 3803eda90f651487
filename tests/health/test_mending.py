"""Each part of a small house is damaged and mended: nothing ails it then, and it says what it said before."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rehi.app import House, lock_folder
from rehi.errors import DataFolderBusy
from rehi.model.listing import DocumentFilter, Page
from rehi.model.source import SourceState
from rehi.operations.health import HousePart, examine_house, mend
from rehi.operations.sources import read_in
from rehi.testing.snapshot import Snapshot, take_snapshot
from tests.health.conftest import settings_of
from tests.health.damage import WAYS, hole_in_archive, make_hole
from tests.keeper import at

LOSSLESS = [way for part, way in WAYS if part is not HousePart.ARCHIVE]
LOSSY = [*(way for part, way in WAYS if part is HousePart.ARCHIVE), hole_in_archive]


def ailments(data: Path) -> list[str]:
    with House(settings_of(data)) as house:
        return [f"{one.part}: {one.why}" for seen in examine_house(house, deep=True) for one in seen.ailments]


def snapshot(data: Path) -> Snapshot:
    with House(settings_of(data)) as house:
        return take_snapshot(house)


@pytest.fixture(scope="module")
def before(made: Path) -> Snapshot:
    return snapshot(made)


@pytest.mark.parametrize("way", LOSSLESS, ids=lambda way: way.__name__)
def test_what_is_made_from_something_is_made_again(before: Snapshot, data: Path, way: Callable[[Path], None]) -> None:
    way(data)
    mended = mend(settings_of(data))
    assert mended.done
    assert mended.lost == []
    assert ailments(data) == []
    assert snapshot(data) == before


def hole_in_table(table: str) -> Callable[[Path], None]:
    """A way to damage the last rows on the first page of a table."""

    def damage(data: Path) -> None:
        path = data / "catalogue.db"
        with closing(sqlite3.connect(path)) as connection:
            query = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?"
            (page,) = connection.execute(query, (table,)).fetchone()
        make_hole(path, page * 4096 - 100)

    damage.__name__ = f"hole_in_{table}"
    return damage


def delete_catalogue(data: Path) -> None:
    (data / "catalogue.db").unlink()


@pytest.mark.parametrize(
    "way", [hole_in_table("version"), hole_in_table("meta"), hole_in_table("blob")], ids=lambda way: way.__name__
)
def test_a_catalogue_comes_from_what_can_be_read_of_it_and_from_the_archive(
    before: Snapshot, data: Path, way: Callable[[Path], None]
) -> None:
    was = what_people_said(data)
    way(data)
    assert ailments(data)
    mended = mend(settings_of(data))
    assert mended.lost == []
    assert ailments(data) == []
    assert snapshot(data) == before
    assert what_people_said(data) == was
    assert list(data.glob("catalogue-*.db"))


def what_people_said(data: Path) -> tuple[object, ...]:
    """Sources, orders and schedules, which are not in the archive's files."""
    with House(settings_of(data)) as house:
        rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=100))
        (host,) = house.catalogue.host("www.rehemaa.test", now=at(0))
        totals = house.catalogue.totals(now=at(0))
        return (
            [(row.resource_id, row.url, row.state, row.visited_at) for row in rows],
            [(source.id, source.name, source.state) for source in house.catalogue.sources()],
            host.orders,
            (totals.resources, totals.visits, totals.versions, totals.documents, totals.outcomes),
        )


def test_sources_are_read_again_where_rows_are_lost(data: Path) -> None:
    """A URL that never answered is in no file of the archive: only its source can tell it again."""
    with House(settings_of(data)) as house:
        (source,) = house.catalogue.sources()
        read_in(house, source.id)
        assert house.catalogue.sources()[0].state is SourceState.DONE
    hole_in_table("version")(data)
    assert "1 sources are read again from their beginning by the next harvest" in mend(settings_of(data)).done
    with House(settings_of(data)) as house:
        assert house.catalogue.sources()[0].state is SourceState.READING
        assert house.catalogue.sources()[0].share == 0


def test_a_catalogue_that_is_gone_comes_from_the_archive(before: Snapshot, data: Path) -> None:
    delete_catalogue(data)
    assert ailments(data)
    mend(settings_of(data))
    assert ailments(data) == []
    after = snapshot(data)
    assert (after.versions, after.texts, after.names) == (before.versions, before.texts, before.names)


@pytest.mark.parametrize("way", LOSSY, ids=lambda way: way.__name__)
def test_what_is_lost_is_listed_by_url_and_version_and_missed_no_more(data: Path, way: Callable[[Path], None]) -> None:
    with House(settings_of(data)) as house:
        bodies = {body.digest for body in house.catalogue.bodies()}
    way(data)
    mended = mend(settings_of(data))
    assert ailments(data) == []
    with House(settings_of(data)) as house:
        kept = {body.digest for body in house.catalogue.bodies()}
        listed = {(lost.url, lost.number) for lost in mended.lost}
        lost = {(url, one.number) for url in urls(house) for one in house.catalogue.versions(url) if one.dropped}
    assert kept < bodies or not lost
    assert listed == lost
    assert way is hole_in_archive or lost


def test_what_is_dated_ahead_is_lost_as_well(data: Path) -> None:
    """The clock was ten years ahead when these versions came."""
    with closing(sqlite3.connect(data / "catalogue.db")) as connection, connection:
        connection.execute("UPDATE version SET taken_at = taken_at + 315360000000000")
    min((data / "archive").glob("rehi-*.warc.gz")).unlink()
    assert mend(settings_of(data)).lost
    assert ailments(data) == []


def urls(house: House) -> list[str]:
    return [row.url for row in house.catalogue.documents(DocumentFilter(), Page(limit=100))[0] if row.versions]


def test_nothing_is_mended_beside_a_harvest(data: Path) -> None:
    with lock_folder(data), pytest.raises(DataFolderBusy, match="stop it, then mend"):
        mend(settings_of(data))


def test_nothing_is_done_to_a_house_that_is_well(data: Path, before: Snapshot) -> None:
    mended = mend(settings_of(data))
    assert (mended.done, mended.lost) == ([], [])
    assert snapshot(data) == before

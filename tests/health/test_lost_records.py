"""Records without bytes of their own are damaged: what they were is said by URL, time and kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehi.app import House
from rehi.archive import WholeRecord
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.operations.health import LostRecord, mend
from tests.health.conftest import settings_of
from tests.health.test_damaged_files import flip
from tests.health.test_mending import ailments
from tests.keeper import at

PAGE, OLD = "http://www.rehemaa.test/3", "http://www.rehemaa.test/old"
UNCHANGED, MOVED = at(43).isoformat(), at(61).isoformat()  # when the page was last seen, and the redirect


def records_of(data: Path, kind: str, url: str) -> list[WholeRecord]:
    """The records of a WARC type and a URL, in order."""
    with House(settings_of(data)) as house:
        items = [item for walk in house.archive.walks() for item in walk.records()]
    records = [item for item in items if isinstance(item, WholeRecord)]
    return [item for item in records if (item.fields.kind, item.fields.get("WARC-Target-URI")) == (kind, url)]


def damage(data: Path, item: WholeRecord) -> None:
    flip(data, (item.ref.file, item.ref.offset, item.ref.length, ""))


def named(records: list[LostRecord]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.url, one.at) for one in records]


def problems(data: Path) -> list[str]:
    with House(settings_of(data)) as house:
        rows, _ = house.catalogue.problems(stage=Stage.ARCHIVE, page=Page(limit=100))
    return [row.message for row in rows if row.code == "record-lost"]


@pytest.mark.parametrize(
    ("kind", "url", "lost"),
    [
        ("request", PAGE, ("request", PAGE, UNCHANGED)),
        ("revisit", PAGE, ("revisit", PAGE, UNCHANGED)),
        ("request", OLD, ("request", OLD, MOVED)),
        ("response", OLD, ("redirect", OLD, MOVED)),
    ],
    ids=["request", "revisit", "request of a redirect", "redirect"],
)
def test_a_damaged_record_is_named(data: Path, kind: str, url: str, lost: tuple[str, str, str]) -> None:
    damage(data, records_of(data, kind, url)[-1])
    mended = mend(settings_of(data))
    assert named(mended.records) == [lost]
    assert (mended.lost, mended.ailing, mended.is_whole) == ([], [], False)
    (problem,) = problems(data)
    assert f"{lost[0]} of {lost[1]} at {lost[2]}" in problem
    assert mend(settings_of(data)).records == []
    assert ailments(data) == []


def test_a_visit_that_is_lost_with_its_request_is_named_once(data: Path) -> None:
    damage(data, records_of(data, "request", PAGE)[-1])
    damage(data, records_of(data, "revisit", PAGE)[-1])
    records = mend(settings_of(data)).records
    assert ("revisit", PAGE, UNCHANGED) in named(records)
    assert {one.url for one in records} == {PAGE}


def test_the_request_of_a_version_is_named_and_its_bytes_are_listed_as_a_version(data: Path) -> None:
    damage(data, records_of(data, "request", "http://www.rehemaa.test/0")[0])
    mended = mend(settings_of(data))
    assert named(mended.records) == [("request", "http://www.rehemaa.test/0", at(0).isoformat())]
    assert mended.lost == []
    damage(data, records_of(data, "response", "http://www.rehemaa.test/0")[0])
    mended = mend(settings_of(data))
    assert mended.records == []
    assert ("http://www.rehemaa.test/0", 1) in [(one.url, one.number) for one in mended.lost]


def test_the_head_of_a_file_is_named_as_such(data: Path) -> None:
    with House(settings_of(data)) as house:
        walk = next(iter(house.archive.walks()))
        head = next(walk.records())
    assert isinstance(head, WholeRecord)
    damage(data, head)
    (record,) = mend(settings_of(data)).records
    assert (record.url, record.kind, record.offset) == ("", "head of the file (warcinfo)", 0)


def test_of_a_file_that_is_gone_all_visits_are_named(data: Path) -> None:
    revisit = records_of(data, "revisit", PAGE)[-1]
    with House(settings_of(data)) as house:
        (house.archive_folder / revisit.ref.file).unlink()
    mended = mend(settings_of(data))
    assert ("revisit", PAGE, UNCHANGED) in named(mended.records)
    assert all(one.kind in ("revisit", "redirect") and one.offset == 0 for one in mended.records)

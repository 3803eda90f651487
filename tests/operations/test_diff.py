"""Differences: which versions are meant, and what a worker process says of them."""

from __future__ import annotations

import os
import random
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rehi.app import House
from rehi.compare import Beginning
from rehi.errors import BodyPruned, ComparisonError, NotFound, ReadTimeout
from rehi.operations.diff.body import DiffKind
from rehi.operations.diff.request import choose, diff_names, diff_versions
from rehi.operations.diff.result import VersionDiff
from rehi.operations.versions import history
from rehi.settings import load_settings
from tests.compare.history import (
    BINARY,
    BROKEN,
    EVIL,
    FEED,
    JSON,
    LATE,
    MARKUP,
    ONCE,
    PAGE,
    PLAIN,
    TABLE,
    TURNED,
    past_in,
)  # fmt: skip
from tests.keeper import Keeper, at

CORPORA = Path(os.environ.get("REHI_CORPORA", Path(__file__).parents[3] / "shared" / "corpora"))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with House(past_in(tmp_path_factory.mktemp("past") / "data")) as opened:
        yield opened


def shown(diff: VersionDiff) -> list[tuple[str, str]]:
    return [(line.kind.value, "".join(piece.text for piece in line.pieces)) for line in diff.lines]


@pytest.mark.parametrize(
    ("since", "until", "numbers"),
    [
        ("", "", (2, 3)),
        ("1", "", (1, 3)),
        ("3", "1", (3, 1)),
        ("", "2", (1, 2)),
        ("", "1", (1, 1)),
        ("2026-03-01", "2026-03-11", (1, 2)),
        ("2026-03-10T23:59:59Z", "20260321120001", (1, 3)),
        ("2026", "1", (3, 1)),
        ("202603", "2", (3, 2)),
    ],
)
def test_versions_are_chosen_by_number_and_by_moment(
    house: House, since: str, until: str, numbers: tuple[int, int]
) -> None:
    old, new = choose(history(house, PAGE), since, until, url=PAGE)
    assert (old.number, new.number) == numbers


def test_the_newest_is_the_last_in_time_and_not_the_last_to_arrive(house: House) -> None:
    old, new = choose(history(house, LATE), "", "", url=LATE)
    assert (old.number, new.number) == (3, 2)


@pytest.mark.parametrize(
    ("since", "says"),
    [("4", "there is no version 4"), ("0", "there is no version 0"), ("2026-02-28", "nothing was kept of"),
     ("yesterday", "neither the number of a version nor a moment"), ("-1", "neither"), ("2026-13-01", "neither"),
     ("9" * 5_000, "neither"), ("1\x00", "neither"), ("9999999", "there is no version 9999999"), ("²", "neither")],
    ids=["beyond", "zero", "before", "word", "negative", "month", "long", "zero byte", "seven", "power"],
)  # fmt: skip
def test_a_version_that_is_not_there_is_explained(house: House, since: str, says: str) -> None:
    with pytest.raises((NotFound, ComparisonError)) as caught:
        diff_versions(house, PAGE, since)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


def test_what_has_one_version_or_none_can_not_be_compared(house: House) -> None:
    with pytest.raises(NotFound, match="only one version"):
        diff_versions(house, ONCE)
    with pytest.raises(NotFound, match="nothing is kept"):
        diff_versions(house, "http://nowhere.test/")
    assert diff_versions(house, ONCE, "1").identical


def test_a_page_is_compared_by_its_text(house: House) -> None:
    diff = diff_versions(house, PAGE, "1")
    assert diff.kind is DiffKind.TEXT
    assert diff.tally is not None
    assert (diff.tally.added, diff.tally.removed, diff.tally.changed) == (1, 0, 1)
    kinds = [kind for kind, _ in shown(diff)]
    assert kinds.count("changed") == kinds.count("added") == 1
    assert not any("<p>" in text for _, text in shown(diff))
    assert (diff.old.number, diff.old.stamp, diff.new.number) == (1, "20260301120000", 3)


def test_names_that_appeared_and_vanished(house: House) -> None:
    diff = diff_versions(house, PAGE, "1", names=True)
    assert diff.names is not None
    assert {one.name for one in diff.names.vanished} == {"Katrin Paio"}
    assert {"Tõnu Õunapuu", "Mari Maasikas"} <= {one.name for one in diff.names.appeared}
    assert diff.names.stayed >= 1
    alone, notes = diff_names(house, PAGE, "1")
    assert (alone, notes) == (diff.names, [])
    none, notes = diff_names(house, BINARY)
    assert none is None
    assert len(notes) == 1


def test_a_table_is_compared_by_row_and_column(house: House) -> None:
    diff = diff_versions(house, TABLE)
    assert diff.kind is DiffKind.TABLE
    table = diff.table
    assert table is not None
    assert table.key.columns == ("kood",)
    assert table.schema.added == ("pindala",)
    assert [row.cells[1] for row in table.added] == ["Võru vald"]
    assert [row.cells[1] for row in table.removed] == ["Rõuge"]
    assert [(row.label, cell.old, cell.new) for row in table.changed for cell in row.cells] == [
        (("101",), "Antsla", "Antsla vald")
    ]


def test_each_row_knows_since_when_it_is_so(house: House) -> None:
    diff = diff_versions(house, TABLE, blame=True)
    assert diff.blame is not None
    assert [(row.cells[0], row.version, row.beginning) for row in diff.blame] == [
        ("103", 3, Beginning.CHANGED),  # the area came with the third
        ("101", 3, Beginning.CHANGED),
        ("104", 3, Beginning.APPEARED),
    ]
    before = diff_versions(house, TABLE, "1", "2", blame=True, key=["Kood"]).blame
    assert before is not None
    assert [(row.cells[0], row.version, row.since, row.beginning) for row in before] == [
        ("103", 2, at(1), Beginning.CHANGED),
        ("101", 1, at(0), Beginning.FIRST),
        ("102", 1, at(0), Beginning.FIRST),
    ]


def test_json_and_feeds_are_compared_by_path(house: House) -> None:
    diff = diff_versions(house, JSON).tree
    assert diff is not None
    assert [(change.kind.value, change.path) for change in diff.changes] == [
        ("changed", "$.asutused[id=2].nimi"),
        ("added", "$.asutused[id=3]"),
        ("removed", "$.asutused[id=1]"),
    ]
    feed = diff_versions(house, FEED)
    assert feed.kind is DiffKind.XML
    assert feed.tree is not None
    assert feed.tree.changes[0].path == "/rss/channel/item[guid=2]/title"


def test_plain_text_is_compared_line_by_line(house: House) -> None:
    assert [kind for kind, _ in shown(diff_versions(house, PLAIN))] == ["same", "changed", "same", "added"]


def test_bytes_have_sizes_and_digests(house: House) -> None:
    diff = diff_versions(house, BINARY)
    assert diff.kind is DiffKind.BYTES
    assert not diff.identical
    assert diff.old.digest != diff.new.digest
    assert diff.tally is None


def test_what_is_not_what_it_was_is_compared_as_text(house: House) -> None:
    assert diff_versions(house, TURNED).kind is DiffKind.TEXT
    broken = diff_versions(house, BROKEN)
    assert broken.kind is DiffKind.TEXT
    assert "no JSON that can be read" in broken.notes[0]


def test_other_markup_around_the_same_text_is_told(house: House) -> None:
    diff = diff_versions(house, MARKUP)
    assert diff.tally is not None
    assert diff.tally.different == 0
    assert "all lines are the same" in diff.notes[0]


def test_keys_and_blame_are_for_tables(house: House) -> None:
    for asked in ({"key": ["a"]}, {"blame": True}):
        with pytest.raises(ComparisonError, match="are for tables"):
            diff_versions(house, PAGE, **asked)
    with pytest.raises(ComparisonError, match="there is no column 'puudub'"):
        diff_versions(house, TABLE, key=["puudub"])


def test_no_more_is_shown_than_was_asked_for(house: House) -> None:
    diff = diff_versions(house, EVIL, most=1, blame=True)
    assert diff.blame is not None
    assert len(diff.blame) == 1
    assert not diff.complete
    assert diff_versions(house, EVIL).complete


def test_large_and_hostile_bodies_are_compared_within_seconds_or_refused(tmp_path: Path) -> None:
    chance = random.Random(3)
    wide = [("\n".join(f"{chance.random()},{chance.random()}" for _ in range(25_000))).encode() for _ in range(2)]
    minified = [b"[" + b",".join(b'{"v":%d}' % chance.randrange(99) for _ in range(20_000)) + b"]" for _ in range(2)]
    namespaces = b"<a>" + b"".join(b'<b xmlns="urn:%d"/>' % n for n in range(8_000)) + b"</a>"
    letters = [" ".join(chance.choice("abc") for _ in range(300_000)).encode() for _ in range(2)]
    with House(load_settings(data=tmp_path / "data")) as house:
        keeper = Keeper(house)
        for name, kind, bodies in (
            ("t.csv", "text/csv", wide),
            ("m.json", "application/json", minified),
            ("n.xml", "application/xml", [namespaces, namespaces.replace(b"urn:7", b"urn:8")]),
            ("l.txt", "text/plain", letters),
        ):
            for days, body in enumerate(bodies):
                keeper.new(f"http://kuri.test/{name}", body, at(days), media_type=kind)
        keeper.close()
        for name, complete in (("t.csv", False), ("m.json", False), ("n.xml", False), ("l.txt", True)):
            diff = diff_versions(house, f"http://kuri.test/{name}", most=100)
            assert diff.tally is not None
            assert diff.complete is complete


def test_what_takes_too_long_is_given_up(tmp_path: Path) -> None:
    chance, url = random.Random(5), "http://kuri.test/suur.csv"
    rows = [f"{chance.random()},{chance.random()}" for _ in range(300_000)]  # seconds of work, on any machine
    with House(load_settings(data=tmp_path / "data", work={"timeout": 0.2})) as house:
        keeper = Keeper(house)
        for days in range(2):
            keeper.new(url, "\n".join(rows).encode(), at(days), media_type="text/csv")
            chance.shuffle(rows)
        keeper.close()
        with pytest.raises(ReadTimeout):
            diff_versions(house, url)


def test_real_histories_of_tables(tmp_path: Path) -> None:
    file = CORPORA / "13-versions" / "content" / "datasets+s-and-p-500-companies__data_constituents.csv.tar.xz"
    if not file.exists():
        pytest.skip(f"no real files at {file.parent}; REHI_CORPORA names another place")
    url = "http://andmed.test/constituents.csv"
    with House(load_settings(data=tmp_path / "data")) as house:
        keeper = Keeper(house)
        with tarfile.open(file) as members:
            for member, _ in zip(members, range(30), strict=False):
                stream = members.extractfile(member)
                assert stream is not None
                taken = datetime.fromtimestamp(int(member.name.partition("_")[0]), UTC)
                keeper.new(url, stream.read(), taken, media_type="text/csv")
        keeper.close()
        diff = diff_versions(house, url, "1", blame=True)
    assert diff.table is not None
    assert diff.blame is not None
    assert diff.table.key.columns == ("Symbol",)
    assert len(diff.table.changed) > 50
    assert len({row.version for row in diff.blame}) > 5


def test_bytes_that_were_dropped_are_not_compared(house: House) -> None:
    from dataclasses import replace

    from rehi.operations.diff.body import read_body

    version = replace(history(house, PAGE)[0], dropped=True)
    with pytest.raises(BodyPruned):
        read_body(house.archive, version, url=PAGE, max_text=1_000)

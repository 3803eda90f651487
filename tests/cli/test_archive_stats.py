"""``rehi archive stats``: the numbers add up, and nothing in them is obeyed by a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rehi.app import House
from rehi.settings import load_settings
from tests.cli.command_line import rehi
from tests.keeper import Keeper, at

PAGE, COPY, IMAGE = "http://a.test/", "http://b.test/", "http://a.test/x"
BODIES = [b"<p>the first</p>" * 200, b"<p>the first</p>" * 200 + b"<p>and more</p>"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of which the second is a delta, a duplicate of one, and an image of a strange type."""
    folder = tmp_path_factory.mktemp("stats") / "data"
    with House(load_settings(data=folder)) as house:
        keeper = Keeper(house)
        first = keeper.new(PAGE, BODIES[0], at(0))
        keeper.new(PAGE, BODIES[1], at(1), base=first.body)
        keeper.new(COPY, BODIES[0], at(2))
        keeper.new(IMAGE, bytes(range(256)) * 4, at(3), media_type="Image/\x1b[31mPNG ; q=1")
        keeper.unchanged(PAGE, at(4))
        keeper.close()
    return folder


def test_the_numbers_add_up(data: Path) -> None:
    said = json.loads(rehi("archive", "stats", "--json", data=data).stdout)
    held, sample = said["holdings"], said["sample"]
    sizes = [len(body) for body in BODIES]
    assert (held["versions"], held["bodies"], held["revisits"]) == (4, 3, 1)
    assert held["logical"] == sizes[0] * 2 + sizes[1] + 1024
    assert held["duplicate"] == held["logical"] - held["distinct"] == sizes[0]
    assert 0 < held["stored"] < held["distinct"]
    assert [sum(row[what] for row in held["by_type"]) for what in ("versions", "logical", "stored")] == [
        held["versions"],
        held["logical"],
        held["stored"],
    ]
    assert {row["name"]: row["versions"] for row in held["by_host"]} == {"a.test": 3, "b.test": 1}
    assert (sample["looked_at"], sample["of"], sample["whole"], sample["deltas"]) == (3, 3, 2, 1)
    assert sample["delta_bytes"] == sizes[1]
    assert sample["delta_stored"] < 1000
    assert (said["files"], held["dropped_versions"]) == (1, 0)
    assert said["file_bytes"] == sum(path.stat().st_size for path in (data / "archive").iterdir() if path.is_file())


def test_people_get_tables_without_anything_that_a_terminal_obeys(data: Path) -> None:
    result = rehi("archive", "stats", "--limit", "1", data=data)
    assert result.returncode == 0, result.stderr
    for said in (
        "logical bytes",
        "text/html",
        "a.test",
        "1 more; raise --limit",
        "All 3 bodies: 2 are stored whole, 1 as",
    ):
        assert said in result.stdout
    everything = rehi("archive", "stats", data=data).stdout
    assert "image/" in everything
    assert "\x1b" not in everything


def test_without_a_sample_no_record_is_looked_at(data: Path) -> None:
    assert json.loads(rehi("archive", "stats", "--sample", "0", "--json", data=data).stdout)["sample"] is None
    some = json.loads(rehi("archive", "stats", "--sample", "2", "--json", data=data).stdout)["sample"]
    assert 1 <= some["looked_at"] <= 2
    assert some["of"] == 3


def test_records_that_are_missing_are_counted(data: Path, tmp_path: Path) -> None:
    (archive := data / "archive").rename(tmp_path / "away")
    try:
        result = rehi("archive", "stats", data=data)
    finally:
        (tmp_path / "away").rename(archive)
    assert "3 can't be read here: rehi archive verify says more" in result.stdout


def test_an_empty_house_says_so(tmp_path: Path) -> None:
    result = rehi("archive", "stats", data=tmp_path)
    assert (result.returncode, "Nothing is kept yet." in result.stdout) == (0, True)
    assert json.loads(rehi("archive", "stats", "--json", data=tmp_path).stdout)["holdings"]["versions"] == 0


def test_the_group_says_what_there_is() -> None:
    said = rehi("archive", "--help").stdout
    for name in ("stats", "verify", "reindex", "prune", "compact"):
        assert f"\n  {name} " in said
        assert rehi("archive", name, "--help").returncode == 0
    assert rehi("archive", "nothing").returncode == 2

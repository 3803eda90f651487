"""``rehi versions`` lists what is kept of a URL, and how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rehi.app import House
from rehi.settings import load_settings
from tests.cli.command_line import rehi
from tests.keeper import Keeper, at

PAGE = "http://www.rehemaa.test/"
BODY = b"<p>" + b"Rehi on vana hoone. " * 200


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("versions") / "data"
    with House(load_settings(data=folder)) as house:
        keeper = Keeper(house)
        first = keeper.new(PAGE, BODY, at(10))
        keeper.new(PAGE, BODY + b"!", at(20), base=first.body)
        keeper.new(PAGE, b"old", at(0), media_type="text/plain\x1b[2J")
        keeper.new(PAGE, BODY, at(30))
        keeper.close()
    return folder


def test_versions_come_in_the_order_of_time_with_how_they_are_stored(data: Path) -> None:
    found = json.loads(rehi("versions", PAGE, "--json", data=data).stdout)
    assert found["total"] == 4
    rows = found["versions"]
    assert [row["number"] for row in rows] == [3, 1, 2, 4]
    assert [row["stored"] for row in rows] == ["whole", "whole", "delta", "duplicate"]
    assert [row["size"] for row in rows] == [3, len(BODY), len(BODY) + 1, len(BODY)]
    assert rows[1]["digest"] == rows[3]["digest"]
    assert rows[0]["taken_at"] == "2026-03-01T12:00:00.250000+00:00"


def test_the_table_is_for_people_and_the_newest_come_last(data: Path) -> None:
    shown = rehi("versions", PAGE, "--limit", "2", data=data).stdout
    assert "delta" in shown
    assert "2026-03-31 12:00:00" in shown
    assert "2 older ones" in shown
    assert "\x1b" not in rehi("versions", PAGE, data=data).stdout


def test_what_is_not_kept_is_explained(data: Path) -> None:
    result = rehi("versions", "https://rehemaa.test", "--json", data=data)
    assert result.returncode == 1
    assert PAGE in json.loads(result.stderr)["error"]["message"]

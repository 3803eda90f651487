"""``rehi archive prune`` and ``rehi source --keep``: what is said before anything goes, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rehi.app import House, lock_folder
from rehi.operations.sources import enter, read_in
from rehi.settings import load_settings
from rehi.testing.contracts.catalogue_samples import claim, record_reads, understood
from rehi.testing.waiting import PATIENCE
from tests.cli.command_line import rehi
from tests.keeper import Keeper, at

PAGE = "http://a.test/"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source with one page of four versions that were read."""
    folder = tmp_path_factory.mktemp("prune") / "data"
    with House(load_settings(data=folder)) as house:
        urls = folder / "list.txt"
        urls.write_text(f"{PAGE}\n", encoding="ascii")
        read_in(house, enter(house, str(urls)).id)
        keeper = Keeper(house)
        for number in range(4):
            keeper.new(PAGE, b"%d" % number * 100, at(number))
        keeper.close()
        for task in claim(house.catalogue, 10**8, worker=house.worker):
            record_reads(house.catalogue, understood(task), when=9)
    return folder


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "data"))


def states(data: Path) -> list[bool]:
    with House(load_settings(data=data)) as house:
        return [version.dropped for version in house.catalogue.versions(PAGE)]


def test_a_rule_is_set_and_shown(data: Path) -> None:
    shown = rehi("source", "1", "--keep", " Last 2 and one per YEAR", data=data)
    assert "last 2 and one per year" in shown.stdout
    assert json.loads(rehi("source", "1", "--json", data=data).stdout)["keep"] == "last 2 and one per year"
    both = rehi("source", "1", "--keep", "all", "--priority", "high", "--json", data=data)
    assert (json.loads(both.stdout)["keep"], json.loads(both.stdout)["weight"]) == ("", 4.0)
    assert states(data) == [False] * 4


def test_what_is_no_rule_changes_nothing(data: Path) -> None:
    wrong = rehi("source", "1", "--keep", "the best", "--priority", "high", data=data)
    assert (wrong.returncode, "'the best' is no rule" in wrong.stderr) == (1, True)
    assert json.loads(rehi("source", "1", "--json", data=data).stdout)["weight"] == 1.0
    assert rehi("source", "--keep", "last 1", data=data).returncode == 2
    assert "there is no source 9" in rehi("source", "9", "--keep", "last 1", data=data).stderr


def test_without_a_rule_nothing_goes(data: Path) -> None:
    result = rehi("archive", "prune", "--yes", data=data)
    assert (result.returncode, "No source has a rule, so nothing goes." in result.stdout) == (0, True)
    assert states(data) == [False] * 4


def test_a_dry_run_says_what_would_go_and_changes_nothing(data: Path) -> None:
    rehi("source", "1", "--keep", "last 1", data=data)
    assert "300" in rehi("archive", "prune", "--dry-run", data=data).stdout
    said = json.loads(rehi("archive", "prune", "--dry-run", "--json", data=data).stdout)
    assert said["dry_run"]
    assert said["shares"] == [
        {"source_id": 1, "name": "list.txt", "rule": "last 1", "versions": 3, "bodies": 3, "size": 300}
    ]
    assert states(data) == [False] * 4
    assert list((data / "archive").glob("dropped-*")) == []


def test_it_asks_before_anything_goes(data: Path) -> None:
    rehi("source", "1", "--keep", "last 1", data=data)
    for answer, code in (("", 130), ("n\n", 130), ("y\n", 0)):
        words = [sys.executable, "-m", "rehi", "--data", str(data), "archive", "prune"]
        asked = subprocess.run(words, input=answer, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (asked.returncode, "Nothing was dropped." in asked.stderr) == (code, code != 0)
        assert "Drop them for good?" in asked.stdout
        assert states(data) == [code == 0] * 3 + [False]
    assert rehi("archive", "prune", "--json", data=data).returncode == 2


def test_it_drops_and_the_room_is_freed_by_compaction(data: Path) -> None:
    rehi("source", "1", "--keep", "last 1", data=data)
    result = rehi("archive", "prune", "--yes", data=data)
    assert "The bytes of 3 versions were dropped, 3 bodies of 300 bytes." in result.stdout
    assert states(data) == [True, True, True, False]
    again = rehi("archive", "prune", "--yes", data=data)
    assert "Nothing goes: all that there is is kept by the rules." in again.stdout
    held = json.loads(rehi("archive", "stats", "--json", data=data).stdout)["holdings"]
    assert (held["versions"], held["dropped_versions"], held["dropped_bytes"]) == (1, 3, 300)
    refused = rehi("get", PAGE, "--version", "1", data=data)
    assert (refused.returncode, "dropped" in refused.stderr) == (1, True)
    assert rehi("get", PAGE, data=data).returncode == 0


def test_programs_get_what_went(data: Path) -> None:
    rehi("source", "1", "--keep", "last 3", data=data)
    said = json.loads(rehi("archive", "prune", "--yes", "--json", data=data).stdout)
    assert (said["dry_run"], said["shares"][0]["versions"], said["finished"]) == (False, 1, 0)
    assert json.loads(rehi("archive", "prune", "--yes", "--json", data=data).stdout)["shares"][0]["versions"] == 0


def test_two_prunes_do_not_meet_and_a_source_must_be_there(data: Path) -> None:
    rehi("source", "1", "--keep", "last 1", data=data)
    with lock_folder(data, name="prune.lock"):
        busy = rehi("archive", "prune", "--yes", data=data)
    assert (busy.returncode, "another rehi" in busy.stderr) == (1, True)
    missing = rehi("archive", "prune", "--source", "7", "--dry-run", data=data)
    assert (missing.returncode, "there is no source 7" in missing.stderr) == (1, True)
    assert states(data) == [False] * 4

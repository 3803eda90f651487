"""``rehi backup`` and ``rehi restore``: what they say, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rehi.app import House
from rehi.settings import load_settings
from tests.cli.command_line import rehi
from tests.keeper import Keeper, at


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    with House(load_settings(data=folder)) as house:
        keeper = Keeper(house)
        keeper.new("http://a.test/", b"one" * 100, at(0))
        keeper.close()
    return folder


def test_a_house_is_backed_up_listed_verified_pruned_and_restored(data: Path, tmp_path: Path) -> None:
    place, elsewhere = str(tmp_path / "backups"), tmp_path / "elsewhere"
    first = rehi("backup", place, "--verify", data=data)
    assert first.returncode == 0, first.stderr
    assert "Backup 1 of " in first.stdout
    assert "all as they should be" in first.stdout
    again = json.loads(rehi("backup", "make", place, "--json", data=data).stdout)
    assert (again["result"]["backup"]["number"], again["result"]["backup"]["new_chunks"]) == (2, 0)
    assert [one["number"] for one in json.loads(rehi("backup", "list", place, "--json", data=data).stdout)] == [1, 2]
    assert "made at (UTC)" in rehi("backup", "list", place, data=data).stdout
    assert "all is well" in rehi("backup", "verify", place, "--sample", "50", data=data).stdout
    assert "1 backups and 0 chunks" in rehi("backup", "prune", place, "--keep", "1", data=data).stdout
    restored = rehi("restore", place, "--to", str(elsewhere), "--at", "2", data=data)
    assert restored.returncode == 0, restored.stderr
    assert "must not run beside it" in restored.stdout
    assert rehi("get", "http://a.test/", data=elsewhere).stdout == "one" * 100
    parts = json.loads(rehi("restore", place, "--only", "archive", "--only", "derived", "--json", data=data).stdout)
    assert (parts["parts"], parts["kept"], parts["files"]) == (["archive", "derived"], 1, 0)


def test_what_can_t_be_done_is_one_sentence(data: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "backups")
    for words in (["list", place], ["verify", place], ["prune", place, "--keep", "1"]):
        refused = rehi("backup", *words, data=data)
        assert refused.returncode == 1
        assert "there are no backups in" in refused.stderr
    assert rehi("backup", place, data=data).returncode == 0
    refused = rehi("restore", place, data=data)
    assert refused.returncode == 1
    assert "is not empty" in refused.stderr
    assert "there is no backup 7" in rehi("restore", place, "--at", "7", data=data).stderr
    assert "is no moment" in rehi("restore", place, "--at", "x", data=data).stderr
    assert "from before" in rehi("restore", place, "--at", "2001-01-01", data=data).stderr
    chunk = next(Path(place).glob("chunks/*/*.zst"))
    chunk.write_bytes(b"nonsense")
    bad = rehi("backup", "verify", place, data=data)
    assert bad.returncode == 1
    assert "NOT WELL: " in bad.stdout
    assert rehi("backup", "prune", place, data=data).returncode == 2

"""The archive's upkeep, as people call it: sealed, verified, reindexed and compacted."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rehi.app import House, lock_folder
from rehi.cli import cli
from rehi.errors import DataFolderBusy, RecordMissing
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Stage
from rehi.model.version import Version
from rehi.settings import load_settings
from tests.keeper import Keeper, at

PAGES = 3
VERSIONS = 12


def run(data: Path, *words: str) -> tuple[int, Any]:
    """What a command answers as JSON, and its exit code."""
    result = CliRunner().invoke(cli, ["--data", str(data), *words, "--json"], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value if isinstance(result.return_value, int) else 0, json.loads(result.stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a history in several files, sealed but for the last."""
    data = tmp_path_factory.mktemp("upkeep") / "data"
    with House(load_settings(data=data)) as house:
        keeper = Keeper(house, file_bytes=4_000)
        for page in range(PAGES):
            body, last = random.Random(page).randbytes(1_500).hex().encode(), None
            for number in range(VERSIONS):
                place = number * 90
                body = body[:place] + random.Random(number).randbytes(60).hex().encode() + body[place:]
                url = f"http://www.rehemaa.test/{page}"
                last = keeper.new(url, body, at(number + page / 10), base=last.body if last else None)
            keeper.unchanged(f"http://www.rehemaa.test/{page}", at(40 + page))
        keeper.new("http://www.rehemaa.test/copy", body, at(60))
        keeper.redirect("http://www.rehemaa.test/old", "http://www.rehemaa.test/0", at(61))
        keeper.seal()
        keeper.close()
    return data


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "data"))


@pytest.fixture
def house(data: Path) -> Iterator[House]:
    with House(load_settings(data=data)) as opened:
        yield opened


def contents(data: Path) -> dict[tuple[str, Any], bytes]:
    """All versions by address and time, with their bytes, if they can be read."""
    with House(load_settings(data=data)) as house:
        rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=1000))
        versions = [(row.url, one) for row in rows if row.versions for one in house.catalogue.versions(row.url)]
        found = {}
        for url, one in versions:
            with suppress(RecordMissing):
                found[url, one.taken_at] = house.archive.open_body(one.body).read()
        return found


def test_files_are_sealed_with_their_index(data: Path) -> None:
    files = sorted(path.name for path in (data / "archive").glob("*.warc.gz"))
    indexes = sorted(path.name for path in (data / "archive").glob("*.cdxj"))
    assert len(files) > 3
    assert [name.removesuffix(".warc.gz") for name in files[:-1]] == [name.removesuffix(".cdxj") for name in indexes]
    lines = (data / "archive" / indexes[0]).read_text().splitlines()
    assert lines == sorted(lines)
    assert lines[0].startswith("test,rehemaa)/0 2026")


def test_an_archive_that_is_well_verifies(data: Path) -> None:
    code, said = run(data, "archive", "verify")
    assert (code, said["faults"]) == (0, [])
    assert said["bodies"] == PAGES * VERSIONS + 1  # and the redirect
    code, said = run(data, "archive", "verify", "--sample", "500")
    assert (code, said["faults"]) == (0, [])
    assert said["bodies"] > PAGES * VERSIONS / 2


def test_flipped_bits_are_found_and_named(data: Path, house: House) -> None:
    version = house.catalogue.versions("http://www.rehemaa.test/1")[3]
    path = data / "archive" / version.body.file
    raw = bytearray(path.read_bytes())
    raw[version.body.offset + version.body.length // 2] ^= 4
    path.write_bytes(raw)
    code, said = run(data, "archive", "verify")
    assert code == 1
    assert (path.name, version.body.offset) in {(fault["file"], fault["offset"]) for fault in said["faults"]}
    problems, _ = house.catalogue.problems(stage=Stage.ARCHIVE, page=Page(limit=100))
    assert f"{path.name}:{version.body.offset}" in {problem.subject for problem in problems}
    assert house.archive.open_body(house.catalogue.versions("http://www.rehemaa.test/2")[-1].body).read()
    sampled, _ = run(data, "archive", "verify", "--sample", "2000")
    assert sampled == 1


def test_a_missing_file_is_named_and_so_is_what_stood_on_it(data: Path, house: House) -> None:
    version: Version = house.catalogue.versions("http://www.rehemaa.test/0")[0]
    (data / "archive" / version.body.file).unlink()
    code, said = run(data, "archive", "verify")
    assert code == 1
    files = {fault["file"]: fault["why"] for fault in said["faults"]}
    assert files[version.body.file] == "the file is not there"
    assert any("stands on is missing" in fault["why"] for fault in said["faults"])


def test_the_index_is_rebuilt_from_the_files_alone(data: Path) -> None:
    before = contents(data)
    code, said = run(data, "archive", "reindex")
    assert (code, said["versions"]) == (0, 0)  # nothing is new
    code, said = run(data, "archive", "reindex", "--anew")
    assert (code, said["damaged"]) == (0, 0)
    assert said["versions"] == len(before)
    assert contents(data) == before
    with House(load_settings(data=data)) as house:
        assert house.catalogue.document("http://www.rehemaa.test/old").redirect_to


def test_a_damaged_archive_is_reindexed_as_far_as_it_goes(data: Path, house: House) -> None:
    before = contents(data)
    version = house.catalogue.versions("http://www.rehemaa.test/2")[-1]
    path = data / "archive" / version.body.file
    raw = bytearray(path.read_bytes())
    raw[version.body.offset + 30] ^= 4
    path.write_bytes(raw)
    code, said = run(data, "archive", "reindex", "--anew")
    assert code == 0
    assert said["damaged"] >= 1
    after = contents(data)
    assert 0 < len(before) - len(after) < 5
    assert after.items() <= before.items()


def test_where_nothing_was_dropped_there_is_nothing_to_compact(data: Path) -> None:
    code, said = run(data, "archive", "compact")
    assert (code, said["done"]["files"]) == (0, 0)


def test_what_somebody_is_just_writing_is_no_fault_but_what_was_acknowledged_is(data: Path, house: House) -> None:
    last = max((data / "archive").glob("*.warc.gz"))
    whole = last.read_bytes()
    last.write_bytes(whole + whole[:40])
    last.with_name(last.name.replace(".warc.gz", "9.warc.gz")).write_bytes(whole[:300])
    assert run(data, "archive", "verify")[1]["faults"] == []
    last.write_bytes(whole[:-7])
    code, said = run(data, "archive", "verify")
    assert code == 1
    assert {fault["file"] for fault in said["faults"]} == {last.name}


def test_nothing_is_compacted_while_the_files_are_gone_through(data: Path, house: House) -> None:
    with lock_folder(data, name="compact.lock"):
        result = CliRunner().invoke(cli, ["--data", str(data), "archive", "compact"], standalone_mode=False)
        assert isinstance(result.exception, DataFolderBusy)

"""Many versions as one zip file, made while it is sent."""

from __future__ import annotations

import gc
import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from random import Random

import pytest

from rehi.app import House
from rehi.operations.downloads import ZipCounts, choose, zip_versions
from rehi.settings import load_settings
from tests.keeper import Keeper, at
from tests.serve.conftest import Ask
from tests.serve.kept_web import LARGE_BODY, MIDDLE, NEW, OLD, PAGE


def unzip(body: bytes) -> tuple[dict[str, bytes], list[dict[str, object]]]:
    """The files by name, and the lines of the index."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        assert file.testzip() is None
        found = {name: file.read(name) for name in file.namelist()}
        assert len(found) == len(file.namelist())
    return found, [json.loads(line) for line in found.pop("index.jsonl").splitlines()]


def test_the_newest_versions_of_a_host(ask_kept: Ask) -> None:
    answer = ask_kept("/download.zip?host=www.rehemaa.test")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"].startswith('attachment; filename="rehi-')
    files, index = unzip(answer.body)
    assert {line["name"]: line["url"] for line in index}.keys() == files.keys()
    named = {line["url"]: files[str(line["name"])] for line in index}
    assert named[PAGE] == NEW
    assert named["http://www.rehemaa.test/suur.bin"] == LARGE_BODY
    assert "http/www.rehemaa.test/suur.bin" in files


def test_all_versions_of_a_url(ask_kept: Ask) -> None:
    files, index = unzip(ask_kept(f"/download.zip?url={PAGE}&all=1").body)
    assert sorted(files.values()) == sorted([OLD, MIDDLE, NEW])
    assert [line["taken_at"] for line in index] == [f"2026-03-{day}T12:00:00.250000Z" for day in ("01", "11", "21")]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("type=image/", 1),
        ("type=text/javascript", 1),
        ("prefix=http://koopia", 1),
        ("host=rehemaa.test&domain=1&type=text/html&until=2026-03-05", 1),
        (f"url={PAGE}&all=1&since=2026-03-02&until=2026-03-11", 1),
    ],
)
def test_filters_narrow_it_down(ask_kept: Ask, query: str, count: int) -> None:
    files, _ = unzip(ask_kept(f"/download.zip?{query}").body)
    assert len(files) == count


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("host=nowhere.test", 404),
        ("source=77", 404),
        ("since=soon", 400),
        ("hots=x", 400),
        ("url=http://nowhere.test/", 404),
    ],
)
def test_nothing_and_nonsense_are_said_before_anything_is_sent(ask_kept: Ask, query: str, status: int) -> None:
    assert ask_kept(f"/download.zip?{query}").status == status


def test_what_cannot_be_had_is_told_in_the_index_and_the_rest_is_there(tmp_path: Path) -> None:
    with House(load_settings(data=tmp_path / "data")) as house:
        keeper = Keeper(house)
        bodies = [Random(number).randbytes(400_000) for number in range(3)]
        kept = [keeper.new(f"http://a.test/{n}.bin", body, at(n), media_type="x/y") for n, body in enumerate(bodies)]
        keeper.close()
        with Path(house.archive_folder, kept[1].body.file).open("r+b") as file:
            file.seek(kept[1].body.offset + 200_000)
            file.write(b"\0" * 50)
        tally = ZipCounts()
        files, index = unzip(b"".join(zip_versions(house, choose(house), all_versions=False, tally=tally)))
    assert [files.get(f"http/a.test/{n}.bin") == body for n, body in enumerate(bodies)] == [True, False, True]
    assert ["problem" in line for line in index] == [False, True, False]
    assert (tally.versions, tally.problems) == (2, 1)


def test_memory_does_not_grow_with_what_is_zipped(tmp_path: Path) -> None:
    with House(load_settings(data=tmp_path / "data")) as house:
        keeper = Keeper(house)
        for number in range(5):
            keeper.new(f"http://a.test/{number}.bin", Random(number).randbytes(3_000_000), at(number), media_type="x/y")
        keeper.close()
        b"".join(zip_versions(house, choose(house, prefix="http://a.test/0"), all_versions=False, tally=ZipCounts()))
        gc.collect()
        tracemalloc.start()
        size = sum(len(chunk) for chunk in zip_versions(house, choose(house), all_versions=False, tally=ZipCounts()))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert size > 15_000_000
    assert peak < 2_500_000

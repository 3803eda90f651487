"""``rehi add`` takes crawls made elsewhere: files, folders and patterns of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.command_line import rehi
from tests.warcs import arc, frames, http, members, response

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"


@pytest.fixture
def crawls(tmp_path: Path) -> Path:
    """A folder with a crawl in four files, of which the names say little, and something else."""
    folder = tmp_path / "crawls"
    (folder / "deep").mkdir(parents=True)
    (folder / "1.warc.gz").write_bytes(members([response(A)]))
    (folder / "2.data").write_bytes(frames([response(B)]))
    (folder / "deep" / "3").write_bytes(b"".join(arc((C, http()))))
    (folder / "notes.txt").write_text("not a crawl\n", encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_a_file_is_taken_in_and_what_it_held_is_shown(crawls: Path, data: Path) -> None:
    done = rehi("add", str(crawls / "1.warc.gz"), data=data)
    assert (done.returncode, done.stderr) == (0, "")
    assert "crawl made elsewhere, done" in done.stdout
    assert "nothing was read now" in rehi("add", str(crawls / "1.warc.gz"), data=data).stdout


def test_a_folder_stands_for_the_crawls_in_it(crawls: Path, data: Path) -> None:
    done = rehi("add", str(crawls), "--json", data=data)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(one["name"], one["kind"], one["state"], one["counts"]["kept"]) for one in found] == [
        ("1.warc.gz", "warc", "done", 1),
        ("2.data", "warc", "done", 1),
        ("3", "warc", "done", 1),
    ]


def test_a_pattern_and_several_names_stand_for_files(crawls: Path, data: Path) -> None:
    done = rehi("add", f"{crawls}/*.data", str(crawls / "deep" / "3"), "--json", data=data)
    assert [one["name"] for one in json.loads(done.stdout)] == ["2.data", "3"]


def test_a_file_is_left_in_place(crawls: Path, data: Path) -> None:
    done = rehi("add", str(crawls / "1.warc.gz"), "--in-place", "--json", data=data)
    found = json.loads(done.stdout)
    assert (found["kind"], found["counts"]["adopted"]) == ("warc-in-place", 1)
    (link,) = (data / "archive").iterdir()
    assert link.resolve() == (crawls / "1.warc.gz").resolve()


def test_a_damaged_file_is_a_problem_that_says_where(crawls: Path, data: Path) -> None:
    good = members([response(A)])
    (crawls / "bad.warc.gz").write_bytes(good + members([response(B)])[:-20])
    assert rehi("add", str(crawls / "bad.warc.gz"), data=data).returncode == 0
    assert f"bad.warc.gz:{len(good)}" in rehi("problems", data=data).stdout


def test_a_file_whose_beginning_is_damaged_is_known_by_its_name(crawls: Path, data: Path) -> None:
    (crawls / "bad.warc.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(50) + members([response(A)]))
    done = rehi("add", str(crawls / "bad.warc.gz"), "--json", data=data)
    assert json.loads(done.stdout)["counts"]["kept"] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{}/notes.txt", "--in-place"], "notes.txt"),
        (["{}/list.txt", "--in-place"], "can't be left in place; that is for WARC files"),
        (["http://a.ee/x.warc", "--in-place"], "can't be left in place"),
        (["{}/none"], "there is no WARC or ARC file in the folder"),
        (["{}/*.nothing"], "no file matches"),
        (["{}/missing.warc.gz"], "there is no file"),
        (["{}/empty.warc.gz"], "is empty"),
        (["{}/dictionary.warc.zst"], "dictionary"),
    ],
)
def test_what_can_not_be_taken_in_is_one_sentence(crawls: Path, data: Path, words: list[str], sentence: str) -> None:
    (crawls / "none").mkdir()
    (crawls / "empty.warc.gz").touch()
    (crawls / "list.txt").write_text("http://a.ee/\n", encoding="utf-8")
    (crawls / "dictionary.warc.zst").write_bytes(b"\x5d\x2a\x4d\x18\xff\xff\xff\x7f")
    done = rehi("add", *(word.format(crawls) for word in words), data=data)
    assert done.returncode != 0
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_list_of_web_archives_is_still_a_list(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "urls.warc.gz"
    path.write_bytes(gzip.compress(b"http://a.ee/1.warc.gz\nhttp://a.ee/2.warc.gz\n", mtime=0))
    assert json.loads(rehi("add", str(path), "--json", data=data).stdout)["kind"] == "url-list"

"""A web archive is known by its first bytes, whatever it is called."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from rehi.builtin import load_all
from rehi.errors import SourceError
from rehi.sources import recognise_file
from rehi.sources.recognition import find_crawls
from tests.warcs import arc, frames, frames_with_dictionary, http, members, response

RECORDS = [response(f"http://a.ee/{n}", bytes([65 + n]) * 300) for n in range(3)]
CRAWLS = {
    "warc": b"".join(RECORDS),
    "gzip": members(RECORDS),
    "one gzip": gzip.compress(b"".join(RECORDS), mtime=0),
    "zstd": frames(RECORDS),
    "dictionary": frames_with_dictionary(RECORDS),
    "arc": b"".join(arc(("http://a.ee/", http()))),
    "arc.gz": members(arc(("http://a.ee/", http()))),
    "a large first member": gzip.compress(response("http://a.ee/", os.urandom(300_000)), mtime=0),
}


@pytest.mark.parametrize("content", CRAWLS.values(), ids=CRAWLS)
def test_a_crawl_is_known_by_its_beginning(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "something"
    path.write_bytes(content)
    assert recognise_file(path, load_all("source")) == "warc"


@pytest.mark.parametrize("name", ["x.warc", "x.WARC.GZ", "x.warc.zst", "x.arc", "x.arc.gz"])
def test_one_that_begins_with_rubbish_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\0\1\2" * 100)
    assert recognise_file(path, load_all("source")) == "warc"


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b", b"\x1f\x8b\x08\x00rubbish", b"\x28\xb5\x2f\xfdrubbish", b"WARC", b"\0" * 10],
    ids=["half a gzip", "no gzip", "no zstd", "a word", "zeros"],
)  # fmt: skip
def test_what_is_none_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "something"
    path.write_bytes(content)
    with pytest.raises(SourceError):
        recognise_file(path, load_all("source"))


def test_a_folder_is_searched_and_pipes_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b").write_bytes(CRAWLS["gzip"])
    (tmp_path / "a.warc").write_bytes(CRAWLS["warc"])
    (tmp_path / "c.txt").write_bytes(b"http://a.ee/\n")
    (tmp_path / "d.warc").touch()
    os.mkfifo(tmp_path / "e.warc")
    assert find_crawls(tmp_path) == [tmp_path / "a.warc", tmp_path / "in" / "b"]

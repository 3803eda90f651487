"""``rehi add`` and ``rehi source`` say what was done with each source, and what was not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.command_line import rehi
from tests.warcs import members, request, response

A, B = "http://a.ee/", "http://b.ee/"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_one_that_is_refused_keeps_no_other_from_being_taken_in(tmp_path: Path, data: Path) -> None:
    good, prose = write(tmp_path / "good.txt", f"{A}\n"), write(tmp_path / "prose.txt", "Dear reader,\nno list.\n")
    last = write(tmp_path / "last.txt", f"{B}\n")
    done = rehi("add", good, prose, str(tmp_path / "none" / "*.warc"), last, data=data)
    assert done.returncode == 1
    assert "good.txt: list of URLs, done" in done.stdout
    assert "last.txt: list of URLs, done" in done.stdout
    assert "prose.txt is not a crawl log or a list" in done.stderr
    assert "no file matches" in done.stderr
    assert "2 of 4 could not be taken in" in done.stderr
    listed = json.loads(rehi("source", "--json", data=data).stdout)
    assert {one["name"]: one["state"] for one in listed} == {"good.txt": "done", "last.txt": "done"}


def test_programs_get_those_that_were_taken_in_and_the_errors_of_the_others(tmp_path: Path, data: Path) -> None:
    done = rehi("add", write(tmp_path / "good.txt", f"{A}\n"), str(tmp_path / "no.txt"), "--json", data=data)
    assert done.returncode == 1
    assert [one["name"] for one in json.loads(done.stdout)] == ["good.txt"]
    assert json.loads(done.stderr.splitlines()[0])["error"]["code"] == "source-error"


def test_what_was_read_before_and_what_has_changed_is_told(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "list.txt"
    rehi("add", write(path, f"{A}\n"), data=data)
    again = rehi("add", str(path), data=data)
    assert "was read before, and nothing was read now" in again.stdout
    assert again.stderr == ""
    rehi("add", write(path, f"{A}\n{B}\n"), data=data)
    changed = rehi("add", str(path), data=data)
    assert "list.txt has changed since it was read" in changed.stderr
    anew = rehi("add", str(path), "--again", data=data)
    assert "list.txt (2): list of URLs, done" in anew.stdout


def test_a_change_that_keeps_the_size_is_noticed_by_its_time(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "list.txt"
    rehi("add", write(path, f"{A}\n"), data=data)
    write(path, f"{B}\n")
    later = path.stat().st_mtime + 60
    os.utime(path, (later, later))
    assert "has changed" in rehi("add", str(path), data=data).stderr


def test_numbers_are_those_of_this_reading_in_the_unit_of_the_kind(tmp_path: Path, data: Path) -> None:
    (tmp_path / "one.warc.gz").write_bytes(members([request(A), response(A)]))
    (tmp_path / "two.warc.gz").write_bytes(members([response(A), response(B)]))
    rehi("add", str(tmp_path / "one.warc.gz"), data=data)
    shown = rehi("add", str(tmp_path / "two.warc.gz"), data=data).stdout
    rows = dict(line.split() for line in shown.splitlines() if len(line.split()) == 2)
    assert rows == {"what": "records", "accepted": "2", "kept": "1", "known": "1", "records": "2"}
    listed = rehi("source", data=data).stdout
    assert listed.count("2 records") == 2


def test_a_page_counts_as_a_page_and_waits_for_its_visit(tmp_path: Path, data: Path) -> None:
    added = rehi("add", A, data=data)
    assert f"waits for {A}. What lies there" in added.stdout
    listed = rehi("source", data=data).stdout
    assert f"waits for {A}" in listed


def test_a_kind_that_is_said_overrules_what_a_file_looks_like(tmp_path: Path, data: Path) -> None:
    prose = write(tmp_path / "prose.txt", f"Dear reader,\nthis is\na letter\nand\nno list\nbut for\n{A}\n")
    assert rehi("add", prose, data=data).returncode == 1
    done = json.loads(rehi("add", prose, "--kind", "url-list", "--json", data=data).stdout)
    assert (done["kind"], done["counts"]["accepted"], done["counts"]["malformed"]) == ("url-list", 1, 6)
    refused = rehi("add", prose, "--kind", "page", data=data)
    assert "can't be a page" in refused.stderr
    assert "there is no file" in rehi("add", str(tmp_path / "no"), "--kind", "url-list", data=data).stderr

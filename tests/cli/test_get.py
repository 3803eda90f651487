"""``rehi get`` gives back what was kept, byte for byte, and leaves nothing half-written."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rehi.app import House
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE
from tests.cli.command_line import rehi
from tests.keeper import Keeper, at

PAGE, FILE = "http://www.rehemaa.test/teated/", "http://www.rehemaa.test/andmed.bin"
BODIES = ["üks".encode(), b"two\x1b[2J", b"three"]
BINARY = bytes(range(256)) * 3_000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("get") / "data"
    with House(load_settings(data=folder)) as house:
        keeper = Keeper(house)
        keeper.new(PAGE, BODIES[1], at(10), headers=(("X-Said", "õ\x1b[2J"),))
        keeper.new(PAGE, BODIES[2], at(20))
        keeper.new(PAGE, BODIES[0], at(0))  # from a crawl that came late
        keeper.new(FILE, BINARY, at(0), media_type="application/octet-stream")
        keeper.redirect("http://rehemaa.test/", PAGE, at(0))
        keeper.close()
    return folder


def run(data: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-m", "rehi", "--data", str(data), *words]
    return subprocess.run(line, capture_output=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), 2),
        (("--at", "2026-03-01"), 0),
        (("--at", "2026-03-01T12:00:01Z"), 0),
        (("--at", "2026-03-11T14:00:01+02:00"), 1),
        (("--at", "20260315000000"), 1),
        (("--at", "2030"), 2),
        (("--version", "1"), 1),
        (("--version", "3"), 0),
    ],
)
def test_the_version_that_is_meant_is_written(
    data: Path, tmp_path: Path, words: tuple[str, ...], expected: int
) -> None:
    file = tmp_path / "page.html"
    result = rehi("get", PAGE, "-o", str(file), *words, data=data)
    assert result.returncode == 0, result.stderr
    assert file.read_bytes() == BODIES[expected]
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_bytes_go_through_a_pipe_as_they_are(data: Path) -> None:
    result = run(data, "get", FILE)
    assert (result.returncode, result.stdout == BINARY, result.stderr) == (0, True, b"")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((PAGE, "--at", "2026-02-28"), "the first version is of 2026-03-01 12:00:00"),
        ((PAGE, "--at", "2026-03-01T11:59:59"), "the first version"),
        ((PAGE, "--version", "4"), "there are 1 to 3"),
        ((FILE, "--version", "2"), "there is only 1"),
        ((PAGE[:-1],), f"perhaps you mean {PAGE}"),
        (("https://rehemaa.test/teated",), PAGE),
        (("http://rehemaa.test/",), f"redirects to {PAGE}"),
        (("http://nowhere.test/",), "nothing is kept"),
        ((PAGE, "--at", "soon"), "is no moment"),
        ((PAGE, "-o", "/nowhere/at/all"), "can't be written"),
        ((PAGE, "-o", "."), "is a folder"),
        (("--zip", "x.zip", "--host", "nowhere.test"), "no version matches"),
        (("--zip", "x.zip", "--source", "99"), "99"),
    ],
    ids=range(13),
)
def test_what_is_not_there_is_explained(data: Path, words: tuple[str, ...], says: str) -> None:
    result = rehi("get", *words, data=data)
    assert result.returncode == 1
    assert says in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "words",
    [(), (PAGE, "--host", "x"), ("--zip", "x.zip", "--at", "2026"), (PAGE, "--json"), (PAGE, "--at", "2026", "--version", "1"),
     (PAGE, "--version", "0"), ("--zip", "x.zip", "--host", "a", "--domain", "b")],
    ids=range(7),
)  # fmt: skip
def test_wrong_usage_is_said_before_anything_is_done(data: Path, words: tuple[str, ...]) -> None:
    assert rehi("get", *words, data=data).returncode == 2


def test_a_file_that_was_there_stays_when_the_new_one_cannot_be_had(tmp_path: Path) -> None:
    folder, file = tmp_path / "data", tmp_path / "file"
    file.write_bytes(b"before")
    with House(load_settings(data=folder)) as house:
        keeper = Keeper(house)
        version = keeper.new(FILE, os.urandom(600_000), at(0))
        keeper.close()
        with Path(house.archive_folder, version.body.file).open("r+b") as archived:
            archived.seek(version.body.offset + 300_000)
            archived.write(b"\0" * 64)
    result = rehi("get", FILE, "-o", str(file), data=folder)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert file.read_bytes() == b"before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "file"]


def test_a_pipe_and_a_link_are_written_to_and_never_replaced(data: Path, tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    link.symlink_to(target)
    target.write_bytes(b"before")
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    assert rehi("get", PAGE, "-o", str(pipe), data=data).returncode == 0
    assert reader.communicate(timeout=PATIENCE)[0] == BODIES[2]
    assert pipe.is_fifo()
    assert rehi("get", PAGE, "-o", str(link), data=data).returncode == 0
    assert link.is_symlink()
    assert target.read_bytes() == BODIES[2]


def on_a_terminal(data: Path, *words: str) -> tuple[int, bytes, bytes]:
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "rehi", "--data", str(data), *words]
    with subprocess.Popen(line, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 65_536):
                seen += chunk
        except OSError:  # the other end was closed
            pass
        assert process.stderr is not None
        error = process.stderr.read()
    os.close(ours)
    return process.returncode, seen, error


def test_a_terminal_gets_text_and_nothing_that_it_would_obey(data: Path) -> None:
    code, seen, error = on_a_terminal(data, "get", FILE)
    assert (code, seen) == (1, b"")
    assert b"-o FILE" in error
    assert on_a_terminal(data, "get", PAGE, "--version", "1")[:2] == (0, "two\ufffd[2J".encode())


def test_headers_are_shown_as_they_came(data: Path) -> None:
    shown = rehi("get", PAGE, "--version", "1", "--headers", data=data).stdout
    assert shown.startswith("HTTP/1.1 200 As It Was\nContent-Type: text/html; charset=utf-8\n")
    assert "\x1b" not in shown
    said = json.loads(rehi("get", PAGE, "--headers", "--json", data=data).stdout)
    assert (said["status"], said["version"]["number"]) == (200, 2)
    assert ["Content-Type", "text/html; charset=utf-8"] in said["headers"]


def test_many_versions_go_into_a_zip_file(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    result = rehi("get", "--zip", str(file), "--domain", "rehemaa.test", "--all-versions", "--json", data=data)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["versions"] == 4
    with zipfile.ZipFile(file) as zipped:
        assert zipped.testzip() is None
        bodies = {zipped.read(name) for name in zipped.namelist() if name != "index.jsonl"}
        assert bodies == {*BODIES, BINARY}
    one = rehi("get", "--zip", str(file), PAGE, data=data)
    assert "1 version of" in one.stderr
    assert run(data, "get", "--zip", "-", "--type", "text/html").stdout.startswith(b"PK\x03\x04")

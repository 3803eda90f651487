"""pywb replays the folder as it is: a page, a revisit and a duplicate, byte for byte."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rehi.archive import Archive
from rehi.model.visit import Visit

PAGE = "<!doctype html><title>Küla</title><p>Tere, õnn! ".encode() * 500 + bytes(range(256))
OTHER = b"an older body, larger than the newer one, " * 50


def find_pywb(program: str) -> str:
    """The program from the folder that REHI_PYWB names, from beside this Python, or from the path."""
    places = [os.environ.get("REHI_PYWB", ""), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    found = shutil.which(program, path=os.pathsep.join(place for place in places if place))
    if found is None:
        absent = pytest.fail if os.environ.get("CI") else pytest.skip
        absent(f"pywb is not installed: there is no {program} in REHI_PYWB, beside this Python or in the path")
    return found


@contextmanager
def replaying(folder: Path, home: Path) -> Iterator[str]:
    """A pywb server over the folder, and the address of its replay."""
    home.mkdir()
    subprocess.run(
        [find_pywb("cdx-indexer"), "--sort", "--cdxj", "--output", "index.cdxj", str(folder)],
        cwd=home, timeout=60, check=True, capture_output=True,
    )  # fmt: skip
    (home / "config.yaml").write_text(
        f"collections:\n  rehi:\n    index_paths: {home}/index.cdxj\n    archive_paths: {folder}/\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            [find_pywb("wayback"), "--bind", "127.0.0.1", "--port", str(port), "--directory", str(home)],
            cwd=home, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _wait_for(port, server, home / "log")
            yield f"http://127.0.0.1:{port}/rehi"
        finally:
            server.terminate()
            server.wait(20)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
    pytest.fail(f"pywb did not start: {log.read_text()}")


def fetch(address: str) -> tuple[int, bytes, dict[str, str]]:
    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)
    try:
        with opener.open(address, timeout=30) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers)


def test_pywb_replays_pages_revisits_and_duplicates(
    archive: Archive, make_visit: Callable[..., Visit], folder: Path, tmp_path: Path
) -> None:
    find_pywb("wayback")
    html = (("Content-Type", "text/html"), ("Content-Encoding", "br"), ("Transfer-Encoding", "chunked"))
    page = archive.keep(make_visit("http://www.rehemaa.test/", PAGE, headers=html))  # 12:00:01
    other = archive.keep(make_visit("http://www.rehemaa.test/muu?b=2&a=1", OTHER))  # 12:00:02
    archive.keep_duplicate(make_visit("http://www.rehemaa.test/", PAGE, headers=html), body=page)  # 12:00:03
    archive.keep_duplicate(make_visit("http://koopia.rehemaa.test/x.bin", OTHER, headers=()), body=other)  # 12:00:04
    archive.keep(make_visit("http://www.rehemaa.test/vana", b"", status=301, headers=(("Location", "/"),)))  # 12:00:05
    unmodified = make_visit("http://www.rehemaa.test/", b"", status=304, headers=())  # 12:00:06
    archive.keep_duplicate(unmodified, body=page)
    last = page
    for number in range(3):  # deltas lie among the records, which pywb passes over
        last = archive.keep_change(make_visit("http://www.rehemaa.test/", PAGE + bytes([number])), base=last)
        assert archive.fields_of(last).kind == "delta"
    after = archive.keep(make_visit("http://www.rehemaa.test/", OTHER[::-1]))  # 12:00:10
    assert after.file == page.file
    archive.sync()
    with replaying(folder, tmp_path / "pywb") as at:
        expected = {
            "20240309120001id_/http://www.rehemaa.test/": PAGE,
            "20240309120003id_/http://www.rehemaa.test/": PAGE,
            "20240309120010id_/http://www.rehemaa.test/": OTHER[::-1],
            "20240309120002id_/http://www.rehemaa.test/muu?b=2&a=1": OTHER,
            "20240309120004id_/http://koopia.rehemaa.test/x.bin": OTHER,
        }
        for address, body in expected.items():
            status, replayed, headers = fetch(f"{at}/{address}")
            assert (address, status, replayed == body) == (address, 200, True)
            assert "Content-Encoding" not in headers
        for second, said in ((5, 301), (6, 304)):  # pywb shows a server's 304 as it was, for every crawler's archive
            url = "http://www.rehemaa.test/vana" if said == 301 else "http://www.rehemaa.test/"
            assert fetch(f"{at}/2024030912000{second}id_/{url}")[:2] == (said, b"")

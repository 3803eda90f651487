"""pywb, as tests start it: the field's own replay over folders that are to be readable by it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rehi.testing.waiting import PATIENCE, wait_until


def find_pywb(program: str) -> str:
    """The program from the folder that REHI_PYWB names, from beside this Python, or from the path."""
    places = [os.environ.get("REHI_PYWB", ""), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    executable = shutil.which(program, path=os.pathsep.join(place for place in places if place))
    if executable is None:
        absent = pytest.fail if os.environ.get("CI") else pytest.skip
        absent(f"pywb is not installed: there is no {program} in REHI_PYWB, beside this Python or in the path")
    return executable


def run_pywb(program: str, *words: str, home: Path) -> None:
    """One of its tools, in a folder."""
    subprocess.run([find_pywb(program), *words], cwd=home, timeout=PATIENCE, check=True, capture_output=True)


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """Its server over the collections of a folder, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            [find_pywb("wayback"), "--bind", "127.0.0.1", "--port", str(port), "--directory", str(home)],
            cwd=home, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _wait_for(port, server, home / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(PATIENCE)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    def listens() -> bool:
        assert server.poll() is None, log.read_text()
        with socket.socket() as visitor:
            return visitor.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens, what="pywb listens", pause=0.1)


def fetch(address: str) -> tuple[int, bytes, dict[str, str]]:
    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)
    try:
        with opener.open(address, timeout=PATIENCE) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers)

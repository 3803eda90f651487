"""Ctrl-C while queries are under way: whoever waits is told, and the log holds no traceback."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.types import Receive, Scope, Send

from rehi.app import House
from rehi.serve import running
from rehi.serve.application import GateMiddleware
from rehi.serve.lane import WAITING_BY_CLIENT
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE, wait_until

VALUES = b" ".join(b"VALUES ?%c { %s }" % (name, b" ".join(b"%d" % n for n in range(90))) for name in b"abcdefg")
BOMB = b"SELECT (COUNT(*) AS ?n) { %s }" % VALUES  # which needs nothing in the graph
CLIENTS = 3


@contextmanager
def _up(folder: Path) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    """A real ``rehi up`` over an empty house."""
    command = [sys.executable, "-m", "rehi", "--data", str(folder / "data"), "up", "--port", "0", "--json"]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "}\n")
        where = urlsplit(json.loads("".join(lines) + "}")["address"])
        yield process, (str(where.hostname), int(where.port or 0))
    finally:
        process.kill()
        process.communicate()


def _ask(address: tuple[str, int], client: int) -> socket.socket:
    connection = socket.create_connection(address, timeout=PATIENCE, source_address=(f"127.0.3.{client + 1}", 0))
    connection.sendall(
        b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(BOMB), BOMB)
    )
    return connection


def _answer(connection: socket.socket) -> bytes:
    try:
        return b"".join(iter(lambda: connection.recv(65_536), b""))
    except ConnectionError:
        return b""


def test_whoever_waits_for_a_query_is_refused_when_it_stops_and_nothing_is_logged(tmp_path: Path) -> None:
    answers: list[bytes] = []
    with _up(tmp_path) as (process, address), ExitStack() as stack:
        asked = [
            stack.enter_context(_ask(address, client))
            for client in range(CLIENTS)
            for _ in range(WAITING_BY_CLIENT + 2)
        ]
        threads = [threading.Thread(target=lambda one=one: answers.append(_answer(one)), daemon=True) for one in asked]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answers) >= CLIENTS, what="the last of each client is refused, so all others wait")
        early = len(answers)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)
        took = time.monotonic() - began
        for thread in threads:
            thread.join(PATIENCE)
    statuses = [int(found[1]) if (found := re.match(rb"HTTP/1.1 (\d+)", one)) else 0 for one in answers]
    assert code == 0
    assert set(statuses[:early]) <= {429, 503}
    assert set(statuses[early:]) <= {503, 0}
    assert statuses.count(503) > CLIENTS * WAITING_BY_CLIENT / 2
    assert "Traceback" not in (log := (tmp_path / "log.txt").read_text()), log[-3000:]
    assert took < PATIENCE / 2


def test_an_answer_that_takes_too_long_is_given_up_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, answer_soon = threading.Event(), GateMiddleware.__call__

    async def answer_never(self: GateMiddleware, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await answer_soon(self, scope, receive, send)
            return
        begun.set()
        await asyncio.sleep(10 * PATIENCE)

    monkeypatch.setattr(GateMiddleware, "__call__", answer_never)
    with House(load_settings(data=tmp_path)) as house:
        with running(house, Service(house), port=0) as url:
            where = urlsplit(url)
            connection = socket.create_connection((where.hostname or "", where.port or 0), timeout=PATIENCE)
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert begun.wait(PATIENCE)
        with connection:
            answer = _answer(connection)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"rehi is being stopped" in answer
    assert not [record for record in caplog.records if record.exc_info]

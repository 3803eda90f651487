"""Connections that only take up room: idle ones, slow ones, and thousands of them."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import textwrap
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rehi.app import House
from rehi.serve import connections, running
from rehi.serve.line import MOST_WAITING
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE, wait_until


@contextmanager
def _served(folder: Path, **limits: int) -> Iterator[tuple[str, int]]:
    settings = load_settings(data=folder, serve={"port": 0, **limits})
    with House(settings) as house, running(house, Service(house)) as address:
        parts = urlsplit(address)
        assert parts.hostname is not None
        assert parts.port is not None
        yield parts.hostname, parts.port


def _connect(address: tuple[str, int], number: int = 0) -> socket.socket:
    """A connection from one of many addresses of the loopback network."""
    source = f"127.{1 + number // 60_000}.{number // 250 % 240}.{1 + number % 250}"
    return socket.create_connection(address, timeout=PATIENCE, source_address=(source, 0))


def _is_closed(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    if not readable:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except ConnectionError:
        return True


def _status(address: tuple[str, int], path: str = "/api/status") -> int:
    with urllib.request.urlopen(f"http://{address[0]}:{address[1]}{path}", timeout=PATIENCE) as answer:
        status: int = answer.status
        return status


def _sends_at_once(client: socket.socket) -> bool:
    """Whether the server's end of a connection, which is in this process, has TCP_NODELAY."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        try:
            opened = socket.socket(fileno=int(name))
        except OSError:  # closed meanwhile, or no socket
            continue
        try:
            if opened.getpeername() == client.getsockname():
                return bool(opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        except OSError:  # one that listens has no peer
            continue
        finally:
            opened.detach()
    raise AssertionError("there is no such connection")


def test_no_answer_on_a_connection_that_is_kept_waits_for_the_one_before(tmp_path: Path) -> None:
    with _served(tmp_path) as address, _connect(address) as client:
        client.sendall(b"GET /api/workers HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 200")
        assert _sends_at_once(client)


def test_the_connection_that_has_waited_longest_makes_way(tmp_path: Path) -> None:
    with _served(tmp_path, connections=64, connections_by_address=16) as address, ExitStack() as stack:
        idle = [stack.enter_context(_connect(address, n)) for n in range(70)]
        wait_until(lambda: _is_closed(idle[0]), what="the first is closed")
        assert _status(address) == 200
        assert not _is_closed(idle[-1])


def test_one_address_has_its_share_and_takes_it_from_nobody_else(tmp_path: Path) -> None:
    with _served(tmp_path, connections=64, connections_by_address=16) as address, ExitStack() as stack:
        other = stack.enter_context(_connect(address, 1))
        greedy = [stack.enter_context(_connect(address, 2)) for _ in range(60)]
        wait_until(lambda: sum(map(_is_closed, greedy)) >= 60 - 16, what="the others of that address are closed")
        assert not _is_closed(other)


def test_a_request_under_way_does_not_make_way(tmp_path: Path) -> None:
    with _served(tmp_path, connections=64, connections_by_address=64) as address, ExitStack() as stack:
        busy = stack.enter_context(_connect(address, 1))
        busy.sendall(b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n")
        busy.sendall(b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        assert busy.recv(100).startswith(b"HTTP/1.1 100 ")  # it has been begun
        for n in range(200):
            stack.enter_context(_connect(address, n))
        assert _status(address) == 200
        busy.sendall(b"ASK { } #")
        assert busy.recv(12) in (b"HTTP/1.1 200", b"HTTP/1.1 503")  # there may be no graph yet


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: loc", b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\nASK"],
    ids=["nothing", "half-a-head", "half-a-body"],
)
def test_who_does_not_go_on_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.5)
    with _served(tmp_path) as address, _connect(address) as connection:
        connection.sendall(sent)
        wait_until(lambda: _is_closed(connection), what="it is closed")


def test_who_sends_a_body_byte_by_byte_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALL_SECONDS", 1.0)
    with _served(tmp_path) as address, _connect(address) as connection:
        connection.sendall(b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n")
        wait_until(lambda: _is_reset(connection), what="it is closed")


def _is_reset(connection: socket.socket) -> bool:
    """Send one more byte; whether the other side has closed the connection, which only sending or reading tells."""
    try:
        connection.send(b"a", socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return False


def test_who_does_not_take_the_answer_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.5)
    with _served(tmp_path) as address, _connect(address) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(400):  # the answers to these fill every buffer on the way
            try:
                connection.sendall(b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n")
            except (ConnectionError, TimeoutError):
                break
            if select.select([], [], [connection], 0)[2]:
                break
        wait_until(lambda: _is_reset(connection), what="it is closed")


def _answer_late(house: House) -> dict[str, bool]:
    time.sleep(3)
    return {"late": True}


def test_a_slow_answer_of_ours_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.2)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr("rehi.operations.status.get_status", _answer_late)
    with _served(tmp_path) as address:
        assert _status(address) == 200


CROWD = """
import socket, statistics, sys, time, urllib.request
host, port, idle, slow = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
def ask(path):
    began = time.monotonic()
    urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=60).read()
    return time.monotonic() - began
paths = ("/api/status", "/documents")
alone = [statistics.median(ask(path) for _ in range(20)) for path in paths]
held = []
for n in range(idle + slow):
    try:
        source = f"127.{1 + n // 60_000}.{n // 250 % 240}.{1 + n % 250}"
        connection = socket.create_connection((host, port), timeout=60, source_address=(source, 0))
        if n >= idle:
            connection.sendall(b"POST /sparql HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 900\\r\\n\\r\\na")
        held.append(connection)
    except OSError:
        pass
waits = ([], [])
for _ in range(20):
    for path, times in zip(paths, waits):
        times.append(ask(path))
    for connection in held[idle:]:
        try:
            connection.send(b"a")
        except OSError:
            pass
print(len(held), *alone, *map(statistics.median, waits))
"""


def test_ten_thousand_idle_and_five_hundred_slow_connections_keep_nobody_out(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 11_000:
        pytest.skip(f"this system allows {hard} open files")
    with _served(tmp_path) as address:
        limited = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (11_000, {hard}))\n"
        crowd = [sys.executable, "-c", limited + textwrap.dedent(CROWD), address[0], str(address[1]), "10000", "500"]
        done = subprocess.run(crowd, capture_output=True, text=True, timeout=10 * PATIENCE, check=True)
        held, *times = map(float, done.stdout.split())
    assert held > 10_000
    # By the median: on a busy machine any single answer may wait for its turn at the processor.
    for alone, crowded in zip(times[:2], times[2:], strict=True):  # of the API, and of a page
        assert crowded < max(1.0, 10 * alone)


def test_who_would_wait_behind_too_many_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def answer_when_told(service: Service) -> dict[str, bool]:
        go_on.wait(PATIENCE)
        return {"late": True}

    monkeypatch.setattr("rehi.operations.status.get_status", answer_when_told)
    monkeypatch.setattr("rehi.serve.line.PATIENCE", PATIENCE)  # who stands in line stays there
    statuses: list[int] = []
    waits: set[str | None] = set()

    def ask() -> None:
        try:
            statuses.append(_status(address))
        except urllib.error.HTTPError as error:
            waits.add(error.headers["Retry-After"])
            statuses.append(error.code)
            error.close()

    with _served(tmp_path) as address:
        crowd = [threading.Thread(target=ask) for _ in range(200)]
        for thread in crowd:
            thread.start()
        wait_until(lambda: len(statuses) == 200 - MOST_WAITING, what="those that are too many are refused")
        assert set(statuses) == {503}
        assert waits == {"2"}
        go_on.set()
        for thread in crowd:
            thread.join(PATIENCE)
    assert statuses.count(200) == MOST_WAITING

"""The gate: requests that try to pass as others than they are."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rehi.app import House
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE
from tests.serve.conftest import Ask, ask_at

TOKEN = "sesam-avane-37"


def _raw(address: str, request: bytes) -> bytes:
    """What a server answers to these very bytes."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE) as connection:
        connection.sendall(request.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = load_settings(
        data=tmp_path_factory.mktemp("public"), serve={"host": "0.0.0.0", "port": 0, "token": TOKEN}
    )
    with House(settings) as house, running(house, Service(house)) as address:
        yield address.replace("0.0.0.0", "127.0.0.1")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = load_settings(data=tmp_path_factory.mktemp("local"), serve={"port": 0})
    with House(settings) as house, running(house, Service(house)) as address:
        yield address


@pytest.mark.parametrize("host", [b"x/sparql?", b"x/sparql#", b"a@b/sparql?", b"/sparql?", b"x\\sparql", b"a b"])
def test_no_host_passes_for_a_path(public: str, host: bytes) -> None:
    answer = _raw(public, b"POST /api/sources HTTP/1.1\r\nHost: " + host + b"\r\nContent-Length: 2\r\n\r\n{}")
    assert _status(answer) == 400


@pytest.mark.parametrize(
    "host", [b"a{b}.example:8666", b"[::1", b"", b"localhost:999999", b"localhost:80:80", b"loc\xffalhost", b"x" * 300]
)
def test_a_host_that_is_none_is_refused(local: str, host: bytes) -> None:
    answer = _raw(local, b"GET /api/status HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
    assert _status(answer) == 400
    assert b"counts" not in answer


def test_two_hosts_are_refused(local: str) -> None:
    answer = _raw(local, b"GET /api/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
    assert _status(answer) == 400


@pytest.mark.parametrize("host", [b"evil.example", b"localhost.evil.example", b"127.0.0.1.evil.example", b"[::2]"])
def test_a_foreign_host_is_not_served_on_loopback(local: str, host: bytes) -> None:
    answer = _raw(local, b"GET /api/status HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
    assert _status(answer) == 421


@pytest.mark.parametrize("host", [b"localhost", b"LOCALHOST:80", b"127.0.0.1:8666", b"[::1]:8666"])
def test_the_names_of_this_machine_are_served(local: str, host: bytes) -> None:
    assert _status(_raw(local, b"GET /api/status HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")) == 200


def test_an_address_in_the_request_line_passes_for_no_path(public: str) -> None:
    answer = _raw(public, b"POST http://x/sparql HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
    assert _status(answer) in (401, 403)


def test_the_cookie_holds_a_session_and_not_the_token(public: str) -> None:
    ask = ask_at(public)
    cookie = ask("/login", body=f"token={TOKEN}".encode()).headers["set-cookie"]
    assert TOKEN not in cookie
    session = cookie.partition(";")[0]
    assert ask("/logout", body=b"", cookie=session).status == 303
    assert _changes(ask, session) == 401


def test_a_session_lets_its_bearer_change_something_until_it_is_ended(public: str) -> None:
    ask = ask_at(public)
    session = ask("/login", body=f"token={TOKEN}".encode()).headers["set-cookie"].partition(";")[0]
    assert _changes(ask, session) not in (401, 403)
    name = session.partition("=")[2]
    assert _changes(ask, session.replace(name, name[:-1])) == 401
    assert _changes(ask, f"rehi_session={TOKEN}") == 401
    page = ask("/", cookie=session, accept="text/html").text
    assert re.search(r"<button[^>]*>Log out", page)
    ask("/logout", body=b"", cookie=session)
    assert _changes(ask, session) == 401


def _changes(ask: Ask, session: str) -> int:
    return ask("/api/sources/99/start", body=b"{}", cookie=session).status


def test_nobody_can_try_many_tokens(tmp_path: Path) -> None:
    settings = load_settings(data=tmp_path, serve={"host": "0.0.0.0", "port": 0, "token": TOKEN})
    with House(settings) as house, running(house, Service(house)) as address:
        ask = ask_at(address.replace("0.0.0.0", "127.0.0.1"))
        statuses = [ask("/login", body=b"token=wrong").status for _ in range(11)]
        assert statuses == [401] * 10 + [429]
        assert ask("/login", body=f"token={TOKEN}".encode()).status == 429


def _bearer_status(address: str, token: str, *, source: str = "127.0.0.1", line: str = "POST /api/updates") -> bytes:
    """What a client at an address of the loopback network is answered that sends a token in the header."""
    parts = urlsplit(address)
    where = (parts.hostname or "", parts.port or 0)
    with socket.create_connection(where, timeout=PATIENCE, source_address=(source, 0)) as connection:
        connection.sendall(
            f"{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
            'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"x": 1 }'.encode()
        )
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("line", ["POST /api/updates", "GET /api/status", "GET /"])
def test_nobody_can_try_many_bearers(tmp_path: Path, line: str) -> None:
    settings = load_settings(data=tmp_path, serve={"host": "0.0.0.0", "port": 0, "token": TOKEN})
    with House(settings) as house, running(house, Service(house)) as given:
        address = given.replace("0.0.0.0", "127.0.0.1")
        answers = [_bearer_status(address, f"wrong{n}", line=line) for n in range(40)]
        statuses = [_status(answer) for answer in answers]
        assert set(statuses[:10]) == {401 if line.startswith("POST") else 200}
        assert set(statuses[10:]) == {429}
        assert b"\r\nretry-after: 60\r\n" in answers[-1].lower()
        assert _status(_bearer_status(address, TOKEN, line=line)) == 429  # else it could be told from the wrong ones
        assert ask_at(address)("/login", body=f"token={TOKEN}".encode()).status == 429
        elsewhere = _status(_bearer_status(address, TOKEN, source="127.0.0.77", line=line))
        assert elsewhere not in (401, 403, 429)
        assert ask_at(address)("/api/status").status == 200  # who gives no token may read as ever


def test_the_right_bearer_is_never_counted(tmp_path: Path) -> None:
    settings = load_settings(data=tmp_path, serve={"host": "0.0.0.0", "port": 0, "token": TOKEN})
    with House(settings) as house, running(house, Service(house)) as given:
        address = given.replace("0.0.0.0", "127.0.0.1")
        assert {_status(_bearer_status(address, TOKEN, line="GET /api/status")) for _ in range(30)} == {200}


@pytest.mark.parametrize(
    "name", ["語" * 120 + ".log", "õ" * 1_500 + ".log", "/" * 900, "..", "a\u0000b.log", "\u202egol.a.log"]
)
def test_whatever_an_upload_is_called_it_is_taken_or_refused_with_a_sentence(local: str, name: str) -> None:
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + b"http://a.example/\r\n--x--\r\n"
    answer = ask_at(local)("/api/sources", body=body, content_type="multipart/form-data; boundary=x")
    assert answer.status in (200, 201, 202, 400, 409, 422)
    assert answer.json.get("detail") != ""

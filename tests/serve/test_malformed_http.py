"""Malformed HTTP gets the same problem details as everything else that is wrong, and the connection is closed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import pytest

from rehi.app import House
from rehi.serve import connections, running
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE, wait_until
from tests.serve.hostile_requests import send, status_of

HOST = b"Host: localhost\r\n"
POST = b"POST /api/updates HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
MALFORMED = {
    "no-http-at-all": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "illegal request line"),
    "line-without-a-version": (b"GET /\r\n\r\n", 400, "illegal request line"),
    "line-of-words": (b"what is this here\r\n\r\n", 400, "illegal request line"),
    "line-that-ends-at-once": (b"\r\n\r\n\r\n", 400, "no request line"),
    "space-in-the-target": (b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", 400, "illegal request line"),
    "line-with-a-nul": (b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n", 400, "illegal request line"),
    "header-without-a-colon": (b"GET / HTTP/1.1\r\n" + HOST + b"Bad header\r\n\r\n", 400, "illegal header line"),
    "header-with-a-nul": (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n", 400, "illegal header line"),
    "folded-first-header": (b"GET / HTTP/1.1\r\n X: a\r\n\r\n", 400, "continuation line"),
    "no-host": (b"GET / HTTP/1.1\r\n\r\n", 400, "Host"),
    "two-hosts": (b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400, "Host"),
    "length-that-is-no-number": (POST + b"Content-Length: x\r\n\r\n", 400, "Content-Length"),
    "length-below-zero": (POST + b"Content-Length: -1\r\n\r\n", 400, "Content-Length"),
    "length-without-end": (POST + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n", 400, "Content-Length"),
    "two-lengths": (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "Content-Length"),
    "unknown-transfer-coding": (POST + b"Transfer-Encoding: gzip\r\n\r\n", 400, "Transfer-Encoding"),
    "two-transfer-codings": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 400, "Transfer-Encoding"),
    "chunk-without-a-length": (CHUNKED + b"zz\r\n", 400, "chunk header"),
    "chunk-longer-than-it-says": (CHUNKED + b"1\r\nabc\r\n0\r\n\r\n", 400, "chunk footer"),
    "malformed-trailer": (CHUNKED + b"0\r\nBad trailer\r\n\r\n", 400, "illegal header line"),
    "endless-line": (b"GET /" + b"a" * 400_000, 414, "first line"),
    "endless-header": (b"GET / HTTP/1.1\r\nX: " + b"a" * 400_000, 431, "headers"),
    "endless-headers": (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 70_000, 431, "headers"),
}
BROKEN_OFF = {
    "in-the-line": b"GET / HT",
    "in-the-head": b"GET / HTTP/1.1\r\nHost: loc",
    "before-the-length-is-reached": POST + b"Content-Length: 90\r\n\r\n{}",
    "in-a-chunk": CHUNKED + b"5\r\n{",
    "before-the-last-chunk": CHUNKED + b"2\r\n{}\r\n",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    settings = load_settings(data=tmp_path_factory.mktemp("malformed") / "data")
    with House(settings) as house, running(house, Service(house), port=0) as url:
        where = urlsplit(url)
        yield str(where.hostname), int(where.port or 0)


def no_traceback(log: pytest.LogCaptureFixture) -> bool:
    return not [record for record in log.records if record.exc_info or "Traceback" in record.getMessage()]


def check_problem(answer: bytes, status: int, words: str) -> None:
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert status_of(answer) == status
    assert b"content-type: application/problem+json" in lines
    assert b"connection: close" in lines
    assert b"x-content-type-options: nosniff" in lines
    problem = orjson.loads(body)
    assert {"type", "title", "status", "detail", "instance", "code", "advice", "parameters"} == problem.keys()
    assert problem["status"] == status
    assert problem["type"] == f"/docs#problem-{problem['code']}"
    assert words in problem["detail"]
    assert not {"b'", "bytearray"} & set(problem["detail"].split())


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_http_gets_a_problem_and_the_connection_ends(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture, case: str
) -> None:
    request, status, words = MALFORMED[case]
    check_problem(send(*address, request), status, words)
    assert no_traceback(caplog)


@pytest.mark.parametrize("case", BROKEN_OFF)
def test_a_request_that_breaks_off_is_told_so(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture, case: str
) -> None:
    check_problem(send(*address, BROKEN_OFF[case], broken_off=True), 400, "broke off")
    assert no_traceback(caplog)


def test_what_comes_after_an_answer_may_be_malformed(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    answer = send(*address, b"GET /api/workers HTTP/1.1\r\n" + HOST + b"\r\nnonsense\r\n\r\n")
    assert status_of(answer) == 200
    check_problem(answer[answer.rindex(b"HTTP/1.1 400") :], 400, "illegal request line")
    assert no_traceback(caplog)


def test_who_asks_for_an_upgrade_is_answered_as_ever(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    asked = b"Connection: upgrade, close\r\nUpgrade: websocket\r\n\r\n"
    assert status_of(send(*address, b"GET /api/workers HTTP/1.1\r\n" + HOST + asked)) == 200
    assert caplog.records == []


def test_a_head_is_refused_without_a_body(address: tuple[str, int], caplog: pytest.LogCaptureFixture) -> None:
    answer = send(*address, CHUNKED.replace(b"POST /api/updates", b"HEAD /login") + b"zz\r\n")
    assert status_of(answer) in (400, 200)  # what reads no body may have answered before
    assert answer.endswith(b"\r\n\r\n")
    assert no_traceback(caplog)


def test_a_body_that_is_malformed_after_the_answer_ends_the_connection(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    refused = CHUNKED.replace(b"/api/updates", b"/api/nowhere")
    with socket.create_connection(address, PATIENCE) as client:
        client.sendall(refused)
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 404 ")
        client.sendall(b"zz\r\n")
        wait_until(lambda: not client.recv(1 << 16), what="the connection is closed")
    assert no_traceback(caplog)


def test_who_sends_on_after_a_refusal_is_let_in_only_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: tuple[str, int]
) -> None:
    monkeypatch.setattr(connections, "LINGER_SECONDS", 0.3)
    with socket.create_connection(address, PATIENCE) as client:
        client.sendall(b"nonsense\r\n\r\n")

        def is_closed() -> bool:
            try:
                client.send(b"more")
            except ConnectionError:
                return True
            return False

        wait_until(is_closed, what="the connection is closed")

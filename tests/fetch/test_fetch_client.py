"""What a visit brings home when the server behaves."""

from __future__ import annotations

import gzip
import hashlib
import socket
import threading
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from rehi.errors import ConnectFailed, SettingsError
from rehi.fetch import Fetcher
from rehi.fetch.coding import find_decoders
from rehi.model.visit import Visit
from rehi.settings import FetchSettings
from rehi.testing.waiting import PATIENCE, wait_until

if TYPE_CHECKING:
    from tests.fetch.conftest import RawServer, Visiting

PAGE = b"Tere, maailm! " * 400


def _ok(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _drain(fetcher: Fetcher[str], count: int, *, seconds: float = PATIENCE) -> dict[str, Visit]:
    ended: dict[str, Visit] = {}
    end = time.monotonic() + seconds
    while len(ended) < count and time.monotonic() < end:
        ended.update(fetcher.poll(0.5))
    for visit in ended.values():
        if visit.answer is not None:
            visit.answer.body.close()
    return ended


def test_a_page_comes_with_its_bytes_size_and_digest(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = _ok(PAGE, "Content-Type: text/html")
    before = datetime.now(UTC)
    ended = visit(server.url("/"))
    assert ended.error is None
    assert ended.url == server.url("/")
    assert before <= ended.started_at <= datetime.now(UTC)
    assert 0 < ended.seconds < PATIENCE / 2
    answer = ended.answer
    assert answer is not None
    assert (answer.status, answer.reason, answer.http_version) == (200, "OK", "1.1")
    assert answer.address == "127.0.0.1"
    assert answer.body.read() == PAGE
    assert answer.size == len(PAGE)
    assert answer.digest == f"sha256:{hashlib.sha256(PAGE).hexdigest()}"


def test_the_request_is_told_exactly_as_it_was_sent(server: RawServer, visit: Visiting) -> None:
    server.replies["/a?b=c"] = _ok(b"")
    ended = visit("http://www.rehemaa.test/a?b=c", etag='"v\xe4"', last_modified="Mon, 01 Jan 2024 00:00:00 GMT")
    assert ended.answer is not None
    headers = "".join(f"{name}: {value}\r\n" for name, value in ended.answer.request_headers)
    assert server.requests == [b"GET /a?b=c HTTP/1.1\r\n" + headers.encode("latin-1") + b"\r\n"]


def test_the_user_agent_is_the_configured_one(server: RawServer, visit: Visiting) -> None:
    visit(server.url("/"), user_agent="rehi/0.1 (+https://example.ee/about)")
    assert b"\r\nUser-Agent: rehi/0.1 (+https://example.ee/about)\r\n" in server.requests[0]
    assert server.requests[0].lower().count(b"user-agent") == 1


@pytest.mark.parametrize("agent", ["", "two\r\nlines: 1", "Jõgeva"])
def test_a_user_agent_that_is_no_header_is_refused(agent: str) -> None:
    with pytest.raises(SettingsError, match="user_agent"):
        Fetcher[int](FetchSettings(user_agent=agent), clock=lambda: datetime.now(UTC))


def test_headers_stay_as_they_came(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = (
        b"HTTP/1.1 203 Peaaegu  h\xe4sti \r\nconTENT-type:text/plain\r\nX-Two: 1\r\nSet-Cookie: a=1\r\nx-two:   2  \r\n"
        b"X-Folded: one\r\n \t two\r\nX-Empty:\r\nX-Latin: \xf5un\r\nContent-Length: 2\r\n\r\nhi"
    )
    answer = visit(server.url("/")).answer
    assert answer is not None
    assert (answer.status, answer.reason) == (203, "Peaaegu  hästi")
    assert answer.headers == (
        ("conTENT-type", "text/plain"),
        ("X-Two", "1"),
        ("Set-Cookie", "a=1"),
        ("x-two", "2"),
        ("X-Folded", "one two"),
        ("X-Empty", ""),
        ("X-Latin", "õun"),
        ("Content-Length", "2"),
    )
    assert answer.header("x-TWO") == "2"


def test_interim_answers_and_trailers_are_not_headers(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = (
        b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nhi\r\n0\r\nX-Trailer: 1\r\nHTTP/1.1 500 Trick: 1\r\n\r\n"
    )
    answer = visit(server.url("/")).answer
    assert answer is not None
    assert answer.status == 200
    assert answer.headers == (("Transfer-Encoding", "chunked"),)
    assert answer.body.read() == b"hi"


def _raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


def _brotli(data: bytes) -> bytes:
    if "br" not in find_decoders():
        pytest.skip("this installation has no brotli whose output can be limited")
    compressed: bytes = pytest.importorskip("brotli").compress(data)
    return compressed


def _zstd(data: bytes) -> bytes:
    if "zstd" not in find_decoders():
        pytest.skip("this installation has no zstd")
    compressed: bytes = pytest.importorskip("backports.zstd").compress(data)
    return compressed


@pytest.mark.parametrize(
    ("coding", "compress"),
    [
        ("gzip", gzip.compress),
        ("X-GZIP", gzip.compress),
        ("gzip", lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])),
        ("gzip", lambda data: gzip.compress(data) + b"\0" * 512),
        ("deflate", zlib.compress),
        ("deflate", _raw_deflate),
        ("br", _brotli),
        ("zstd", _zstd),
        ("zstd", lambda data: _zstd(data[:99]) + _zstd(data[99:])),
        ("gzip, deflate", lambda data: zlib.compress(gzip.compress(data))),
        ("identity", bytes),
        ("utf-8", bytes),
    ],
)
def test_the_body_is_decoded(
    server: RawServer, visit: Visiting, coding: str, compress: Callable[[bytes], bytes]
) -> None:
    packed = compress(PAGE)
    server.replies["/whole"] = _ok(packed, f"Content-Encoding: {coding}")

    def byte_by_byte(connection: socket.socket, _request: bytes) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n".encode())
        for place in range(30):
            connection.sendall(packed[place : place + 1])
            time.sleep(0.002)
        connection.sendall(packed[30:])

    server.replies["/slowly"] = byte_by_byte
    for path in ("/whole", "/slowly"):
        ended = visit(server.url(path))
        assert ended.answer is not None, ended.error
        assert ended.answer.body.read() == PAGE
        assert ended.answer.header("content-encoding") == coding
        assert ended.answer.digest == f"sha256:{hashlib.sha256(PAGE).hexdigest()}"


def test_only_codings_that_can_be_read_are_asked_for(server: RawServer, visit: Visiting) -> None:
    visit(server.url("/"))
    assert f"\r\nAccept-Encoding: {', '.join(find_decoders())}\r\n".encode() in server.requests[0]
    assert list(find_decoders())[:2] == ["gzip", "deflate"]


def test_an_unchanged_page_is_an_answer_without_a_body(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = b'HTTP/1.1 304 Not Modified\r\nETag: "7"\r\nContent-Length: 999999999\r\n\r\n'
    ended = visit(server.url("/"), etag='"7"', last_modified="Mon, 01 Jan 2024 00:00:00 GMT")
    assert ended.answer is not None, ended.error
    assert (ended.answer.status, ended.answer.size, ended.answer.body.read()) == (304, 0, b"")
    assert b'\r\nIf-None-Match: "7"\r\n' in server.requests[0]
    assert b"\r\nIf-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT\r\n" in server.requests[0]


def test_conditions_that_would_break_the_request_are_left_out(server: RawServer, visit: Visiting) -> None:
    visit(server.url("/"), etag='"a\r\nX-Injected: 1"', last_modified="snow \u2603")
    assert b"Injected" not in server.requests[0]
    assert b"If-" not in server.requests[0]


def test_the_next_visit_carries_nothing_over_from_the_last(server: RawServer, fetcher: Fetcher[str]) -> None:
    server.replies["/"] = _ok(b"first", "Keep: yes", "X-First: 1")
    fetcher.submit("one", server.url("/"), etag='"1"', max_bytes=10)
    assert _drain(fetcher, 1)["one"].answer is not None
    server.replies["/"] = _ok(PAGE, "Keep: yes")
    fetcher.submit("two", server.url("/"))
    second = _drain(fetcher, 1)["two"].answer
    assert second is not None
    assert second.header("X-First") == ""
    assert second.size == len(PAGE)
    assert b"If-None-Match" not in server.requests[1]
    assert second.address == "127.0.0.1"
    assert server.connections == 1


def test_a_route_is_not_kept_for_the_next_host(server: RawServer, fetcher: Fetcher[str]) -> None:
    server.replies["/"] = _ok(b"by rule")
    fetcher.submit("by rule", "http://www.rehemaa.test/")
    assert _drain(fetcher, 1)["by rule"].answer is not None
    fetcher.submit("by name", "http://127.0.0.1:443/")  # nobody listens there, but the rule would lead to the server
    assert type(_drain(fetcher, 1)["by name"].error) is ConnectFailed
    assert len(server.requests) == 1


def test_error_pages_are_answers(server: RawServer, visit: Visiting) -> None:
    for status in (404, 500, 999):
        server.replies["/"] = f"HTTP/1.1 {status} No\r\nContent-Length: 3\r\n\r\nsry".encode()
        answer = visit(server.url("/")).answer
        assert answer is not None
        assert (answer.status, answer.body.read()) == (status, b"sry")


def test_fifty_hosts_are_visited_at_once(server: RawServer, fetcher: Fetcher[str]) -> None:
    barrier = threading.Barrier(50, timeout=PATIENCE)  # no answer goes out before all fifty requests are in

    def together(connection: socket.socket, request: bytes) -> None:
        barrier.wait()
        host = request.split(b"Host: ")[1].split(b"\r\n")[0]
        connection.sendall(_ok(host))

    server.replies["/"] = together
    for number in range(50):
        fetcher.submit(f"h{number}.test", f"http://h{number}.test/")
    assert fetcher.in_flight == 50
    ended = _drain(fetcher, 50)
    assert fetcher.in_flight == 0
    assert all(visit.answer is not None and visit.answer.size == len(host) for host, visit in ended.items())
    assert len(ended) == 50


def test_names_are_resolved_by_rule_and_keep_their_host_header(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = _ok(b"")
    assert visit("http://www.rehemaa.test/").answer is not None
    assert visit(f"http://avaandmed.rehemaa.test:{server.port}/").answer is not None
    hosts = [request.split(b"\r\n")[1] for request in server.requests]
    assert hosts == [b"Host: www.rehemaa.test", f"Host: avaandmed.rehemaa.test:{server.port}".encode()]


def test_unusual_spellings_of_urls_are_put_right(server: RawServer, visit: Visiting) -> None:
    server.replies["/%C3%B5un%20a?k=%C3%A4"] = _ok(b"")
    ended = visit("http://kasutaja:salasona@WWW.ÕUN.test/õun a?k=ä#koht")
    assert ended.answer is not None, ended.error
    assert ended.url == "http://kasutaja:salasona@WWW.ÕUN.test/õun a?k=ä#koht"
    assert b"\r\nHost: www.xn--un-bka.test\r\n" in server.requests[0]
    assert b"Authorization" not in server.requests[0]


def test_a_waiting_poll_is_woken_from_another_thread(fetcher: Fetcher[str]) -> None:
    timer = threading.Timer(0.1, fetcher.wakeup)
    timer.start()
    began = time.monotonic()
    assert fetcher.poll(PATIENCE) == []
    assert time.monotonic() - began < PATIENCE / 2
    timer.join()


def test_a_poll_waits_no_longer_than_told(server: RawServer, fetcher: Fetcher[str]) -> None:
    server.replies["/"] = server.trickle(b"HTTP/1.1 200 OK\r\n\r\n", pause=0.01)
    fetcher.submit("slow", server.url("/"))
    began = time.monotonic()
    assert fetcher.poll(0.2) == []
    assert 0.1 < time.monotonic() - began < PATIENCE / 4


def test_closing_breaks_off_what_is_under_way(server: RawServer, settings: FetchSettings) -> None:
    server.replies["/"] = server.endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)
    fetcher = Fetcher[str](settings, clock=lambda: datetime.now(UTC))
    fetcher.submit("endless", server.url("/"))
    wait_until(lambda: fetcher.poll(0.02) or server.requests, what="the visit is under way")
    fetcher.close()
    fetcher.close()
    fetcher.wakeup()
    assert server.broken_off.wait(PATIENCE)

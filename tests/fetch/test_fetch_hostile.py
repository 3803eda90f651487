"""Servers that say anything at all, and the practice web's bad ones: every visit ends, soon, and as what it was."""

from __future__ import annotations

import contextlib
import gzip
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rehi.errors import (
    AddressDenied,
    BadAnswer,
    BadEncoding,
    FetchError,
    TimedOut,
    TooLarge,
    Truncated,
)
from rehi.fetch import Fetcher
from rehi.fetch.target import parse_target
from rehi.model.visit import Visit
from rehi.settings import FetchSettings
from rehi.testing.waiting import PATIENCE, wait_until
from rehi.testing.world.misbehaviours import ALL
from rehi.testing.world.replies import Misbehaviour, Reset, Wait
from tests.fetch.conftest import OnceServer, RawServer, Reply, Visiting, now

_PAGE = b"<!doctype html><title>Tere</title>" * 30
_VALID = [
    b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_PAGE) + _PAGE,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nTere,\r\n3;x=y\r\n ja\r\n0\r\nX-Sum: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(_PAGE, mtime=0),
    b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate, br\r\n\r\n" + zlib.compress(_PAGE),
    b"HTTP/1.0 301 Moved\r\nLocation: /next\r\n\r\n",
    b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n',
    b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-MD5: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\nx",
    b"HTTP/2 200\r\ncontent-type: text/html\r\n\r\nx",
]


class Blurter(OnceServer):
    """Says what it was told to on every connection, and hangs up."""

    def __init__(self) -> None:
        self.words = b""
        self.rude = False  # hangs up with a reset
        super().__init__()

    def answer(self, connection: socket.socket) -> None:
        connection.recv(4_000)
        connection.sendall(self.words)
        if self.rude:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.fixture(scope="module")
def blurter() -> Iterator[Blurter]:
    server = Blurter()
    yield server
    server.close()


@pytest.fixture(scope="module")
def patient_for_a_second(blurter: Blurter) -> Iterator[Fetcher[int]]:
    limits = FetchSettings(
        allow_private=["127.0.0.0/8"], ports=[blurter.port], timeout=1, stall_timeout=1, max_bytes=50_000
    )
    with Fetcher[int](limits, clock=now) as fetcher:
        yield fetcher


@st.composite
def _spoilt(draw: st.DrawFn) -> bytes:
    """A valid answer with a few pieces cut out, doubled or replaced."""
    words = draw(st.sampled_from(_VALID))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(words)))
        end = min(len(words), start + draw(st.integers(0, 40)))
        middle = draw(
            st.sampled_from([b"", words[start:end] * 3, b"\r\n", b"\0", b": ", b"9" * 30]) | st.binary(max_size=9)
        )
        words = words[:start] + middle + words[end:]
    return words


def _visit(fetcher: Fetcher[int], server: Blurter, *, follow: bool, cut_at: int | None) -> Visit:
    fetcher.submit(1, f"http://127.0.0.1:{server.port}/", follow=follow, cut_at=cut_at)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for _, ended in fetcher.poll(0.5):
            return ended
    raise AssertionError("the visit did not end")


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.one_of(_spoilt(), _spoilt(), st.binary(max_size=300), st.binary(max_size=200).map(b"HTTP/1.1 ".__add__)),
    rude=st.booleans(),
    follow=st.booleans(),
    cut_at=st.sampled_from([None, 0, 7, 5_000]),
)
def test_whatever_a_server_says_the_visit_ends(
    blurter: Blurter,
    patient_for_a_second: Fetcher[int],
    capfd: pytest.CaptureFixture[str],
    words: bytes,
    rude: bool,
    follow: bool,
    cut_at: int | None,
) -> None:
    blurter.words, blurter.rude = words, rude
    ended = _visit(patient_for_a_second, blurter, follow=follow, cut_at=cut_at)
    if ended.answer is None:
        assert isinstance(ended.error, FetchError)
        assert str(ended.error).isprintable()
        assert len(str(ended.error)) < 500
    else:
        with ended.answer.body as body:
            assert len(body.read()) == ended.answer.size <= 50_000
    assert patient_for_a_second.in_flight == 0
    assert capfd.readouterr().err == ""


def test_whatever_a_server_says_no_file_stays_open(blurter: Blurter, patient_for_a_second: Fetcher[int]) -> None:
    counts = []
    for _ in range(3):
        for number, words in enumerate(_VALID * 5):
            blurter.words, blurter.rude = words[: len(words) - number], number % 2 == 0
            ended = _visit(patient_for_a_second, blurter, follow=False, cut_at=None)
            if ended.answer is not None:
                ended.answer.body.close()
        counts.append(_open_files())
    wait_until(lambda: _open_files() <= counts[0] + 1, what="no file stays open")  # but one that is on its way out


EXPECTED: dict[str, type[FetchError] | None] = {
    "dribbled-body": TimedOut,
    "dribbled-head": TimedOut,
    "silence": TimedOut,
    "reset": Truncated,
    "empty-reply": BadAnswer,
    "not-http": BadAnswer,
    "half-head": Truncated,
    "huge-body": TooLarge,
    "huge-chunks": TooLarge,
    "gzip-bomb": TooLarge,
    "longer-than-said": None,
    "shorter-than-said": Truncated,
    "cut-gzip": Truncated,
    "false-gzip": BadEncoding,
    "cut-chunks": Truncated,
    "false-chunks": BadAnswer,
    "endless-body": TimedOut,
    "endless-head": BadAnswer,
}


def _doing(misbehaviour: Misbehaviour, stopping: threading.Event) -> Reply:
    """What a misbehaviour does, on a connection of the server of these tests."""

    def do(connection: socket.socket, _request: bytes) -> None:
        with contextlib.suppress(OSError):
            for step in misbehaviour.steps():
                if isinstance(step, Wait):
                    if stopping.wait(step.seconds):
                        return
                elif isinstance(step, Reset):
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                else:
                    connection.sendall(step)

    return do


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_practice_webs_bad_servers_are_told_apart(server: RawServer, visit: Visiting, name: str) -> None:
    stopping = threading.Event()
    server.replies["/"] = _doing(ALL[name], stopping)
    hasty: dict[str, Any] = {"timeout": 1.5, "stall_timeout": 1.0} if EXPECTED.get(name, TimedOut) is TimedOut else {}
    ended = visit(server.url("/"), max_bytes=10_000_000, **hasty)
    stopping.set()
    assert ended.seconds < PATIENCE / 2
    if name not in EXPECTED:
        assert (ended.answer is None) != (ended.error is None)
    elif EXPECTED[name] is None:
        assert ended.answer is not None, ended.error
    else:
        assert type(ended.error) is EXPECTED[name], repr(ended.error)


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:70/_x",
        "ftp://127.0.0.1/",
        "dict://127.0.0.1:11211/stat",
        "ldap://127.0.0.1/",
        "javascript:alert(1)",
        "data:text/plain,hi",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://10.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fe80::1%25eth0]/",
        "http://www.rehemaa.test@10.0.0.1/",
        "http://www.rehemaa.test:80@10.0.0.1:80/",
        "http://www.rehemaa.test\\@10.0.0.1/",
        "http://10.0.0.1./",
        "http://10。0。0。1/",
        "http://１０.0.0.1/",
        "//10.0.0.1/",
        "\\\\10.0.0.1\\",
        "http:10.0.0.1",
    ],
)
def test_no_redirect_leads_past_the_guard(server: RawServer, visit: Visiting, location: str) -> None:
    reply = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
    server.replies["/"] = reply.encode()
    ended = visit(server.url("/"), follow=True)
    if ended.answer is None:
        assert type(ended.error) is AddressDenied, repr(ended.error)
    else:  # a location that means another path of the same host, or nothing
        assert ended.answer.status in (302, 404)
    assert all(b"Host: 127.0.0.1:" in request or b"Host: www.rehemaa.test" in request for request in server.requests)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0177.0.0.01/", "127.0.0.1"),
        ("http://127.0.0.1./", "127.0.0.1"),
        ("http://127。0。0。1/", "127.0.0.1"),
        ("http://①②⑦.0.0.1/", "127.0.0.1"),
        ("http://[::FFFF:127.0.0.1]/", "[::ffff:7f00:1]"),
        ("http://public.example@127.0.0.1/", "127.0.0.1"),
        ("http://127.0.0.1\\@public.example/", "127.0.0.1"),
        ("http://127.0.0.1#@public.example/", "127.0.0.1"),
        ("http://LOCALHOST/", "localhost"),
        ("http://loc%61lhost/", "localhost"),
        ("http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "localhost"),
    ],
)
def test_a_host_in_disguise_is_checked_as_what_it_is(visit: Visiting, url: str, host: str) -> None:
    assert parse_target(url).host == host
    assert type(visit(url, allow_private=[]).error) is AddressDenied


@pytest.mark.parametrize(
    "url", ["http://[fe80::1%25lo]/", "http://[::1%25lo]/", "http://256.0.0.1/", "http://1.2.3.4.5/"]
)
def test_a_host_that_can_be_none_is_denied(visit: Visiting, url: str) -> None:
    assert type(visit(url).error) is AddressDenied

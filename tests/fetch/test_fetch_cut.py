"""Bodies of which the beginning is enough."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from rehi.errors import TooLarge, Truncated
from rehi.fetch import Fetcher
from rehi.settings import FetchSettings
from rehi.testing.waiting import PATIENCE, wait_until
from tests.fetch.conftest import RawServer, Visiting, now

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "head", [OK + b"\r\n", OK + b"Content-Length: 5000000000\r\n\r\n"], ids=["without a length", "of five gigabytes"]
)
def test_a_long_body_is_cut_on_the_wire(server: RawServer, visit: Visiting, head: bytes) -> None:
    server.replies["/"] = server.endless(head, b"0123456789" * 1_000)
    answer = visit(server.url("/"), cut_at=500 * 1024).answer
    assert answer is not None
    body = answer.body.read()
    assert body == (b"0123456789" * 52_000)[: 500 * 1024]
    assert answer.size == len(body)
    assert answer.digest == f"sha256:{hashlib.sha256(body).hexdigest()}"
    assert server.broken_off.wait(PATIENCE)


@pytest.mark.parametrize("size", [0, 9, 10])
def test_a_body_that_is_no_longer_comes_whole(server: RawServer, visit: Visiting, size: int) -> None:
    server.replies["/"] = OK + b"Content-Length: %d\r\n\r\n" % size + b"x" * size
    answer = visit(server.url("/"), cut_at=10).answer
    assert answer is not None
    assert answer.body.read() == b"x" * size


def test_a_packed_body_is_cut_where_its_text_is(server: RawServer, visit: Visiting) -> None:
    packed = gzip.compress(b"0123456789" * 1_000_000)
    server.replies["/"] = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    answer = visit(server.url("/"), cut_at=123).answer
    assert answer is not None
    assert answer.body.read() == (b"0123456789" * 13)[:123]


def test_a_body_that_breaks_off_before_is_still_truncated(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = OK + b"Content-Length: 500\r\n\r\nonly this"
    assert type(visit(server.url("/"), cut_at=100).error) is Truncated
    server.replies["/"] = OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"x")[:-4]
    assert type(visit(server.url("/"), cut_at=100).error) is Truncated


def test_padding_without_end_behind_a_packed_body_meets_the_cap(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = server.endless(OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"x"), bytes(65_536))
    assert type(visit(server.url("/"), max_bytes=1_000_000).error) is TooLarge
    server.replies["/"] = server.endless(OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"") * 1_000)
    assert type(visit(server.url("/"), max_bytes=1_000_000).error) is TooLarge


def test_the_next_visit_is_not_cut(server: RawServer, settings: FetchSettings) -> None:
    server.replies["/"] = OK + b"Content-Length: 20\r\nKeep: yes\r\n\r\n" + b"x" * 20
    sizes: list[int] = []
    with Fetcher[str](settings, clock=now) as fetcher:
        for cut_at in (5, None):
            fetcher.submit("page", server.url("/"), cut_at=cut_at)
            for _, ended in wait_until(lambda: fetcher.poll(1), what="the visit ends"):
                assert ended.answer is not None, ended.error
                sizes.append(ended.answer.size)
                ended.answer.body.close()
    assert sizes == [5, 20]

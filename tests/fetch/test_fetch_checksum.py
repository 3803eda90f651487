"""Bodies whose headers say what they amount to."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.errors import WrongChecksum
from rehi.fetch.checksum import CHECKSUM_HEADERS, Checksums
from rehi.fetch.incoming import IncomingBody
from tests.fetch.conftest import RawServer, Visiting

PAGE = b"Tere, maailm! " * 400
PACKED = gzip.compress(PAGE, mtime=0)


def _sum(algorithm: str, data: bytes) -> str:
    return base64.b64encode(hashlib.new(algorithm, data).digest()).decode()


def _reply(body: bytes, *headers: str, status: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {status} So", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


RIGHT = [
    f"Content-MD5: {_sum('md5', PAGE)}",
    f"Content-MD5: {hashlib.md5(PAGE).hexdigest().upper()}",
    f"Digest: SHA-256={_sum('sha256', PAGE)}",
    f"Digest: md5={_sum('md5', PAGE)},unixsum=30637",
    f"Digest: sha-512={_sum('sha512', PAGE).rstrip('=')}",
    f"Content-Digest: sha-256=:{_sum('sha256', PAGE)}:",
    f"Repr-Digest: sha-512=:{_sum('sha512', PAGE)}:, sha-256=:{_sum('sha256', PAGE)}:",
    f"Digest: md5={_sum('md5', b'another')}, sha-256={_sum('sha256', PAGE)}",
    f"Digest: sha-256={hashlib.sha256(PAGE).hexdigest()}",
]
WRONG = [
    f"Content-MD5: {_sum('md5', b'another')}",
    f"Digest: SHA-256={_sum('sha256', b'another')}",
    f"Content-Digest: sha-512=:{_sum('sha512', b'another')}:",
    f"repr-digest: sha-256=:{_sum('sha256', b'another')}:, md5=:{_sum('md5', b'another')}:",
    f"Digest: sha-256={hashlib.sha256(b'another').hexdigest()}",
]
UNREADABLE = [
    "Content-MD5: none",
    "Content-MD5:",
    "Digest: sha-256=",
    "Digest: sha-256=AAAA",
    "Digest: crc32c=AAAAAA==, adler32=03da0195",
    "Content-Digest: sha-256=:!!:",
    f"Content-MD5: {'A' * 9_000}",
    "Repr-Digest: \xff\xfe",
]


@pytest.mark.parametrize("header", RIGHT + UNREADABLE)
def test_a_body_that_is_what_its_headers_say_is_an_answer(server: RawServer, visit: Visiting, header: str) -> None:
    server.replies["/"] = _reply(PAGE, header.encode("ascii", "replace").decode())
    ended = visit(server.url("/"))
    assert ended.answer is not None, ended.error
    assert ended.answer.body.read() == PAGE


@pytest.mark.parametrize("header", WRONG)
def test_a_body_that_is_another_is_none(server: RawServer, visit: Visiting, header: str) -> None:
    server.replies["/"] = _reply(PAGE, header)
    ended = visit(server.url("/"))
    assert type(ended.error) is WrongChecksum
    assert "not the one that its headers describe" in str(ended.error)


@pytest.mark.parametrize("of", [PAGE, PACKED])
@pytest.mark.parametrize("name", ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest"])
def test_a_packed_body_may_be_summed_before_or_after_packing(
    server: RawServer, visit: Visiting, name: str, of: bytes
) -> None:
    value = _sum("md5", of) if name == "Content-MD5" else f"sha-256=:{_sum('sha256', of)}:"
    server.replies["/"] = _reply(PACKED, "Content-Encoding: gzip", f"{name}: {value}")
    assert visit(server.url("/")).answer is not None
    server.replies["/"] = _reply(gzip.compress(PAGE[1:]), "Content-Encoding: gzip", f"{name}: {value}")
    assert type(visit(server.url("/")).error) is WrongChecksum


def test_only_whole_pages_are_held_against_their_sums(server: RawServer, visit: Visiting) -> None:
    wrong = f"Digest: sha-256={_sum('sha256', b'another')}"
    for status in (206, 404, 500):
        server.replies["/"] = _reply(PAGE, wrong, status=status)
        assert visit(server.url("/")).answer is not None
    server.replies["/"] = _reply(PAGE, wrong)
    assert visit(server.url("/"), cut_at=100).answer is not None
    twice = zlib.compress(gzip.compress(PAGE))
    server.replies["/"] = _reply(twice, "Content-Encoding: gzip, deflate", wrong)
    assert visit(server.url("/")).answer is not None


@given(st.sampled_from(sorted(CHECKSUM_HEADERS)), st.text(max_size=80), st.binary(max_size=200))
def test_no_header_breaks_the_reading_of_sums(name: str, value: str, data: bytes) -> None:
    sums = Checksums([(name, value)], coded=True)
    sums.add_wire(data)
    sums.add_plain(data)
    if "=" not in value and name != "content-md5":
        sums.check()


def test_without_such_headers_nothing_is_summed() -> None:
    body = IncomingBody(content_encoding="", max_bytes=10, spool=None)
    assert body._checksums is None
    body.close()

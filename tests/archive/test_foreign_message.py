"""The answers in foreign records: heads, chunks, dates and digests as others write them."""

from __future__ import annotations

import base64
import hashlib
import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from rehi.archive.foreign import Message, parse_digest, read_date, read_request
from rehi.archive.foreign.block import RecordBlock
from rehi.archive.foreign.message import open_message
from rehi.errors import RecordDamaged
from tests.warcs import http

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CHUNKED = "Transfer-Encoding: chunked"


class _Slowly(io.RawIOBase):
    """Bytes that come a few at a time, so that everything is cut everywhere."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._stream = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        return self._stream.readinto(memoryview(buffer)[:7])


def block(content: bytes) -> RecordBlock:
    return RecordBlock(io.BufferedReader(_Slowly(content)), len(content))


def message(content: bytes) -> Message:
    return open_message(block(content))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"4\r\nTere\r\n7\r\n, maail\r\n0\r\n\r\n", b"Tere, maail"),
        (b"004;x=y\r\nTere\r\n0\r\nTrailer: x\r\n\r\n", b"Tere"),
        (b"4\nTere\n0\n\n", b"Tere"),
        (b"0\r\n\r\n", b""),
        (b"<p>It was undone before</p>", b"<p>It was undone before</p>"),
        (b"", b""),
    ],
    ids=["two chunks", "extension and trailer", "line feeds", "empty", "never chunked", "nothing"],
)
def test_chunks_are_undone(body: bytes, found: bytes) -> None:
    assert b"".join(message(http(body, CHUNKED)).payload()) == found


@pytest.mark.parametrize(
    "body",
    [b"4\r\nTere\r\n", b"8\r\nTere", b"4\r\nTereTere\r\n0\r\n\r\n", b"4\r\nTere\r\nxyz\r\n"],
    ids=["no last chunk", "cut off", "too long", "no size"],
)
def test_broken_chunks_are_never_taken_for_a_body(body: bytes) -> None:
    with pytest.raises(RecordDamaged):
        list(message(http(body, CHUNKED)).payload())


def test_codings_are_told_in_the_order_in_which_they_were_made() -> None:
    told = message(http(b"", "Content-Encoding: br, identity", "Transfer-Encoding: gzip, chunked"))
    assert (told.codings, told.is_chunked) == ("br, gzip", True)


def test_a_request_is_read_with_its_headers() -> None:
    assert read_request(block(b"GET / HTTP/1.1\r\nHost: a.ee\r\nUser-Agent: x: y\r\n\r\n")) == (
        "GET",
        (("Host", "a.ee"), ("User-Agent", "x: y")),
    )
    assert read_request(block(b"\x00\x01nothing of the kind")) == ("", ())
    assert read_request(block(b"")) == ("", ())


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2015-06-01T10:20:30Z", datetime(2015, 6, 1, 10, 20, 30, tzinfo=UTC)),
        ("2015-06-01T10:20:30.123456789Z", datetime(2015, 6, 1, 10, 20, 30, 123_456, tzinfo=UTC)),
        ("2015-06-01T10:20Z", datetime(2015, 6, 1, 10, 20, tzinfo=UTC)),
        ("2015-06", datetime(2015, 6, 1, tzinfo=UTC)),
        ("2015", datetime(2015, 1, 1, tzinfo=UTC)),
        ("2015-06-01T10:20:30+02:00", datetime(2015, 6, 1, 8, 20, 30, tzinfo=UTC)),
        ("20150601102030", datetime(2015, 6, 1, 10, 20, 30, tzinfo=UTC)),
        ("2015-06-30T23:59:60Z", datetime(2015, 6, 30, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_moments_of_any_exactness_are_understood(text: str, moment: datetime) -> None:
    assert read_date(text, latest=NOW) == moment


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2015-13-01T00:00:00Z", "1969-01-01", "2031-01-01", "0000", "9" * 90]
)
def test_moments_that_can_not_be_are_refused(text: str) -> None:
    with pytest.raises(RecordDamaged, match="date"):
        read_date(text, latest=NOW)


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512"])
@pytest.mark.parametrize("encode", [base64.b16encode, base64.b32encode, base64.b64encode], ids=["16", "32", "64"])
def test_digests_are_understood_in_every_base(algorithm: str, encode: object) -> None:
    assert callable(encode)
    made = hashlib.new(algorithm, b"Tere").digest()
    assert parse_digest(f"{algorithm}:{encode(made).decode()}") == (algorithm, made)
    assert parse_digest(f"{algorithm}:{encode(made[:-1]).decode()}") is None


def test_digests_that_nobody_can_make_are_none() -> None:
    assert [parse_digest(text) for text in ("", "sha1:", "crc32:00000000", "sha1", "sha1:õ")] == [None] * 5

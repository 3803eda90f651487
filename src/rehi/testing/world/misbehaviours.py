"""Misbehaviours: what the bad servers of the practice web send on their sockets."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from functools import cache

from rehi.testing.world.replies import Misbehaviour, Reset, Step, Wait, head

HUGE = 150_000_000
_PATIENCE = 240  # half seconds after which even the slowest server closes the connection
_LINE = b"Siin on palju tekste ja palju ridu, aga mitte midagi uut.\n"
_BLOCK = _LINE * (65_536 // len(_LINE))
_PAGE = b"<!doctype html><title>Pool lehte</title><p>" + b"See leht katkeb enne, kui ta valmis saab. " * 100


def dribbled_body() -> Iterator[Step]:
    """Send the headers at once, then a byte every half second."""
    yield head(200, "text/html", ("Content-Length", "5000"))
    for _ in range(_PATIENCE):
        yield b"x"
        yield Wait(0.5)


def dribbled_head() -> Iterator[Step]:
    """Send even the headers byte by byte."""
    for byte in head(200, "text/html", ("Content-Length", "0"))[:_PATIENCE]:
        yield bytes([byte])
        yield Wait(0.5)


def silence() -> Iterator[Step]:
    """Send nothing at all."""
    yield Wait(_PATIENCE / 2)


def pauses(body: bytes, media_type: str) -> Iterator[Step]:
    """Send all, with short waits in between."""
    yield head(200, media_type, ("Content-Length", str(len(body))))
    size = len(body) // 4 + 1
    for at in range(0, len(body), size):
        yield Wait(0.15)
        yield body[at : at + size]


def reset_in_body() -> Iterator[Step]:
    """Reset the connection in the middle of the body."""
    yield head(200, "text/html", ("Content-Length", str(len(_PAGE))))
    yield _PAGE[:2000]
    yield Wait(0.05)
    yield Reset()


def empty_reply() -> Iterator[Step]:
    """Close the connection without an answer."""
    yield from ()


def not_http() -> Iterator[Step]:
    """Answer in another protocol."""
    yield b"220 post.rehemaa.test ESMTP valmis\r\n"


def half_head() -> Iterator[Step]:
    """Break off in the middle of the headers."""
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/ht"


def huge_body() -> Iterator[Step]:
    """Send 150 MB, with the right length."""
    yield head(200, "text/plain; charset=utf-8", ("Content-Length", str(HUGE)))
    blocks, left = divmod(HUGE, len(_BLOCK))
    for _ in range(blocks):
        yield _BLOCK
    yield _BLOCK[:left]


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def huge_chunks() -> Iterator[Step]:
    """Send 150 MB in chunks, without a length."""
    yield head(200, "text/plain; charset=utf-8", ("Transfer-Encoding", "chunked"))
    block = _chunk(_BLOCK)
    for _ in range(HUGE // len(_BLOCK)):
        yield block
    yield b"0\r\n\r\n"


@cache
def _bomb() -> bytes:
    """Return 300 MB of zeros as one gzip member of 300 KB, made of one compressed piece over and over."""
    piece = bytes(1_000_000)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(300):
        checksum = zlib.crc32(piece, checksum)
    tail = b"\x03\x00" + checksum.to_bytes(4, "little") + (300_000_000).to_bytes(4, "little")
    return gzip.compress(b"", mtime=0)[:10] + packed * 300 + tail


def gzip_bomb() -> Iterator[Step]:
    """Send a body that is small when compressed, and huge when decompressed."""
    body = _bomb()
    yield head(200, "text/html", ("Content-Encoding", "gzip"), ("Content-Length", str(len(body))))
    yield body


def longer_than_said() -> Iterator[Step]:
    """Send more bytes than the length says."""
    yield head(200, "text/html; charset=utf-8", ("Content-Length", "1000"))
    yield _PAGE


def shorter_than_said() -> Iterator[Step]:
    """Send fewer bytes than the length says."""
    yield head(200, "text/html; charset=utf-8", ("Content-Length", str(len(_PAGE) + 5000)))
    yield _PAGE


def cut_gzip() -> Iterator[Step]:
    """Send half of a gzip stream, with the right length."""
    body = gzip.compress(bytes(range(256)) * 40, mtime=0)
    body = body[: len(body) // 2]
    yield head(200, "text/html", ("Content-Encoding", "gzip"), ("Content-Length", str(len(body))))
    yield body


def false_gzip() -> Iterator[Step]:
    """Send a plain body that is declared as gzip."""
    yield head(200, "text/html", ("Content-Encoding", "gzip"), ("Content-Length", str(len(_PAGE))))
    yield _PAGE


def cut_chunks() -> Iterator[Step]:
    """End without the last chunk."""
    yield head(200, "text/html; charset=utf-8", ("Transfer-Encoding", "chunked"))
    yield _chunk(_PAGE)


def false_chunks() -> Iterator[Step]:
    """Send a chunk whose size is no number."""
    yield head(200, "text/html; charset=utf-8", ("Transfer-Encoding", "chunked"))
    yield b"suur\r\n" + _PAGE


def endless_body() -> Iterator[Step]:
    """Send a kilobyte twenty times a second, for two minutes at least."""
    yield head(200, "text/html; charset=utf-8", ("Transfer-Encoding", "chunked"))
    block = _chunk(_LINE * 17)
    for _ in range(_PATIENCE * 10):
        yield block
        yield Wait(0.05)


def endless_head() -> Iterator[Step]:
    """Send 64 MB of headers."""
    yield b"HTTP/1.1 200 OK\r\n"
    line = b"X-Veel: " + b"a" * 1000 + b"\r\n"
    for _ in range(64_000):
        yield line


ALL = {
    name: Misbehaviour(steps)
    for name, steps in {
        "dribbled-body": dribbled_body, "dribbled-head": dribbled_head, "silence": silence, "reset": reset_in_body,
        "empty-reply": empty_reply, "not-http": not_http, "half-head": half_head, "huge-body": huge_body,
        "huge-chunks": huge_chunks, "gzip-bomb": gzip_bomb, "longer-than-said": longer_than_said,
        "shorter-than-said": shorter_than_said, "cut-gzip": cut_gzip, "false-gzip": false_gzip,
        "cut-chunks": cut_chunks, "false-chunks": false_chunks, "endless-body": endless_body,
        "endless-head": endless_head,
    }.items()
}  # fmt: skip

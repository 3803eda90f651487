"""The head of an HTTP message: its first line and headers, as they stand before the body in a record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from rehi.errors import ArchiveError, RecordDamaged
from rehi.model.http import Headers, find_header, parse_headers
from rehi.model.visit import Answer

MAX_HEAD = 1 << 20
ORIGINAL = "X-Archive-Orig-"  # what other archives put before a header that no longer describes the stored bytes
_CODINGS = frozenset({"transfer-encoding", "content-encoding"})
_SPELLINGS = {"1.0": "1.0"}  # all later versions are written as 1.1
_PLAIN_URL = re.compile(r"https?://([^/?#@\[\]\s]+)(/[^#\s]*)")
_BREAKS = re.compile(r"[\r\n\x00]+")
_STATUS = re.compile(rb"HTTP/(\d(?:\.\d)?) +(\d{3})(?: +(.*))?", re.DOTALL)


class LineReader(Protocol):
    """What lines can be read from."""

    def readline(self, limit: int, /) -> bytes:
        """Return the next line with its end, or the part of it that is within the limit; nothing at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpHead:
    """The head of an answer, read back from a record."""

    http_version: str
    status: int
    reason: str
    headers: Headers

    def header(self, name: str) -> str:
        """Return the last value of a header, or an empty string."""
        return find_header(self.headers, name)


def request_head(url: str, answer: Answer) -> bytes:
    """Return the head of the request as it was sent; HTTP/2 in the spelling of HTTP/1.1, as other archives do."""
    host, target = _split(url)
    headers = [header for header in answer.request_headers if header[0][:1] != ":"]
    if "host" not in [name.lower() for name, _ in headers]:
        headers.insert(0, ("Host", host))
    return _encode(f"GET {target} HTTP/{_SPELLINGS.get(answer.http_version, '1.1')}", headers)


def _split(url: str) -> tuple[str, str]:
    """Return the host of a URL, with its port, and what is asked of it; ArchiveError if it is no URL."""
    if plain := _PLAIN_URL.fullmatch(url):  # in a fifth of the time
        return plain[1], plain[2]
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ArchiveError(f"{url!r} is no URL: {error}") from error
    return parts.netloc.rpartition("@")[2], (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def answer_head(answer: Answer | HttpHead, *, size: int | None) -> bytes:
    """Return the head of an answer so that it describes the decoded body; ``size`` is None if there is no body."""
    kept: list[tuple[str, str]] = []
    has_length = False
    for name, value in answer.headers:
        lowered = name.strip().lower()
        right = lowered == "content-length" and not has_length and value.strip() == str(size)
        has_length = has_length or right
        stale = lowered in _CODINGS or (lowered == "content-length" and not right)
        kept.append((f"{ORIGINAL}{name}" if stale else name, value))
    if size is not None and not has_length:
        kept.append(("Content-Length", str(size)))
    reason = f" {answer.reason}" if answer.reason else ""
    return _encode(f"HTTP/{_SPELLINGS.get(answer.http_version, '1.1')} {answer.status:03}{reason}", kept)


def read_http_head(stream: LineReader, length: int) -> tuple[HttpHead, int]:
    """Read the head at the start of a block; return it and its length in bytes."""
    raw = read_head_lines(stream, min(length, MAX_HEAD))
    if len(raw) == MAX_HEAD < length and not raw.endswith((b"\n\n", b"\n\r\n")):
        raise RecordDamaged("a record's HTTP head has no end")
    return _parse(raw), len(raw)


def read_head_lines(stream: LineReader, limit: int) -> bytes:
    """Read the lines up to the empty one, or to the limit."""
    raw = bytearray()
    while len(raw) < limit:
        line = stream.readline(limit - len(raw))
        raw += line
        if not line.strip(b"\r\n"):
            break
    return bytes(raw)


def _encode(first: str, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [_BREAKS.sub(" ", first)]
    for name, value in headers:
        shown = name.strip() if name.isprintable() else _BREAKS.sub(" ", name).strip()
        if shown:  # a nameless header would read as the continuation of the one before
            lines.append(f"{shown}: {value if value.isprintable() else _BREAKS.sub(' ', value)}")
    text = "\r\n".join([*lines, "", ""])
    head = text.encode() if text.isascii() else b"".join(_bytes(line) + b"\r\n" for line in lines) + b"\r\n"
    if len(head) > MAX_HEAD:
        raise ArchiveError(f"an HTTP head of {len(head)} bytes is too long to be kept")
    return head


def _bytes(line: str) -> bytes:
    """Encode a line: each character is the byte that came; one that can't be a byte was never received, and is written as UTF-8."""
    for encoding, errors in (("latin-1", "strict"), ("utf-8", "surrogateescape")):
        try:
            return line.encode(encoding, errors)
        except UnicodeEncodeError:
            continue
    return line.encode("utf-8", "replace")


def _parse(raw: bytes) -> HttpHead:
    first, *lines = raw.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    status = _STATUS.fullmatch(first)
    if status is None:
        raise RecordDamaged("a record's block does not begin with an HTTP status")
    return HttpHead(
        http_version=status[1].decode(),
        status=int(status[2]),
        reason=(status[3] or b"").decode("latin-1"),
        headers=parse_headers(line.decode("latin-1").rstrip("\r") for line in lines),
    )

"""Likeness: telling the page that a host shows for whatever it doesn't have, though its status says all is well.

The host is asked once for a page that can't exist (a probe). Of the answer a sketch of its words is kept in which each
distinct word turns one of 512 bits over: what two pages have in common cancels out, and the bits that differ count the
words that differ, however much menu and footer there is around them. An error page differs from another one of the same
host in next to nothing once numbers, tokens and the echo of the URL are left out; two articles differ in what they say.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import BinaryIO
from urllib.parse import unquote_to_bytes, urlsplit
from zlib import crc32

from rehi.model.host import Probe
from rehi.model.visit import Answer, Visit

MAX_BYTES = 256 * 1024  # of a page; a longer one is no error page, and half of it may be all styles and no text
MIN_WORDS = 3  # fewer say nothing
SHELL_WORDS = 10  # fewer, and a script, are the shell of an application: all its pages are made in the browser
MAX_UNLIKE = 8  # words that may differ; see the test for what pages of one host differ in
_BITS = 512
_HEADER = struct.Struct("<H")
_SIZE = _HEADER.size + _BITS // 8
_TITLE_WEIGHT = 3
_TEXT = re.compile(rb">([^<]+)")
_CODE = re.compile(rb"<(!--|script|style|noscript)")
_CLOSING = {b"!--": b"-->", b"script": b"</script", b"style": b"</style", b"noscript": b"</noscript"}
_TITLE = re.compile(rb"<title\b[^>]*>([^<]*)")
_PAGES = ("", "text/html", "application/xhtml+xml", "text/plain")
# ASCII letters and all octets beyond ASCII are parts of words, digits are digits, a NUL is nothing, the rest is space.
_LETTERS = bytes(
    octet if octet >= 0x80 or chr(octet).isalpha() else ord("0") if chr(octet).isdigit() else ord(" ")
    for octet in range(256)
)


def probe_url(origin: str, *, now: datetime) -> str:
    """An address of the host that can't exist; the same one all day."""
    name = hashlib.sha256(f"{origin} {now:%Y-%m-%d}".encode()).hexdigest()[:16]
    return f"{origin.rstrip('/')}/rehi-{name}"


def front_url(origin: str) -> str:
    """The address of a host's front page."""
    return f"{origin.rstrip('/')}/"


def probe_of(visit: Visit, *, now: datetime) -> Probe:
    """What the visit to a probe's address says of the host. The answer's body is read and closed."""
    answer = visit.answer
    if answer is None:
        return Probe(status=0, likeness=b"", at=now)
    with answer.body as body:
        pretends = 200 <= answer.status < 300
        found = likeness(body, media_type=answer.header("Content-Type"), url=visit.url) if pretends else b""
    return Probe(status=answer.status, likeness=found, at=now)


def is_shell(visit: Visit, *, probe: Probe | None) -> bool:
    """Whether the front page that was visited is also what the probe saw, and a script makes its content.

    Then all pages of the host are one to us, the good and the bad ones: an application makes them in the browser. The
    answer's body is read and closed.
    """
    answer = visit.answer
    if answer is None:
        return False
    with answer.body as body:
        if probe is None or not 200 <= answer.status < 300 or b"<script" not in body.read(MAX_BYTES).lower():
            return False
        return is_alike(likeness(body, media_type=answer.header("Content-Type"), url=visit.url), probe.likeness)


def looks_soft(answer: Answer, *, url: str, probe: Probe | None) -> bool:
    """Whether a page is the one that the host shows for what it doesn't have. The body is left at its start."""
    if probe is None or not probe.likeness or not 200 <= answer.status < 300:
        return False
    parts = urlsplit(url)
    if parts.path in ("", "/") and not parts.query:  # a host may well show its front page for whatever it doesn't have
        return False
    return is_alike(likeness(answer.body, media_type=answer.header("Content-Type"), url=url), probe.likeness)


def likeness(body: BinaryIO, *, media_type: str, url: str) -> bytes:
    """A sketch of what a page says; empty if it is none, or says next to nothing. The body is left at its start."""
    if media_type.partition(";")[0].strip().lower() not in _PAGES:
        return b""
    body.seek(0)
    page = body.read(MAX_BYTES + 1).replace(b"\0", b"").lower()
    body.seek(0)
    if len(page) > MAX_BYTES:
        return b""
    data = _without_code(page)
    title = _TITLE.search(data)
    echoes = _echoes(url)
    words = _words(b" ".join(_TEXT.findall(data)) if b"<" in data else data, echoes)
    if len(words) < (SHELL_WORDS if b"<script" in page else MIN_WORDS):
        return b""
    titles = _words(title[1], echoes) if title else set()
    sketch = _sketch(words) ^ _sketch(b"%d %s" % (at, word) for word in titles for at in range(_TITLE_WEIGHT))
    return _HEADER.pack(min(len(words), 0xFFFF)) + sketch.to_bytes(_BITS // 8, "little")


def is_alike(a: bytes, b: bytes) -> bool:
    """Whether two pages are one but for the path, dates, counters and tokens in them."""
    if len(a) != _SIZE or len(b) != _SIZE:
        return False
    words: int = min(*_HEADER.unpack_from(a), *_HEADER.unpack_from(b))
    return unlikeness(a, b) <= min(MAX_UNLIKE, words // 3)


def unlikeness(a: bytes, b: bytes) -> int:
    """How many words differ, about; no more than some 300 can be told."""
    bits = int.from_bytes(a[_HEADER.size :], "little") ^ int.from_bytes(b[_HEADER.size :], "little")
    return bits.bit_count()


def _without_code(data: bytes) -> bytes:
    """A page without comments, scripts and styles; one that doesn't end goes to the end."""
    kept, at = [], 0
    while match := _CODE.search(data, at):
        kept.append(data[at : match.start()])
        closing = _CLOSING[match[1]]
        end = data.find(closing, match.end())
        if end < 0:
            return b" ".join(kept)
        at = end + len(closing)
    return b" ".join([*kept, data[at:]])


def _words(text: bytes, echoes: Sequence[bytes]) -> set[bytes]:
    """The distinct words, without those that have digits in them, and without what is said of the URL."""
    words = text.translate(_LETTERS).split()
    distinct = set(words)
    for echo in echoes:
        parts = echo.split()
        if len(parts) > 1 and distinct.issuperset(parts):
            words = b" ".join(words).replace(echo, b" ").split()
            distinct = set(words)
    return {word for word in distinct if b"0" not in word}.difference(echoes)


def _echoes(url: str) -> Sequence[bytes]:
    """What a page may repeat of its URL, in the words that are left of it, the longest first."""
    parts = urlsplit(url[:4_096].lower())
    path = unquote_to_bytes(parts.path)
    last = path.rstrip(b"/").rpartition(b"/")[2]
    pieces = [path, last, path.rpartition(b".")[0], last.rpartition(b".")[0]]
    pieces += [unquote_to_bytes(field.partition("=")[2]) for field in parts.query.split("&")[:8]]
    phrases = {b" ".join(piece.translate(_LETTERS).split()) for piece in pieces}
    return sorted((phrase for phrase in phrases if len(phrase) > 2), key=len, reverse=True)


def _sketch(words: Iterable[bytes]) -> int:
    bits = 0
    for word in words:
        bits ^= 1 << (crc32(word) % _BITS)
    return bits

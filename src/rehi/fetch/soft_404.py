"""Soft 404: recognises the error page that a host shows with status 200, and a web page in place of a file.

The host is asked once for a page that can't exist (a probe), and a fingerprint of the answer is kept. In a fingerprint
each distinct word of a page flips one of 512 bits: the words that two pages have in common cancel out, and the bits that
differ count the words that differ, however much menu and footer there is around them. Two error pages of one host differ
in next to nothing once numbers, tokens and the words of the URL are left out; two articles differ in many words.
A URL should bring a file, and not a web page, by its name or by what it brought before.
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
from rehi.model.media import MediaGroup, Syntax, bare_name, by_extension, by_name, may_be_page
from rehi.model.visit import Answer, Visit

MAX_BYTES = 256 * 1024  # of a page; a longer one is no error page, and half of it may be all styles and no text
MIN_WORDS = 3  # a page with fewer has no fingerprint
SHELL_WORDS = (
    10  # a page with fewer, and with a script, is the shell of an application whose pages are made in the browser
)
MAX_DIFFERENT = 8  # words in which two error pages of a host may differ; the test shows by how many pages do
_BITS = 512
_HEADER = struct.Struct("<H")
_SIZE = _HEADER.size + _BITS // 8
_TITLE_WEIGHT = 3
_TEXT = re.compile(rb">([^<]+)")
_CODE = re.compile(rb"<(!--|script|style|noscript)")
_CLOSING = {b"!--": b"-->", b"script": b"</script", b"style": b"</style", b"noscript": b"</noscript"}
_TITLE = re.compile(rb"<title\b[^>]*>([^<]*)")
# ASCII letters and all octets beyond ASCII are parts of words, each digit becomes "0", all else is a blank.
_LETTERS = bytes(
    octet if octet >= 0x80 or chr(octet).isalpha() else ord("0") if chr(octet).isdigit() else ord(" ")
    for octet in range(256)
)

# What a URL with such a name may well show a page about: a text, a program that can be downloaded.
_SHOWN_AS_PAGES = frozenset(
    {MediaGroup.PAGE, MediaGroup.TEXT, MediaGroup.CODE, MediaGroup.PROGRAM, MediaGroup.FONT, MediaGroup.SIGNATURE}
) | {MediaGroup.UNKNOWN}
# Pages about files, under the files' names: code hosts, wikis and viewers.
_SHOWN = frozenset(["blob", "tree", "wiki", "view", "viewer", "preview", "show", "details"])
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b")
PAGE_BYTES = 4_096  # of a body's beginning, which show whether it is a web page


def probe_url(origin: str, *, now: datetime) -> str:
    """Return a URL of the host that can't exist; the same one all day."""
    name = hashlib.sha256(f"{origin} {now:%Y-%m-%d}".encode()).hexdigest()[:16]
    return f"{origin.rstrip('/')}/rehi-{name}"


def front_url(origin: str) -> str:
    """Return the URL of a host's front page."""
    return f"{origin.rstrip('/')}/"


def read_probe(visit: Visit, *, now: datetime) -> Probe:
    """Return what the visit to a probe's URL says of the host. The answer's body is read and closed."""
    answer = visit.answer
    if answer is None:
        return Probe(status=0, fingerprint=b"", at=now)
    with answer.body as body:
        successful = 200 <= answer.status < 300
        page_fingerprint = (
            fingerprint(body, media_type=answer.header("Content-Type"), url=visit.url) if successful else b""
        )
    return Probe(status=answer.status, fingerprint=page_fingerprint, at=now)


def is_app_shell(visit: Visit, *, probe: Probe | None) -> bool:
    """Whether the front page that was visited is the page that answered the probe, and has a script.

    Then an application makes all pages of the host in the browser, so good and bad ones look the same to us. The
    answer's body is read and closed.
    """
    answer = visit.answer
    if answer is None:
        return False
    with answer.body as body:
        if probe is None or not 200 <= answer.status < 300 or b"<script" not in body.read(MAX_BYTES).lower():
            return False
        return is_similar(fingerprint(body, media_type=answer.header("Content-Type"), url=visit.url), probe.fingerprint)


def is_soft_404(answer: Answer, *, url: str, probe: Probe | None) -> bool:
    """Whether an answer is the error page that the probe has shown. The body is left at its start."""
    if probe is None or not probe.fingerprint or not 200 <= answer.status < 300:
        return False
    parts = urlsplit(url)
    if parts.path in ("", "/") and not parts.query:  # some hosts show their front page for every missing page
        return False
    return is_similar(fingerprint(answer.body, media_type=answer.header("Content-Type"), url=url), probe.fingerprint)


def fingerprint(body: BinaryIO, *, media_type: str, url: str) -> bytes:
    """Return the fingerprint of a page's words; empty if it is no page or has too few. The body is left at its start."""
    if not may_be_page(media_type):
        return b""
    body.seek(0)
    page = body.read(MAX_BYTES + 1).replace(b"\0", b"").lower()
    body.seek(0)
    if len(page) > MAX_BYTES:
        return b""
    data = _without_code(page)
    title = _TITLE.search(data)
    url_phrases = _url_phrases(url)
    words = _words(b" ".join(_TEXT.findall(data)) if b"<" in data else data, url_phrases)
    if len(words) < (SHELL_WORDS if b"<script" in page else MIN_WORDS):
        return b""
    titles = _words(title[1], url_phrases) if title else set()
    bits = _word_bits(words) ^ _word_bits(b"%d %s" % (at, word) for word in titles for at in range(_TITLE_WEIGHT))
    return _HEADER.pack(min(len(words), 0xFFFF)) + bits.to_bytes(_BITS // 8, "little")


def is_similar(a: bytes, b: bytes) -> bool:
    """Whether two fingerprints are of the same page, but for the path, dates, counters and tokens in it."""
    if len(a) != _SIZE or len(b) != _SIZE:
        return False
    words: int = min(*_HEADER.unpack_from(a), *_HEADER.unpack_from(b))
    return count_different_words(a, b) <= min(MAX_DIFFERENT, words // 3)


def count_different_words(a: bytes, b: bytes) -> int:
    """Return about how many words of two fingerprints differ; above some 300 the count is too low."""
    bits = int.from_bytes(a[_HEADER.size :], "little") ^ int.from_bytes(b[_HEADER.size :], "little")
    return bits.bit_count()


def _without_code(data: bytes) -> bytes:
    """Return a page without comments, scripts and styles; one that is not closed reaches to the page's end."""
    kept, at = [], 0
    while match := _CODE.search(data, at):
        kept.append(data[at : match.start()])
        closing = _CLOSING[match[1]]
        end = data.find(closing, match.end())
        if end < 0:
            return b" ".join(kept)
        at = end + len(closing)
    return b" ".join([*kept, data[at:]])


def _words(text: bytes, url_phrases: Sequence[bytes]) -> set[bytes]:
    """Return the distinct words, without those that have digits in them, and without the words of the URL."""
    words = text.translate(_LETTERS).split()
    distinct = set(words)
    for phrase in url_phrases:
        parts = phrase.split()
        if len(parts) > 1 and distinct.issuperset(parts):
            words = b" ".join(words).replace(phrase, b" ").split()
            distinct = set(words)
    return {word for word in distinct if b"0" not in word}.difference(url_phrases)


def _url_phrases(url: str) -> Sequence[bytes]:
    """Return the parts of a URL that its page may repeat, as words, the longest first."""
    parts = urlsplit(url[:4_096].lower())
    path = unquote_to_bytes(parts.path)
    last = path.rstrip(b"/").rpartition(b"/")[2]
    pieces = [path, last, path.rpartition(b".")[0], last.rpartition(b".")[0]]
    pieces += [unquote_to_bytes(field.partition("=")[2]) for field in parts.query.split("&")[:8]]
    phrases = {b" ".join(piece.translate(_LETTERS).split()) for piece in pieces}
    return sorted((phrase for phrase in phrases if len(phrase) > 2), key=len, reverse=True)


def _word_bits(words: Iterable[bytes]) -> int:
    bits = 0
    for word in words:
        bits ^= 1 << (crc32(word) % _BITS)
    return bits


def expects_file(url: str, media_type_before: str) -> bool:
    """Whether a URL should bring a file: decided by what it brought before, or by its name if it brought nothing yet."""
    if bare_name(media_type_before):
        return not may_be_page(media_type_before)
    *folders, name = urlsplit(url).path.lower().split("/")
    if ":" in name or not _SHOWN.isdisjoint(folders):
        return False
    row = by_extension(name.rpartition(".")[2]) if "." in name else None
    return row is not None and row.group not in _SHOWN_AS_PAGES


def is_wrong_type(answer: Answer, *, url: str, media_type_before: str) -> bool:
    """Whether a web page came where a file was expected. The body is left at its start."""
    if not 200 <= answer.status < 300 or not expects_file(url, media_type_before):
        return False
    answer.body.seek(0)
    beginning = answer.body.read(PAGE_BYTES)
    answer.body.seek(0)
    return is_page(beginning, declared=answer.header("Content-Type"))


def is_page(beginning: bytes, *, declared: str) -> bool:
    """Whether a body that begins so is a web page. The declared type alone does not decide: many servers declare all as HTML."""
    if by_name(declared).syntax is Syntax.XML:  # a page can be meant as XML, and say so
        return False
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    while text.startswith((b"<!--", b"<?xml")):
        text = text.partition(b"-->" if text.startswith(b"<!--") else b">")[2].lstrip()
    return _HTML.match(text) is not None

"""A SURT: the sort key of a URL in indexes of web archives, with its host reversed and session ids left out."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

MAX_LENGTH = (
    16_384  # of a URL that is looked at closely: one can be made so that each of its bytes costs a pass over it
)
_SAFE = "".join(map(chr, range(0x21, 0x7F))).replace("#", "").replace("%", "")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PARTS = re.compile(r"(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?")
_TWICE = re.compile(r"\A(?:https?://)+(?=https?://)")
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}")
_WWW = re.compile(r"www[0-9]*\.")
_PORTS = {"http": 80, "https": 443}
# Session ids in URLs, and what may follow them.
_SESSIONS = tuple(
    re.compile(rf"(.*)(?:{mark})(?:&(.*))?", re.IGNORECASE | re.DOTALL)
    for mark in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)
_PATH_SESSIONS = tuple(
    re.compile(rf"(.*/){mark}/([^?]+\.aspx.*)", re.IGNORECASE | re.DOTALL)
    for mark in (r"\((?:[a-z]\([0-9a-z]{24}\))+\)", r"\([0-9a-z]{24}\)")
)


@lru_cache(maxsize=16)  # captures of one URL come one after the other
def surt(url: str) -> str:
    """Return the sort key of a URL, the same as other tools make; it never has a blank in it."""
    if not url:
        return "-"
    if len(url) > MAX_LENGTH:
        return _escape(url.encode("utf-8", "replace")).lower()
    try:
        return _key(url)
    except ValueError:
        return _escape(url.encode("utf-8", "replace")).lower()


def _key(url: str) -> str:
    plain = re.sub(r"[\n\r\t]", "", url.strip(" \n\r\t\f\v"))
    if not _SCHEME.match(plain):
        plain = f"http://{plain}"
    plain = _TWICE.sub("", plain)
    scheme, _, after_scheme = plain.partition(":")
    parts = _PARTS.match(after_scheme)
    assert parts is not None  # each of its parts may be empty
    authority, path, query = parts[1] or "", parts[2], parts[3] or ""
    host, port = _split_authority(authority)
    if not host and path and scheme.lower() in _PORTS:
        host, _, path = path.lstrip("/").partition("/")
        path = f"/{path}"
    shown = _query(query)
    if not host:
        return f"{scheme}:{_path(_escape(_unescape(path)))}{shown}"
    host_name = _host(host)
    shown_port = f":{port}" if port and port != _PORTS.get(scheme.lower()) else ""
    return f"{','.join(reversed(host_name.split('.')))}{shown_port}){_path(_escape(_resolve(_unescape(path))))}{shown}"


def _split_authority(authority: str) -> tuple[str, int]:
    """Return the host, without user and password, and the port; 0 if there is none."""
    named = authority.rpartition("@")[2].rstrip(":")
    if named.startswith("["):
        host, _, port = named[1:].partition("]")
        port = port.removeprefix(":")
    else:
        host, _, port = named.partition(":")
    return host.lower(), int(port) if port else 0


def _host(host: str) -> str:
    raw = _unescape(host)
    if not raw.isascii():
        with suppress(UnicodeError):
            raw = raw.decode("utf-8", "ignore").encode("idna")
    raw = raw.replace(b"..", b".").strip(b".")
    named = _escape(raw).lower()
    if _NUMBERS.fullmatch(named):
        named = _address(named)
    return _WWW.sub("", named, count=1) if _WWW.match(named) else named


def _address(numbers: str) -> str:
    """Return an IPv4 address as four numbers, however it was written."""
    try:
        if numbers.isdigit():
            return socket.inet_ntoa((int(numbers) & 0xFFFFFFFF).to_bytes(4, "big"))
        return socket.inet_ntoa(socket.inet_aton(numbers))
    except OSError:
        return numbers


def _resolve(path: bytes) -> bytes:
    """Return the path without empty segments, and with dot segments resolved."""
    kept: list[bytes] = []
    for step in path.split(b"/")[1:]:
        if step == b".." and kept:
            kept.pop()
        elif step != b".":
            kept.append(step)
    return b"/" + b"/".join([*(step for step in kept[:-1] if step), *kept[-1:]])


def _path(path: str) -> str:
    path = path.lower()
    for pattern in _PATH_SESSIONS:
        if match := pattern.fullmatch(path):
            path = match[1] + match[2]
    return path[:-1] if len(path) > 1 and path.endswith("/") else path


def _query(text: str) -> str:
    query = _escape(_unescape(text))
    for pattern in _SESSIONS:
        if match := pattern.fullmatch(query):
            query = match[1] + (match[2] or "")
    # A name without a value comes before the same name with one.
    arguments = sorted(tuple(argument.split("=", 1)) for argument in query.lower().split("&"))
    ordered = "&".join("=".join(argument) for argument in arguments)
    return f"?{ordered}" if ordered else ""


def _escape(raw: bytes) -> str:
    return quote_from_bytes(raw, safe=_SAFE)


def _unescape(text: str) -> bytes:
    """Return the bytes of a percent-encoded text, decoded as often as it is encoded."""
    raw = text.encode("utf-8", "replace")
    while (plain := unquote_to_bytes(raw)) != raw:
        raw = plain
    return raw

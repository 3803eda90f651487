"""IRIs: links made absolute, and free of what an IRI must not hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote

MAX_LINKS = 5_000
MAX_LENGTH = 4_000  # a longer one is data, not an address

# Allowed by browsers in an address, forbidden in an IRI.
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|\\^`\x7f-\xa0\ud800-\udfff\ufdd0-\ufdef\ufff0-\uffff]')
# A path that any address can be given, and that is in its final form.
_PLAIN_PATH = re.compile(r"(?:/[A-Za-z0-9_~-]+(?:\.[A-Za-z0-9_~-]+)*)+/?|/")
_ORIGIN = re.compile(r"https?://[^/]+")
_ELSEWHERE = re.compile(r"(?!https?:)[A-Za-z][A-Za-z0-9+.-]*:", re.IGNORECASE)  # mailto:, javascript: and the like
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def written_links(links: Iterable[str]) -> tuple[str, ...]:
    """Return the links that may lead to a web page, as they are written, in order, without repeats and fragments."""
    kept: dict[str, None] = {}
    for link in links:
        written = link.strip().partition("#")[0]
        if written and len(written) <= MAX_LENGTH and not _ELSEWHERE.match(written):
            kept[_FORBIDDEN.sub(_encode, written)] = None
            if len(kept) >= MAX_LINKS:
                break
    return tuple(kept)


def absolute_links(base: str, links: Iterable[str]) -> tuple[str, ...]:
    """Return the links to web pages, absolute, in order, without repeats and fragments."""
    iris: dict[str, None] = {}
    origin = _ORIGIN.match(base)
    root = _root_of(origin[0] if origin else base)
    for link in dict.fromkeys(links):
        plain = root and len(link) < MAX_LENGTH // 2 and _PLAIN_PATH.fullmatch(link.partition("#")[0])
        if iri := root + plain[0] if plain else absolute(base, link):
            iris[iri] = None
            if len(iris) >= MAX_LINKS:
                break
    return tuple(iris)


@lru_cache  # a site's pages come one after another
def _root_of(origin: str) -> str:
    return absolute(origin, "/").removesuffix("/")


def absolute(base: str, link: str) -> str:
    """Return a link as a browser would follow it, without its fragment; "" if it leads to no web page."""
    import ada_url

    if not link or len(link) > MAX_LENGTH:
        return ""
    try:
        iri = ada_url.join_url(base, link) if base else ada_url.normalize_url(link)
    except (ValueError, UnicodeError):
        return ""
    iri = iri.partition("#")[0]
    if not iri.startswith(("http://", "https://")) or len(iri) > MAX_LENGTH:
        return ""
    return _LONE_PERCENT.sub("%25", _FORBIDDEN.sub(_encode, iri))


def _encode(sign: re.Match[str]) -> str:
    return quote(sign[0], safe="", errors="replace")

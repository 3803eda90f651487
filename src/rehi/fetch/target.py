"""A target: a URL parsed into its parts, in the one spelling that is both checked and requested; and where one redirects."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rehi.errors import AddressDenied
from rehi.model.http import REDIRECTS
from rehi.model.visit import Answer

_DEFAULT_PORTS = {"http": 80, "https": 443}

# The spelling that most URLs have already: nothing to encode, no user, a host that can't be a number in disguise.
# Parsing it costs 2 microseconds instead of the 11 of the complete parser.
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PLAIN = re.compile(
    rf"(https?)://((?:{_BYTE}\.){{3}}{_BYTE}|(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*)"
    r"(?::([0-9]{1,5}))?(/[A-Za-z0-9_~!$&()*+,;=:@/%-]*"
    r"(?:\.[A-Za-z0-9_~!$&()*+,;=:@%-][A-Za-z0-9_~!$&()*+,;=:@/%-]*)*(?:\?[A-Za-z0-9_~!$&()*+,;=:@/%.?-]*)?)"
)

_MAX_LOCATION = 8_192  # characters; longer ones are mistakes or attacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The parts of a URL that a request needs. Users and passwords in URLs are never sent."""

    url: str
    host: str  # lower case, punycode; IPv6 in brackets
    port: int
    authority: str  # the value of the Host header


def parse_target(url: str) -> Target:
    """Parse a URL; AddressDenied if it is none, or not http or https."""
    plain = _PLAIN.fullmatch(url)
    if plain is not None:
        scheme, host, port, _ = plain.groups()
        number = int(port) if port else _DEFAULT_PORTS[scheme]
        if number <= 65535 and "xn--" not in host:
            return _target(url, scheme, host, number)
    return _parse_carefully(url)


def _parse_carefully(url: str) -> Target:
    import ada_url

    try:
        parsed = ada_url.URL(url)
    except ValueError as error:
        raise AddressDenied(f"{_shown(url)} is not a URL that can be visited") from error
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in _DEFAULT_PORTS or not parsed.hostname:
        raise AddressDenied(f"{_shown(url)} is neither http nor https, and nothing else is visited")
    port = int(parsed.port) if parsed.port else _DEFAULT_PORTS[scheme]
    parsed.username = parsed.password = parsed.hash = ""
    return _target(parsed.href, scheme, parsed.hostname, port)


def _target(url: str, scheme: str, host: str, port: int) -> Target:
    authority = host if port == _DEFAULT_PORTS[scheme] else f"{host}:{port}"
    return Target(url=url, host=host, port=port, authority=authority)


def _shown(url: str) -> str:
    """Return a URL as an error message shows it: one line, cut at 200 characters."""
    line = "".join(character if character.isprintable() else "?" for character in url[:200])
    return f"{line}…" if len(url) > 200 else line or "an empty text"


def redirect_target(url: str, answer: Answer) -> str:
    """Return the URL to which the answer to ``url`` redirects, absolute and without fragment; empty if it is no redirect."""
    if answer.status not in REDIRECTS:
        return ""
    location = answer.header("Location").strip()
    if not location or len(location) > _MAX_LOCATION:
        return ""
    import ada_url

    # Servers send raw UTF-8 here more often than Latin-1, and never both.
    as_bytes = location.encode("latin-1", "replace")
    try:
        location = as_bytes.decode("utf-8")
    except UnicodeDecodeError:
        location = as_bytes.decode("latin-1")
    try:
        target = ada_url.URL(location, base=url)
    except ValueError:
        return ""
    target.hash = ""
    return str(target.href)

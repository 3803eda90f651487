"""The address of an engine: what of it may be shown, and what in it is secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_plus

HIDDEN = "***"
# Parameters whose values may be shown. All others may be secret, or lead to a secret: password, sslpassword, passfile,
# sslkey, service, options, and what engines of other packages know.
_HARMLESS = frozenset(
    [
        "application_name",
        "channel_binding",
        "client_encoding",
        "connect_timeout",
        "dbname",
        "gssencmode",
        "host",
        "hostaddr",
        "keepalives",
        "keepalives_count",
        "keepalives_idle",
        "keepalives_interval",
        "load_balance_hosts",
        "mode",
        "port",
        "sslmode",
        "target_session_attrs",
        "tcp_user_timeout",
        "timeout",
        "user",
    ]
)
# Up to the last @ before the parameters: a password may hold slashes, colons and that sign itself.
_PASSWORD = re.compile(r"(://[^/?#@:\s]*:)([^?\s]*)@")
_PARAMETER = re.compile(r"([?&;])([^=&;#\s]*)=([^&;#\s]*)")
# Somebody may have written what libpq takes besides: words apart from each other, which is no address here.
_WORD = re.compile(r"((?:^|\s)(?:password|sslpassword|passfile|options)\s*=\s*)('[^']*'|[^\s']+)", re.IGNORECASE)


def hide_secrets(address: str) -> str:
    """Return an address in which nothing secret stands any more."""

    def shown(match: re.Match[str]) -> str:
        return match[0] if _is_harmless(match[2]) else f"{match[1]}{match[2]}={HIDDEN}"

    return _WORD.sub(rf"\1{HIDDEN}", _PARAMETER.sub(shown, _PASSWORD.sub(rf"\1{HIDDEN}@", address)))


def secrets_in(address: str) -> list[str]:
    """Return what is secret in an address, as it stands there and as it is meant."""
    return list(dict.fromkeys(spelling for secret in _secrets(address) for spelling in _spellings(secret) if spelling))


def kind_of(address: str) -> str:
    """Return the kind of engine that an address names; empty if it is none, as it may then be a secret itself."""
    kind, colon, _ = address.partition(":")
    return kind if colon and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", kind) else ""


def _secrets(address: str) -> Iterator[str]:
    for match in _PASSWORD.finditer(address):
        yield match[2]
        yield match[2].partition("@")[0]
    for match in _PARAMETER.finditer(address):
        if not _is_harmless(match[2]):
            yield match[3]
    for match in _WORD.finditer(address):
        yield match[2].strip("'")


def _is_harmless(parameter: str) -> bool:
    return unquote(parameter).lower() in _HARMLESS


def _spellings(secret: str) -> tuple[str, ...]:
    return secret, unquote(secret), unquote_plus(secret)

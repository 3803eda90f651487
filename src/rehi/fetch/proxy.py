"""A proxy: a server that makes the connections to a host in our place."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from rehi.errors import SettingsError

_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
_BY_ADDRESS = frozenset({"socks4", "socks5"})
_EXAMPLE = "write it as in socks5h://name:password@proxy.example:1080 or http://proxy.example:3128"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """The address of a proxy, and the user and password that it asks for."""

    scheme: str
    host: str  # IPv6 in brackets
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """Its address as libcurl takes it, without user and password."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def takes_addresses(self) -> bool:
        """Whether it expects an address that was looked up here, and not a host name."""
        return self.scheme in _BY_ADDRESS


def parse_proxy(text: str, *, match: str) -> Proxy:
    """Read the URL of the proxy for the hosts of ``match``; SettingsError, which does not repeat it, if it is wrong.

    The URL may hold a password.
    """
    wrong = f"fetch.hosts: the proxy for {match!r}"
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise SettingsError(f"{wrong} is not a URL; {_EXAMPLE}") from error
    if parts.scheme not in _SCHEMES:
        raise SettingsError(f"{wrong} must be one of {', '.join(_SCHEMES)}; {_EXAMPLE}")
    if not _is_host(host) or not port:
        raise SettingsError(f"{wrong} must name a host and a port; {_EXAMPLE}")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise SettingsError(f"{wrong} must end with its port; {_EXAMPLE}")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isprintable():
        raise SettingsError(f"{wrong} has a name or password that can't be sent")
    shown = f"[{host}]" if ":" in host else host
    return Proxy(scheme=parts.scheme, host=shown, port=port, user=user, password=password)


def _is_host(host: str) -> bool:
    return bool(host) and host.isascii() and all(character.isalnum() or character in ".-_:" for character in host)

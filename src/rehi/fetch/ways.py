"""Ways: how a host is visited, where the settings say it differs from the others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from rehi.errors import SettingsError
from rehi.fetch.proxy import Proxy, parse_proxy
from rehi.model.visit import Headers
from rehi.settings import FetchSettings, HostSettings

WITHHELD = "(withheld)"  # what the archive is told in place of a secret
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# They say how the message is framed, whom it is for or how much of it is wanted, and that is ours to say.
_OURS = frozenset(
    {
        "connection", "content-length", "expect", "host", "if-modified-since", "if-none-match", "if-range",
        "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding",
        "upgrade",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a host is visited."""

    proxy: Proxy | None = None
    headers: Headers = field(default=(), repr=False)
    verify_tls: bool = True
    at_once: bool = False  # whether it may be asked for several things at the same time

    @property
    def trusting(self) -> bool:
        """Whether the host need not prove who it is."""
        return not self.verify_tls

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat."""
        of_proxy = (self.proxy.user, self.proxy.password) if self.proxy is not None else ()
        return tuple(secret for secret in (*of_proxy, *(value for _, value in self.headers)) if secret)

    def sent(self, common: Headers) -> Headers:
        """The headers of a request: our own, and the host's in their place or after them."""
        return _joined(common, self.headers) if self.headers else common

    def told(self, common: Headers) -> Headers:
        """The same as they may be told to others."""
        withheld = tuple((name, WITHHELD) for name, _ in self.headers)
        return _joined(common, withheld) if withheld else common


ORDINARY = Way()


class Ways:
    """The settings' hosts in their order; the first that matches holds."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._ways = {host.match: _way(host) for host in reversed(settings.hosts)}

    def way_for(self, host: str) -> Way:
        """How to visit a host, by its name in lower case and punycode."""
        found = self._settings.for_host(host)
        return self._ways[found.match] if found else ORDINARY


def _way(host: HostSettings) -> Way:
    return Way(
        proxy=parse_proxy(host.proxy, match=host.match) if host.proxy else None,
        headers=tuple(_header(name, value, match=host.match) for name, value in host.headers.items()),
        verify_tls=host.verify_tls,
        at_once=host.connections > 1,
    )


def _header(name: str, value: str, *, match: str) -> tuple[str, str]:
    """A header that can be sent; what is wrong with it is told without its value."""
    name, value = name.strip(), value.strip()
    wrong = f"fetch.hosts: the header {name[:80]!r} for {match!r}"
    if _NAME.fullmatch(name) is None:
        raise SettingsError(f"{wrong} has a name that is none; names are made of letters, digits and hyphens")
    if name.lower() in _OURS:
        raise SettingsError(f"{wrong} can't be set: it is ours to say")
    if not value or not value.isprintable() or any(ord(sign) > 255 for sign in value):
        raise SettingsError(f"{wrong} must have a value of one line, without control characters")
    return name, value


def _joined(common: Headers, own: Iterable[tuple[str, str]]) -> Headers:
    own = tuple(own)
    replaced = {name.lower() for name, _ in own}
    return (*(header for header in common if header[0].lower() not in replaced), *own)

"""Connection options: proxy, headers and TLS of the hosts for which the settings name special ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rehi.errors import SettingsError
from rehi.fetch.proxy import Proxy, parse_proxy
from rehi.model.visit import Headers
from rehi.settings import HostSettings

WITHHELD = "(withheld)"  # what is archived in place of a secret
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that say how the message is framed, whom it is for or how much of it is wanted: the settings may not set them.
_RESERVED = frozenset(
    {
        "connection", "content-length", "expect", "host", "if-modified-since", "if-none-match", "if-range",
        "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding",
        "upgrade",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """How the connections to one host are made, and which headers are added to its requests."""

    proxy: Proxy | None = None
    headers: Headers = field(default=(), repr=False)  # in the place of common ones of the same name, or after them
    withheld: Headers = ()  # the same without their values, for the archive
    verify_tls: bool = True
    concurrent: bool = False  # whether several requests may go to the host at the same time

    @property
    def trusting(self) -> bool:
        """Whether the host's certificate is not checked."""
        return not self.verify_tls

    @property
    def secrets(self) -> tuple[str, ...]:
        """Passwords and header values, which no message may repeat."""
        of_proxy = (self.proxy.user, self.proxy.password) if self.proxy is not None else ()
        return tuple(secret for secret in (*of_proxy, *(value for _, value in self.headers)) if secret)


DEFAULT_OPTIONS = ConnectionOptions()


def make_options(host: HostSettings) -> ConnectionOptions:
    """Return the options that the settings name for a host; SettingsError if they can't be used."""
    headers = tuple(_header(name, value, match=host.match) for name, value in host.headers.items())
    return ConnectionOptions(
        proxy=parse_proxy(host.proxy, match=host.match) if host.proxy else None,
        headers=headers,
        withheld=tuple((name, WITHHELD) for name, _ in headers),
        verify_tls=host.verify_tls,
        concurrent=host.connections > 1,
    )


def _header(name: str, value: str, *, match: str) -> tuple[str, str]:
    """Return a header that can be sent; SettingsError, which does not repeat the value, if it can't."""
    name, value = name.strip(), value.strip()
    wrong = f"fetch.hosts: the header {name[:80]!r} for {match!r}"
    if _NAME.fullmatch(name) is None:
        raise SettingsError(f"{wrong} has a name that is none; names are made of letters, digits and hyphens")
    if name.lower() in _RESERVED:
        raise SettingsError(f"{wrong} can't be set: it is ours to say")
    if not value or not value.isprintable() or any(ord(character) > 255 for character in value):
        raise SettingsError(f"{wrong} must have a value of one line, without control characters")
    return name, value


def merge_headers(common: Headers, special: Headers) -> Headers:
    """Return the headers of a request: the common ones, replaced or followed by those for its host."""
    replaced = {name.lower() for name, _ in special}
    return (*(header for header in common if header[0].lower() not in replaced), *special)

"""A route: how a host is reached: its connection options, its resolve rule and the name to look up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address

from rehi.errors import AddressDenied, DnsFailed, SettingsError
from rehi.fetch.connection_options import DEFAULT_OPTIONS, ConnectionOptions, make_options
from rehi.fetch.dns import is_localhost
from rehi.fetch.guard import Guard
from rehi.fetch.target import Target
from rehi.settings import FetchSettings

_LABELS = r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*"
_RULE = re.compile(
    rf"(?P<pattern>\*|(?:\*\.)?{_LABELS}|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?"
    rf"=(?P<host>{_LABELS}|\[[0-9a-f:.]+\]):(?P<to>[0-9]{{1,5}})"
)

_CACHED = 10_000  # hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRule:
    """Requests for host names like ``pattern`` go to ``host`` and ``port``; the request itself stays the same."""

    pattern: str  # "*", "*.rehemaa.test" or a name
    pattern_port: int | None
    host: str
    port: int

    def matches(self, host: str, port: int) -> bool:
        """Whether the rule is for this host name and port."""
        host = host.removesuffix(".")
        if self.pattern_port is not None and port != self.pattern_port:
            return False
        if self.pattern.startswith("*"):
            return host.endswith(self.pattern[1:])
        return host == self.pattern


def parse_rule(text: str) -> ResolveRule:
    """Read ``pattern=host:port`` or ``pattern:port=host:port``."""
    match = _RULE.fullmatch(text.strip().lower())
    if match is None:
        raise SettingsError(
            f"fetch.resolve: {text!r} is not a rule; write one as in *.example.test=127.0.0.1:8600 "
            "(a * only in place of the leading labels)"
        )
    ports = [int(digits) for digits in (match["port"], match["to"]) if digits]
    if any(not 0 < port < 65536 for port in ports):
        raise SettingsError(f"fetch.resolve: {text!r} names a port that is none; ports are numbers from 1 to 65535")
    return ResolveRule(
        pattern=match["pattern"],
        pattern_port=int(match["port"]) if match["port"] else None,
        host=match["host"],
        port=int(match["to"]),
    )


@dataclass(frozen=True, slots=True)
class Route:
    """How a target is reached."""

    options: ConnectionOptions
    rule: ResolveRule | None
    name: str  # to be looked up; empty when the address is known or a proxy looks it up


class Router:
    """Finds the routes to targets, and refuses those that the guard forbids."""

    def __init__(self, settings: FetchSettings) -> None:
        self.guard = Guard(allow_private=settings.allow_private, ports=settings.ports)
        self._settings = settings
        self._rules = tuple(parse_rule(text) for text in settings.resolve)  # the first that matches holds
        self._options = {host.match: make_options(host) for host in reversed(settings.hosts)}
        self._routes: dict[tuple[str, int], Route] = {}

    def route_to(self, target: Target) -> Route:
        """Return the route to a target; AddressDenied if its port, or the address in its URL, is forbidden."""
        key = (target.host, target.port)
        route = self._routes.get(key)
        if route is None:
            if len(self._routes) >= _CACHED:
                self._routes.clear()
            route = self._routes[key] = self._find(target)
        return route

    def admitted(self, target: Target, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of a host's addresses that may be connected; DnsFailed or AddressDenied if there is none."""
        if not addresses:
            raise DnsFailed(f"{target.host}: the name has no address")
        admitted = tuple(address for address in addresses if self.guard.admits(address))
        if not admitted:
            raise _denied(target, addresses[0])
        return admitted

    def _find(self, target: Target) -> Route:
        if target.port not in self.guard.ports:
            raise AddressDenied(f"{target.host}: port {target.port} is not among fetch.ports")
        special = self._settings.for_host(target.host)
        options = self._options[special.match] if special else DEFAULT_OPTIONS
        rule = next((rule for rule in self._rules if rule.matches(target.host, target.port)), None)
        host = rule.host if rule is not None else target.host
        address = host.strip("[]") if _is_address(host) else ""
        by_proxy = options.proxy is not None and not options.proxy.takes_addresses
        if by_proxy and is_localhost(host):
            address = "127.0.0.1"  # it would be the proxy's own machine, which is no better than ours
        # A connection of our own is checked when it is made; one that a proxy makes can be checked only here.
        if address and options.proxy is not None and not self.guard.admits(address):
            raise _denied(target, address)
        return Route(options, rule, "" if address or by_proxy else host)


def _denied(target: Target, address: str) -> AddressDenied:
    """Return the error for an address that may not be connected."""
    return AddressDenied(f"{target.host}: its address {address} is not public and not among fetch.allow_private")


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True

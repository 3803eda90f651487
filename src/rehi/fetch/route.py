"""A route: how a host is reached: its connection options, its resolve rule and the name to look up."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from rehi.errors import AddressDenied, DnsFailed
from rehi.fetch.connection_options import ConnectionOptions, ConnectionOptionsByHost
from rehi.fetch.dns import is_localhost
from rehi.fetch.guard import Guard
from rehi.fetch.resolve import ResolveRule, ResolveRules
from rehi.fetch.target import Target
from rehi.settings import FetchSettings

_CACHED = 10_000  # hosts


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
        self._resolve_rules = ResolveRules(settings.resolve)
        self._options = ConnectionOptionsByHost(settings)
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
        if not self.guard.admits_port(target.port):
            raise AddressDenied(f"{target.host}: port {target.port} is not among fetch.ports")
        options = self._options.options_for(target.host)
        rule = self._resolve_rules.rule_for(target.host, target.port)
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

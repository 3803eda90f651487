"""A route: the way to a host and the rule for it, and the name that must be looked up to get there."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from rehi.errors import AddressDenied, DnsFailed
from rehi.fetch.guard import Guard
from rehi.fetch.names import is_here
from rehi.fetch.resolve import Resolver, ResolveRule
from rehi.fetch.target import Target
from rehi.fetch.ways import Way, Ways
from rehi.settings import FetchSettings

_CACHED = 10_000  # hosts


@dataclass(frozen=True, slots=True)
class Route:
    """How to get to a target."""

    way: Way
    rule: ResolveRule | None
    name: str  # to be looked up; empty when the address is known or somebody else finds it


class Router:
    """Finds routes, and admits none to where nobody may go."""

    def __init__(self, settings: FetchSettings) -> None:
        self.guard = Guard(allow_private=settings.allow_private, ports=settings.ports)
        self._resolver = Resolver(settings.resolve)
        self._ways = Ways(settings)
        self._known: dict[tuple[str, int], Route] = {}

    def route_to(self, target: Target) -> Route:
        """The route to a target; AddressDenied when its port, or its address where it names one, is closed."""
        place = (target.host, target.port)
        route = self._known.get(place)
        if route is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            route = self._known[place] = self._find(target)
        return route

    def admitted(self, target: Target, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """Those of a host's addresses that may be connected; an error when there is none."""
        if not addresses:
            raise DnsFailed(f"{target.host}: the name has no address")
        admitted = tuple(address for address in addresses if self.guard.admits(address))
        if not admitted:
            raise _closed(target, addresses[0])
        return admitted

    def _find(self, target: Target) -> Route:
        if not self.guard.admits_port(target.port):
            raise AddressDenied(f"{target.host}: port {target.port} is not among fetch.ports")
        way = self._ways.way_for(target.host)
        rule = self._resolver.rule_for(target.host, target.port)
        host = rule.host if rule is not None else target.host
        address = host.strip("[]") if _is_address(host) else ""
        by_proxy = way.proxy is not None and not way.proxy.takes_addresses
        if by_proxy and is_here(host):
            address = "127.0.0.1"  # the proxy's own, but that is no better
        # A connection of our own is checked when it is made; one that a proxy makes can be checked only here.
        if address and way.proxy is not None and not self.guard.admits(address):
            raise _closed(target, address)
        return Route(way, rule, "" if address or by_proxy else host)


def _closed(target: Target, address: str) -> AddressDenied:
    """The error for an address that may not be connected."""
    return AddressDenied(f"{target.host}: its address {address} is not public and not among fetch.allow_private")


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True

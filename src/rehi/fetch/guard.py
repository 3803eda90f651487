"""The guard: which addresses and ports may be connected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from rehi.errors import SettingsError

# The standard library's is_global differs between Python's patch releases, and says yes to multicast.
_CLOSED_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own addresses
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, where clouds answer with credentials
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation, as are 198.51.100.0/24 and 203.0.113.0/24
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
# All that has been given out to the public lies in here; unique local, link-local and multicast addresses do not.
_OPEN_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation, as is 3fff::/20
        "3fff::/20",
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")


class Guard:
    """Allows public addresses, private ones that the settings name, and the ports of the settings."""

    def __init__(self, *, allow_private: Iterable[str], ports: Iterable[int]) -> None:
        self._allowed = parse_networks(allow_private, setting="fetch.allow_private")
        self.ports = frozenset(ports)  # that a URL may name
        # Whether an address may be connected; False for what is no address.
        self.admits: Callable[[str], bool] = lru_cache(maxsize=10_000)(self._admits)
        wrong = sorted(port for port in self.ports if not 0 < port < 65536)
        if wrong:
            raise SettingsError(f"fetch.ports: {wrong[0]} is not a port; ports are numbers from 1 to 65535")

    def _admits(self, address: str) -> bool:
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        inner = _embedded(parsed) if isinstance(parsed, IPv6Address) else None
        if any(one in network for one in (parsed, inner) if one is not None for network in self._allowed):
            return True
        reached = inner or parsed
        if isinstance(reached, IPv4Address):
            return not any(reached in network for network in _CLOSED_V4)
        return reached in _OPEN_V6 and not any(reached in network for network in _CLOSED_V6)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address inside an IPv6 address (mapped, 6to4 or NAT64); None if there is none."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def parse_networks(texts: Iterable[str], *, setting: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return the networks that a setting names; SettingsError if one of them is wrong."""
    networks = []
    for text in texts:
        try:
            networks.append(ip_network(text.strip()))
        except ValueError as error:
            raise SettingsError(
                f"{setting}: {text!r} is not a network; write one as in 127.0.0.0/8, with zeros after the prefix"
            ) from error
    return tuple(networks)

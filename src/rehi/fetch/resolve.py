"""Resolve rules: where to connect for a host name, in place of the addresses that DNS gives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rehi.errors import SettingsError

_LABELS = r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*"
_RULE = re.compile(
    rf"(?P<pattern>\*|(?:\*\.)?{_LABELS}|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?"
    rf"=(?P<host>{_LABELS}|\[[0-9a-f:.]+\]):(?P<to>[0-9]{{1,5}})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRule:
    """Requests for host names like ``pattern`` go to ``host`` and ``port``; the request itself stays the same."""

    pattern: str  # "*", "*.rehemaa.test" or a name
    pattern_port: int | None
    host: str
    port: int

    def matches(self, host: str, port: int) -> bool:
        """Whether the rule is for this host name and port."""
        if self.pattern_port is not None and port != self.pattern_port:
            return False
        if self.pattern.startswith("*"):
            return host.endswith(self.pattern[1:])
        return host == self.pattern

    @property
    def connect_to(self) -> str:
        """The rule as libcurl's CONNECT_TO takes it, for any host and port."""
        return f"::{self.host}:{self.port}"


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


class ResolveRules:
    """The resolve rules of the settings in their order; the first that matches holds."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._rules = tuple(parse_rule(text) for text in rules)

    def rule_for(self, host: str, port: int) -> ResolveRule | None:
        """Return the rule for a host name and port; None if there is none."""
        host = host.removesuffix(".")
        return next((rule for rule in self._rules if rule.matches(host, port)), None)

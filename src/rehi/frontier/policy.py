"""A policy: how a source wants its pages to be visited again, and how these visits are spread.

A page has a share of its own between 0 and 1, so that pages first seen together don't come due together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

from rehi.errors import SettingsError
from rehi.frontier.fixed import check_cron

_LATENCY = re.compile(r"(\d{1,6})\s?([smhd])")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_MAY_BE = "write `adaptive`, `fixed 0 1 1 * *` (a cron expression), `odarchive` or `latency 15m` (s, m, h or d)"
WIDTH = 0.1  # of an interval: from 5 % sooner to 5 % later


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy's name, and its cron expression or its latency in seconds where it has one."""

    name: str
    cron: str = ""
    latency: float = 0.0


@lru_cache(maxsize=256)
def parse_policy(text: str) -> Policy:
    """Read a policy as people write it."""
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if name in ("adaptive", "odarchive") and not rest:
        return Policy(name=name)
    if name == "fixed" and rest:
        check_cron(rest)
        return Policy(name=name, cron=rest)
    if name == "latency" and (latency := _LATENCY.fullmatch(rest)) and int(latency[1]):
        return Policy(name=name, latency=float(int(latency[1]) * _UNITS[latency[2]]))
    raise SettingsError(f"{text[:60]!r} is no policy of visits: {_MAY_BE}")


def share_of(url: str) -> float:
    """Return a number from 0 to 1 for a URL, always the same for the same URL."""
    return crc32(url.encode("utf-8", "surrogatepass")) / 2**32


def spread(seconds: float, *, share: float, shortest: float, longest: float) -> float:
    """Return an interval within the bounds, a little longer or shorter by the page's share."""
    longest = max(longest, shortest)
    most = longest / (1 + WIDTH / 2)  # so that the pages at the upper bound are spread too
    least = shortest / (1 - WIDTH / 2)
    wished = max(min(seconds, most), min(least, most))
    return min(max(wished * (1 + WIDTH * (share - 0.5)), shortest), longest)

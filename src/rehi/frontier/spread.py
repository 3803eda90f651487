"""The spread: a page's own share between 0 and 1, so that pages first seen together don't come due together."""

from __future__ import annotations

from zlib import crc32

WIDTH = 0.1  # of an interval: from 5 % sooner to 5 % later


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

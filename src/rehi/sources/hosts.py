"""A host as people write it: a name, an origin or a URL."""

from __future__ import annotations

from rehi.errors import NotFound
from rehi.sources.urls import is_visitable, normalise


def host_meant(given: str) -> str:
    """A host's name as it is kept, with its port if one was given, or an origin."""
    whole = "://" in given
    url = normalise(given.strip() if whole else f"http://{given.strip()}/")
    if url is None or not is_visitable(url):
        raise NotFound(f"{given!r} is no host's name")
    origin = "/".join(url.split("/", 3)[:3])
    return origin if whole else origin.partition("://")[2]

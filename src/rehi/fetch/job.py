"""A fetch job: a visit under way, from its first request to its last redirect."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from rehi.fetch.target import Target
from rehi.model.visit import Headers

K = TypeVar("K")


@dataclass(slots=True, kw_only=True, eq=False)
class FetchJob(Generic[K]):
    """A visit that was submitted: what was asked for, and how far it has come."""

    key: K
    url: str
    started_at: datetime
    conditions: Headers
    follow: bool
    max_bytes: int
    cut_at: int | None
    seconds: float = 0.0  # spent on the requests that have ended
    hops: int = 0
    target: Target | None = None  # what is being requested now
    lookup_at: float = 0.0  # on the monotonic clock, when the DNS lookup of its host was requested

"""A visit: one request to one URL, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO

from rehi.errors import FetchError
from rehi.model.version import Digest, RecordRef

Headers = tuple[tuple[str, str], ...]  # in the order and spelling in which they came


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitTask:
    """A resource that is due, with what is known of its newest version."""

    resource_id: int
    source_id: int
    url: str
    digest: Digest | None = None
    body: RecordRef | None = None
    etag: str = ""
    last_modified: str = ""
    failures: int = 0  # in a row
    hops: int = 0  # redirects that led here


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """A host's robots.txt as it was answered."""

    status: int  # 0 when nobody answered
    text: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLease:
    """The right to visit one host until ``until``, with the URLs that are due there."""

    host_id: int
    origin: str  # "https://www.example.ee", with a port only where it isn't the scheme's own
    token: str
    until: datetime
    delay: float  # seconds between two requests
    robots: Robots | None
    tasks: tuple[VisitTask, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server said: the exchange as it was, the body decoded and positioned at its start."""

    status: int
    reason: str
    http_version: str  # "1.1", "2"
    request_headers: Headers
    headers: Headers
    address: str  # the IP address that was connected
    body: BinaryIO  # spooled: small ones in memory, large ones on disk
    size: int
    digest: Digest

    def header(self, name: str) -> str:
        """The last value of a header, or an empty string."""
        lowered = name.lower()
        return next((value for key, value in reversed(self.headers) if key.lower() == lowered), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request that has ended: with an answer, or with an error."""

    url: str
    started_at: datetime
    seconds: float
    answer: Answer | None = None
    error: FetchError | None = None


class Outcome(StrEnum):
    """What a visit came to."""

    NEW = "new"  # the resource's first version, or one that differs from the last
    UNCHANGED = "unchanged"
    REDIRECT = "redirect"
    FORBIDDEN = "forbidden"  # by robots.txt or by the guard
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visited:
    """A visit as the catalogue records it."""

    url: str
    at: datetime
    outcome: Outcome
    next_at: datetime  # when the resource is due again
    status: int = 0
    seconds: float = 0.0
    size: int = 0
    digest: Digest | None = None
    media_type: str = ""
    etag: str = ""
    last_modified: str = ""
    record: RecordRef | None = None  # the record of this visit in the archive
    body: RecordRef | None = None  # the record that holds the bytes, for NEW
    redirect_to: str = ""
    error: FetchError | None = None

"""A visit: one request to one URL, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO

from rehi.errors import FetchError
from rehi.model.claims import SourceOrders
from rehi.model.host import NO_ORDERS, HostOrders, Probe
from rehi.model.http import Headers as Headers
from rehi.model.http import find_header
from rehi.model.version import Digest, RecordRef


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitTask:
    """A resource that is due, with what is known of its newest version."""

    resource_id: int
    source_id: int  # the first that named it; 0 for none
    url: str
    digest: Digest | None = None
    body: RecordRef | None = None
    etag: str = ""
    last_modified: str = ""
    media_type: str = ""  # as last declared
    failures: int = 0  # in a row
    failing_since: datetime | None = None
    visited_at: datetime | None = None  # last
    hops: int = 0  # redirects that led here
    sources: tuple[SourceOrders, ...] = ()  # what each of its sources claims and orders, the first one first
    history: bytes = b""  # of its changes, as the frontier writes it
    pruned: bool = False  # its bytes are not kept any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """A host's robots.txt as it was answered."""

    status: int  # 0 when nobody answered
    text: str  # while it can't be had, as it last was
    fetched_at: datetime
    failing_since: datetime | None = None  # it can't be had


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLease:
    """The right to visit one host until ``until``, with the URLs that are due there."""

    host_id: int
    origin: str  # "https://www.example.ee", with a port only where it isn't the scheme's own
    token: str
    until: datetime
    delay: float  # seconds between two requests, when it was last given back
    robots: Robots | None
    tasks: tuple[VisitTask, ...]
    failures: int = 0  # times in a row that the host itself failed
    strain: float = 1.0  # how many times longer than usual the pause is, since the host was overloaded
    address: str = ""  # the IP address at which it was last met
    history: bytes = b""  # of the changes of all its pages together
    probe: Probe | None = None
    orders: HostOrders = NO_ORDERS


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
        """Return the last value of a header, or an empty string."""
        return find_header(self.headers, name)


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
    GONE = "gone"  # not found, again and again, for longer than the grace period

    @property
    def shows_version(self) -> bool:
        """Whether a version of the resource was there."""
        return self in (Outcome.NEW, Outcome.UNCHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visited:
    """A visit as the catalogue records it."""

    url: str
    at: datetime
    outcome: Outcome
    next_at: datetime | None  # when the resource is due again; None leaves its schedule as it is
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
    remark: FetchError | None = None  # for the problems list, though the visit did not fail by it
    history: bytes = b""  # of its changes, this visit included
    source_id: int | None = None  # of the source that has brought it: the resource is one of its own

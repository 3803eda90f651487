"""A source: a crawl log or a list of URLs that says what to visit, or a crawl that was made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SourceKind(StrEnum):
    """How a source is written down. The value names its reader in ``builtin.py``."""

    CRAWL_LOG = "crawl-log"
    URL_LIST = "url-list"
    PAGE = "page"  # a single URL, given by itself
    WARC = "warc"  # a crawl made elsewhere, in WARC or ARC; its records become versions
    WARC_IN_PLACE = "warc-in-place"  # the same; its records stay where they are, as far as they can

    @property
    def is_crawl(self) -> bool:
        """Whether it holds what was visited, and not what is to be."""
        return self in (SourceKind.WARC, SourceKind.WARC_IN_PLACE)


class SourceState(StrEnum):
    """How far a source has been taken in."""

    WAITING = "waiting"  # uploaded, not started
    READING = "reading"  # begun; continues at ``position`` after a stop
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where resources come from, and how far it has been read."""

    id: int
    kind: SourceKind
    name: str  # what people call it: the file's name or the URL
    location: str  # the path of the bytes on this machine (empty for a single page)
    size: int
    added_at: datetime
    state: SourceState = SourceState.WAITING
    position: int = 0  # lines taken in so far; of a crawl made elsewhere, where the next record is
    policy: str = (
        ""  # for coming back: "adaptive", "fixed 0 1 1 * *", "odarchive", "latency 15m"; empty for the settings'
    )
    weight: float = 1.0  # how much more it matters than others
    keep: str = ""  # which versions: "last 5", "one per month", "references"; empty for all
    counts: Mapping[str, float]  # "lines", "accepted", "rejected:dns", "malformed", "visited", "seconds:fetch" …


@dataclass(frozen=True, slots=True)
class Found:
    """A line that names a resource to visit."""

    url: str  # normalised


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that names nothing to visit, and why."""

    reason: str  # a short stable word: "speculative", "scheme", "dns", "robots", "status", "type" …


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that can't be understood."""

    line: int  # counted from 1
    text: str  # the line's beginning, cleaned
    why: str


Finding = Found | Rejected | Malformed

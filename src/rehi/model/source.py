"""A source: what says which resources there are, as a crawl log, a list of URLs, a page or a crawl made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from rehi.model.captured import CapturedVisit
from rehi.model.claims import NO_CLAIMS, Claims

UNRECOGNISED = ""  # the kind of a source before anybody has seen what lies at its address


class SourceState(StrEnum):
    """How far a source has been taken in."""

    WAITING = "waiting"  # entered, not started
    READING = "reading"  # begun; goes on at its cursor after a stop, or when what it waits for has been visited
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where resources come from, and how far it has been read."""

    id: int
    kind: str  # the name of a row of the group ``source`` in ``builtin.py``; empty before it was recognised
    name: str  # what people call it: the file's name or the URL
    location: str  # the path of the file, or the URL where it lies
    size: int
    added_at: datetime
    state: SourceState = SourceState.WAITING
    cursor: bytes = b""  # where its kind goes on; only the kind understands it
    share: float = 0.0  # how much of it has been read, from 0 to 1
    worker: str = ""  # on whose machine the file lies; empty for a URL, which every worker can read
    began_at: datetime | None = None  # when it was last started: what was visited before then is visited again
    awaits: str = ""  # the URL that must be visited before it goes on
    policy: str = (
        ""  # for coming back: "adaptive", "fixed 0 1 1 * *", "odarchive", "latency 15m"; empty for the settings'
    )
    weight: float = 1.0  # how much more it matters than others
    keep: str = ""  # which versions: "last 5", "one per month", "references"; empty for all
    follow: str = ""  # which links of its documents become resources: "same host, depth 3"; empty for none
    counts: Mapping[str, float]  # "lines", "accepted", "rejected:dns", "malformed", "visited", "seconds:fetch" …

    @property
    def is_local(self) -> bool:
        """Whether it is a file that only one worker can read."""
        return not self.location.startswith(("http://", "https://"))

    def waits_for(self, worker: str) -> str:
        """Return the other worker that alone can read it on, if it is one that this worker can't; empty if it is not."""
        is_open = self.state is SourceState.READING and not self.awaits
        return self.worker if is_open and self.worker != worker else ""

    def without_path(self) -> Source:
        """Return it without the folder of its file, which is nobody's business on the network."""
        return replace(self, location=self.name) if self.is_local else self


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """What is to be different of a source; what is None stays as it is."""

    kind: str | None = None
    state: SourceState | None = None
    policy: str | None = None
    weight: float | None = None
    keep: str | None = None
    follow: str | None = None


class Finding(NamedTuple):
    """An entry that names a resource, with what the source claims of it.

    A log gives millions: one takes 0.23 µs to make, and as a frozen dataclass it took 0.43.
    """

    url: str  # normalised
    claims: Claims = NO_CLAIMS
    capture: CapturedVisit | None = None  # what somebody else has brought from there: it is kept, and nothing is due


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry that names nothing to visit, and why."""

    reason: str  # a short stable word: "speculative", "scheme", "dns", "robots", "status", "type" …


@dataclass(frozen=True, slots=True)
class Malformed:
    """An entry that can't be understood."""

    where: int  # its line or entry, counted from 1
    text: str  # its beginning, cleaned
    why: str


class FollowedLink(NamedTuple):
    """A link of a document that becomes a finding of the document's source."""

    finding: Finding
    origin_id: int  # the resource whose document has the link
    depth: int  # how many links lie between where the source began and what this one leads to


Entry = Finding | Rejected | Malformed

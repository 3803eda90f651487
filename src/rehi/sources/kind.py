"""A kind of source: how it is recognised, and how its entries are read.

A kind is one object in one module, named by a row of the group ``source`` in ``builtin.py`` or by an entry point of the
group ``rehi.source``. It reads only through ``fetch``: a local file is simply there, and a URL is visited like any other
before its bytes can be had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from rehi.model.source import Entry, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSample:
    """The beginning of what may be a source."""

    name: str  # the file's name, or the URL
    first: bytes  # the first bytes, as they are
    start: bytes = b""  # the first bytes, unpacked
    lines: tuple[bytes, ...] = ()  # the first lines that are not blank, unpacked; empty if it is not text
    media_type: str = ""  # as declared by a server
    is_local: bool = True  # it is a file that somebody named, and not what lies at a URL


@dataclass(frozen=True, slots=True)
class Recognition:
    """How sure a kind is that it can read something, and what that is."""

    certainty: float  # from 0, not at all, to 1
    what: str  # as in "a crawl log"


@dataclass(frozen=True, slots=True)
class Fetched:
    """What lies at a place, as a file that may be read while it is open."""

    path: Path
    size: int
    media_type: str = ""  # as declared by a server


class Awaited(Exception):
    """What lies at a URL is not here yet: discovery goes on when it was visited. A kind lets this pass."""

    def __init__(self, url: str, *, since: datetime, at_once: bool = True) -> None:
        super().__init__(url)
        self.url, self.since = url, since  # a visit from that moment on will do
        self.at_once = at_once  # it is visited now, or when its own schedule says so


class Fetch(Protocol):
    """How a kind gets at bytes, and what it must know of where it works."""

    def clock(self) -> datetime:
        """Return the time that holds here."""

    @property
    def spool(self) -> Path:
        """A folder for what is too large for memory."""

    @property
    def max_bytes(self) -> int:
        """The size of the largest body that is kept."""

    def __call__(self, place: str) -> AbstractContextManager[Fetched]:
        """Open what lies at a path or a URL; SourceError if it can't be had, Awaited if it must be visited first."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """Some entries of a source, all of them, one after another."""

    entries: Sequence[Entry]
    cursor: bytes  # where to go on when they are stored
    share: float  # of the source that has been read then, from 0 to 1


class SourceKind(Protocol):
    """One kind of source."""

    title: str  # as people call it: "crawl log"
    unit: str  # what it consists of: "lines", "records"

    def recognise(self, sample: SourceSample) -> Recognition:
        """Return how sure it is that this can be read as a source of its kind."""

    def discover(self, source: Source, cursor: bytes, fetch: Fetch) -> Iterator[Discovered]:
        """Yield the entries after the cursor, batch by batch; each is a finding, rejected with a reason, or malformed.

        SourceError breaks it off; what was yielded before is stored.
        """


NOT_AT_ALL = Recognition(0.0, "")

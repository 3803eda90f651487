"""A capture: one visit that brought an answer, as web archives list it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What was there at one moment; an unchanged visit has the digest and the body of the version that it found."""

    resource_id: int
    url: str
    at: datetime
    outcome: Outcome  # NEW, UNCHANGED or REDIRECT
    status: int
    media_type: str  # as declared with the version; empty for a redirect
    digest: Digest | None  # None for a redirect
    size: int  # of the version's body
    record: RecordRef  # of this visit
    body: RecordRef | None  # None for a redirect
    dropped: bool = False  # the bytes are kept no more


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureFilter:
    """Which captures: all of them, or those that match every field that is given."""

    url: str = ""  # just this one
    prefix: str = ""  # URLs that begin so
    host: str = ""  # a host's whole name, whatever the scheme and the port
    domain: bool = False  # with the host's subdomains
    source_id: int | None = None
    media_type: str = ""  # "text/html", or "image/" for all of a kind
    since: datetime | None = None
    until: datetime | None = None  # not after
    urls: frozenset[str] | None = None  # only these, as a query has found them
    versions_only: bool = False  # neither unchanged visits nor redirects

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What the visits came to that are captures."""
        return (Outcome.NEW,) if self.versions_only else (Outcome.NEW, Outcome.UNCHANGED, Outcome.REDIRECT)

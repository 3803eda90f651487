"""Sources: where resources come from, and what each source says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rehi.model.claims import SourceClaims
from rehi.model.problem import Problem
from rehi.model.source import Finding, FollowedLink, Source, SourceChange
from rehi.model.work import Claim


class Sources(Protocol):
    """Sources, how far each has been read, and their findings."""

    def add_source(self, *, kind: str, name: str, location: str, size: int, worker: str = "", now: datetime) -> Source:
        """Enter a source; the same location and name give the same source again."""

    def start_source(self, source_id: int, *, worker: str = "", anew: bool = False, now: datetime) -> Source:
        """Put a source's discovery into the outbox, unless it is done; ``anew`` also then, from its beginning.

        What lies in a file is left to the worker on whose machine that is. If nobody knows that, it is ``worker``.
        """

    def take_in(
        self,
        source: Source,
        findings: Sequence[Finding],
        *,
        cursor: bytes,
        share: float = 0.0,
        counts: Mapping[str, float],
        problems: Sequence[Problem] = (),
        now: datetime,
    ) -> int:
        """Store a batch of findings with the new cursor and the counts to add, and return how many resources are new.

        New resources are due now. What has a capture makes none: it was recorded before, if it was kept. Each is a resource of this source from now on, whoever named it before, and what the
        source claims of it now replaces what it claimed before. When it was last named is the time within the source's
        newest reading at which it was named first, or at which the source began to claim something else.
        """

    def follow_links(self, links: Sequence[FollowedLink], *, source_id: int, now: datetime) -> int:
        """Store what documents link to as findings of their source; the first of several to one URL holds.

        Resources that the source has already stay as near as they were. Returns how many resources are new.
        """

    def change_source(self, source_id: int, change: SourceChange) -> Source:
        """Change a source, and return it; NotFound if there is none.

        If other links are to be followed, those of documents that were read before wait in the outbox to be looked at.
        """

    def suspend(
        self, source: Source, url: str, claims: Sequence[Claim], *, since: datetime, at_once: bool = True, now: datetime
    ) -> None:
        """Let a source wait for a visit to a URL, a resource of this source; the claims on the source are done.

        A visit that began at ``since`` or later will do. If there is none yet, the URL is due now, or when its own
        schedule says so. Once it was visited, the source can be claimed; whoever has the bytes in a folder of its own
        does the work.
        """

    def source(self, source_id: int) -> Source:
        """Return one source; NotFound if there is none."""

    def sources(self) -> Sequence[Source]:
        """Return all sources, the newest first."""

    def claims_on(self, resource_ids: Iterable[int]) -> Mapping[int, Sequence[SourceClaims]]:
        """Return what each of their sources says of resources, the first source first; those without one are left out."""

"""Backfill: visits that lie before one that is on record, and their place in the past.

A version's number says when it arrived, its moment since when it was valid. What a resource is now stays as it is, unless
the late version is the newest all the same. Where visits after it have found the version before it unchanged, that one was
valid again from the first of them on, and gets a version that says so.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import replace
from datetime import datetime
from operator import attrgetter

from rehi.model.resource import PastVersion, ResourcePast

_moment = attrgetter("at")


class Timeline:
    """The versions of one resource in the order of time, those that were just entered among them."""

    def __init__(self, past: ResourcePast) -> None:
        self._versions = list(past.versions)
        self._confirmed = past.confirmed

    def valid_at(self, at: datetime) -> PastVersion | None:
        """Return the version that was valid at a moment; None if that lies before the first."""
        place = bisect_right(self._versions, at, key=_moment)
        return self._versions[place - 1] if place else None

    def enter(self, late: PastVersion) -> PastVersion | None:
        """Put a late version into its place, and return the version before it as it was valid again after it.

        None if no visit between the late version and the next one has found the one before unchanged.
        """
        place = bisect_right(self._versions, late.at, key=_moment)
        before = self._versions[place - 1] if place else None
        until = self._versions[place].at if place < len(self._versions) else None
        self._versions.insert(place, late)
        first = bisect_right(self._confirmed, late.at, key=_moment)
        if before is None or first == len(self._confirmed):
            return None
        visit = self._confirmed[first]
        if until is not None and visit.at >= until:
            return None
        repeated = replace(before, at=visit.at, record=visit.record or before.record)
        insort(self._versions, repeated, key=_moment)
        return repeated

"""Repetition: which bytes a foreign revisit repeats, by its digest, what it refers to, or what was there before."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from rehi.archive import Archive
from rehi.archive.foreign import new_hash
from rehi.errors import ArchiveError
from rehi.model.capture import Capture, CaptureFilter
from rehi.model.captured import CapturedVisit
from rehi.model.version import Digest
from rehi.ports import Ledger

REMEMBERED = 200_000  # of the run's visits and digests: some 60 MB
_CHUNK = 65_536


@dataclass(frozen=True, slots=True, order=True)
class Bytes:
    """The bytes that a visit brought, by their digest, size and declared type."""

    digest: Digest
    size: int  # -1 if nobody said
    media_type: str  # as declared with it


class Histories:
    """The captures on record of some URLs, in the order of time."""

    def __init__(self, catalogue: Ledger, urls: Iterable[str]) -> None:
        self._captures: dict[str, list[Capture]] = {}
        for capture in catalogue.captures(CaptureFilter(urls=frozenset(urls))):
            if capture.digest is not None and not capture.dropped:
                self._captures.setdefault(capture.url, []).append(capture)

    def before(self, url: str, at: datetime) -> Capture | None:
        """Return the last capture of a URL at a moment or before it."""
        captures = self._captures.get(url, [])
        place = bisect_right(captures, at, key=lambda one: one.at)
        return captures[place - 1] if place else None

    def near(self, url: str, at: datetime) -> Capture | None:
        """Return the last capture of a URL at a moment or before it, or else its first one."""
        return self.before(url, at) or next(iter(self._captures.get(url, ())), None)


class Repetition:
    """Remembers the bytes that the visits of a run have brought, so that later revisits can refer to them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._digests: OrderedDict[tuple[str, bytes], Bytes] = OrderedDict()
        self._visits: OrderedDict[str, list[tuple[datetime, Bytes]]] = OrderedDict()

    def remember(self, visit: CapturedVisit, content: Bytes) -> None:
        """Remember that a visit has brought, or found again, these bytes."""
        moments = self._visits.setdefault(visit.url, [])
        insort(moments, (visit.at, content))
        del moments[:-100]
        self._visits.move_to_end(visit.url)
        if visit.digest is not None and not visit.repeats:
            self._digests[visit.digest] = content
        for known in (self._digests, self._visits):
            while len(known) > REMEMBERED:
                known.popitem(last=False)

    def resolve(self, visit: CapturedVisit, histories: Histories) -> Bytes | None:
        """Return the bytes that a revisit repeats; None if they are not here."""
        digest = visit.digest
        if digest is not None and digest in self._digests:
            return self._digests[digest]
        if visit.refers_to is not None and (content := self._at(visit.refers_to, histories)) is not None:
            return content
        if visit.unmodified:
            return self._before(visit.url, visit.at, histories)
        if digest is None:
            return None
        if (content := self._same(visit, digest, histories)) is not None or digest[0] != "sha256":
            return content
        return Bytes(Digest(f"sha256:{digest[1].hex()}"), -1, "")

    def _at(self, place: tuple[str, datetime], histories: Histories) -> Bytes | None:
        """Return the bytes that a URL had in that second."""
        url, at = place
        second = at.replace(microsecond=0)
        for moment, known in self._visits.get(url, ()):
            if moment.replace(microsecond=0) == second:
                return known
        capture = histories.before(url, second.replace(microsecond=999_999))
        return _bytes_of(capture) if capture is not None and capture.at.replace(microsecond=0) == second else None

    def _before(self, url: str, at: datetime, histories: Histories) -> Bytes | None:
        known = [one for one in self._visits.get(url, ()) if one[0] < at]
        capture = histories.before(url, at)
        if known and (capture is None or known[-1][0] >= capture.at):
            return known[-1][1]
        return _bytes_of(capture)

    def _same(self, visit: CapturedVisit, digest: tuple[str, bytes], histories: Histories) -> Bytes | None:
        """Return the bytes of the nearest capture of the URL, if they have the digest."""
        capture = histories.near(visit.url, visit.at)
        if capture is None or capture.body is None:
            return None
        made = new_hash(digest[0])
        try:
            with self._archive.open_body(capture.body) as body:
                while chunk := body.read(_CHUNK):
                    made.update(chunk)
        except ArchiveError:
            return None
        return _bytes_of(capture) if made.digest() == digest[1] else None


def _bytes_of(capture: Capture | None) -> Bytes | None:
    if capture is None or capture.digest is None:
        return None
    return Bytes(capture.digest, capture.size, capture.media_type)


def urls_of(visits: Iterable[CapturedVisit]) -> set[str]:
    """Return the URLs of which the history is asked for: those that were visited, and those that revisits refer to."""
    visits = list(visits)
    referred = {visit.refers_to[0] for visit in visits if visit.repeats and visit.refers_to is not None}
    return referred.union(visit.url for visit in visits)

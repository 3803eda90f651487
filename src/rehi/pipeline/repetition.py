"""Repetition: which bytes a foreign revisit repeats, by its digest, what it refers to, or what was there before."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rehi.archive import Archive
from rehi.archive.foreign import Fields, new_hash, parse_digest, read_date
from rehi.errors import ArchiveError, RecordDamaged
from rehi.model.capture import Capture, CaptureFilter
from rehi.model.version import Digest
from rehi.pipeline.foreign import AHEAD, ForeignVisit
from rehi.ports import Ledger
from rehi.sources import normalise

REMEMBERED = 200_000  # of the run's visits and digests: some 60 MB
_CHUNK = 65_536


@dataclass(frozen=True, slots=True, order=True)
class Bytes:
    """What a visit found."""

    digest: Digest
    size: int  # -1 if nobody said
    media_type: str  # as declared with it


class Histories:
    """What is on record of some URLs, in the order of time."""

    def __init__(self, catalogue: Ledger, urls: Iterable[str]) -> None:
        self._captures: dict[str, list[Capture]] = {}
        for found in catalogue.captures(CaptureFilter(urls=frozenset(urls))):
            if found.digest is not None and not found.dropped:
                self._captures.setdefault(found.url, []).append(found)

    def before(self, url: str, at: datetime) -> Capture | None:
        """The last that was found there, at that moment at the latest."""
        found = self._captures.get(url, [])
        place = bisect_right(found, at, key=lambda one: one.at)
        return found[place - 1] if place else None

    def near(self, url: str, at: datetime) -> Capture | None:
        """The last that was found there before, or else the first after."""
        return self.before(url, at) or next(iter(self._captures.get(url, ())), None)


class Repetition:
    """What the visits of a run have brought, as far as later ones may refer to it."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._digests: OrderedDict[tuple[str, bytes], Bytes] = OrderedDict()
        self._visits: OrderedDict[str, list[tuple[datetime, Bytes]]] = OrderedDict()

    def remember(self, visit: ForeignVisit, found: Bytes) -> None:
        """A visit has brought, or found again, these bytes."""
        moments = self._visits.setdefault(visit.url, [])
        insort(moments, (visit.at, found))
        del moments[:-100]
        self._visits.move_to_end(visit.url)
        said = parse_digest(visit.record.fields.get("warc-payload-digest"))
        if said is not None and not visit.repeats:
            self._digests[said] = found
        for known in (self._digests, self._visits):
            while len(known) > REMEMBERED:
                known.popitem(last=False)

    def resolve(self, visit: ForeignVisit, histories: Histories, *, now: datetime) -> Bytes | None:
        """The bytes that a revisit repeats; None if they are not here."""
        fields = visit.record.fields
        said = parse_digest(fields.get("warc-payload-digest")) if fields.kind == "revisit" else None
        if said is not None and said in self._digests:
            return self._digests[said]
        if (referred := reference(fields, now=now)) is not None and (
            found := self._at(referred, histories)
        ) is not None:
            return found
        if visit.answer.status == 304 or "not-modified" in fields.get("warc-profile").lower():
            return self._before(visit.url, visit.at, histories)
        if said is None:
            return None
        if (found := self._same(visit, said, histories)) is not None or said[0] != "sha256":
            return found
        return Bytes(Digest(f"sha256:{said[1].hex()}"), -1, "")

    def _at(self, place: tuple[str, datetime], histories: Histories) -> Bytes | None:
        """What was found at a URL in that second."""
        url, at = place
        second = at.replace(microsecond=0)
        for moment, known in self._visits.get(url, ()):
            if moment.replace(microsecond=0) == second:
                return known
        found = histories.before(url, second.replace(microsecond=999_999))
        return _bytes_of(found) if found is not None and found.at.replace(microsecond=0) == second else None

    def _before(self, url: str, at: datetime, histories: Histories) -> Bytes | None:
        known = [one for one in self._visits.get(url, ()) if one[0] < at]
        found = histories.before(url, at)
        if known and (found is None or known[-1][0] >= found.at):
            return known[-1][1]
        return _bytes_of(found)

    def _same(self, visit: ForeignVisit, said: tuple[str, bytes], histories: Histories) -> Bytes | None:
        """The bytes that were there before, if the digest is theirs."""
        found = histories.near(visit.url, visit.at)
        if found is None or found.body is None:
            return None
        made = new_hash(said[0])
        try:
            with self._archive.open_body(found.body) as body:
                while chunk := body.read(_CHUNK):
                    made.update(chunk)
        except ArchiveError:
            return None
        return _bytes_of(found) if made.digest() == said[1] else None


def _bytes_of(found: Capture | None) -> Bytes | None:
    if found is None or found.digest is None:
        return None
    return Bytes(found.digest, found.size, found.media_type)


def reference(fields: Fields, *, now: datetime) -> tuple[str, datetime] | None:
    """The visit to which a revisit refers, if it says so."""
    url = normalise(fields.get("warc-refers-to-target-uri") or fields.url)
    try:
        at = read_date(fields.get("warc-refers-to-date"), latest=now + AHEAD)
    except RecordDamaged:
        return None
    return None if url is None else (url, at)


def urls_of(visits: Sequence[ForeignVisit], *, now: datetime) -> set[str]:
    """The URLs of which the history is asked for: those that were visited, and those that revisits refer to."""
    found = {visit.url for visit in visits}
    for visit in visits:
        if visit.repeats and (referred := reference(visit.record.fields, now=now)) is not None:
            found.add(referred[0])
    return found

"""A crawl made elsewhere as a source: its records become findings that carry what was captured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rehi.archive.foreign import Damage, ForeignFile, ForeignRecord, open_foreign, read_request
from rehi.errors import RecordDamaged
from rehi.model.source import Entry, Finding, Malformed, Rejected, Source
from rehi.model.visit import Headers
from rehi.pipeline.foreign import ForeignVisit, Skipped, read_visit
from rehi.pipeline.rooms import BATCH, BATCH_BYTES
from rehi.sources import Discovered, Fetch
from rehi.sources.lines import read_cursor
from rehi.sources.recognition import recognise_archive, recognise_nothing

_ANSWERS = frozenset({"response", "resource", "revisit"})
_KINDS = frozenset({"request", "metadata", "warcinfo", "conversion", "continuation", "arc_header"})
_WAITING = 64  # requests whose answers may still come
_RECORDS = 50 * BATCH  # of a batch at most, whatever they are


class ForeignCrawl:
    """The kind of source that is a crawl made elsewhere, in WARC or ARC; its cursor is the place of the next record."""

    title, unit = "crawl made elsewhere", "records"
    recognise = staticmethod(recognise_archive)

    def discover(self, source: Source, cursor: bytes, fetch: Fetch) -> Iterator[Discovered]:
        """Yield an entry for each record after the cursor; a request and its answer are in one batch."""
        start = read_cursor(cursor)
        with fetch(source.location) as fetched:
            file = open_foreign(fetched.path)
            batch = _RecordBatch(fetch)
            try:
                yield from _read(file, batch, start)
            finally:
                batch.close()
                file.close()


class CrawlInPlace(ForeignCrawl):
    """A crawl whose records stay where they are, as far as they can. It is one only for those who ask for it."""

    title = "crawl made elsewhere, left in place"
    recognise = staticmethod(recognise_nothing)


KIND, IN_PLACE = ForeignCrawl(), CrawlInPlace()


def _read(file: ForeignFile, batch: _RecordBatch, start: int) -> Iterator[Discovered]:
    size = max(1, file.packed.size)
    for item in file.records(start):
        if not isinstance(item, Damage) and batch.is_full(item):
            yield Discovered(batch.take_entries(), b"%d" % item.at, min(1.0, file.done / size))
            batch.close()
        batch.add(item)
    yield Discovered(batch.take_entries(), b"%d" % max(start, file.packed.size), 1.0)


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    headers: Headers


@dataclass(slots=True)
class _RecordBatch:
    """Records that are yielded together. What is wrong with one may show only when the next one is read."""

    fetch: Fetch
    _entries: list[ForeignVisit | Entry] = field(default_factory=list)
    _visits: list[ForeignVisit] = field(default_factory=list)
    _bytes: int = 0
    _requests: dict[str, _Request] = field(default_factory=dict)
    _damaged_at: int = -1

    def is_full(self, coming: ForeignRecord) -> bool:
        """Whether what has come is a batch, and what is coming does not belong to it."""
        if len(self._visits) < BATCH and self._bytes < BATCH_BYTES and len(self._entries) < _RECORDS:
            return False
        fields = coming.fields
        if fields.kind in _ANSWERS:
            return self._request_of(coming) is None
        return fields.kind != "request" or not any(
            _are_paired(coming, visit.record) for visit in self._visits[-_WAITING:]
        )

    def add(self, item: ForeignRecord | Damage) -> None:
        """Add a record, or a place where none could be read."""
        if isinstance(item, Damage):
            self._note_damage(item.at, item.why)
            return
        kind = item.fields.kind
        try:
            if kind in _ANSWERS:
                self._add_answer(item)
            else:
                if kind == "request":
                    self._add_request(item)
                self._entries.append(Rejected(kind if kind in _KINDS else "other"))
        except RecordDamaged as error:
            self._note_damage(item.at, str(error))

    def take_entries(self) -> list[Entry]:
        """Return what has come, as entries; the bodies stay open until ``close``."""
        entries = [entry if not isinstance(entry, ForeignVisit) else self._entry(entry) for entry in self._entries]
        self._entries, self._bytes = [], 0
        for name in list(self._requests)[: -3 * _WAITING]:
            del self._requests[name]
        return [entry for entry in entries if entry is not None]

    def close(self) -> None:
        """Close the bodies."""
        for visit in self._visits:
            visit.answer.body.close()
        self._visits = []

    def _entry(self, visit: ForeignVisit) -> Entry | None:
        request = self._request_of(visit.record)
        if visit.record.spoiled:
            return None  # the damage was noted where it was noticed, in place of the record
        if request is not None and request.method not in ("GET", ""):
            return Rejected("method")
        captured = visit.as_captured(request.headers if request is not None else (), now=self.fetch.clock())
        return Finding(visit.url, capture=captured)

    def _add_answer(self, record: ForeignRecord) -> None:
        fetch = self.fetch
        try:
            visit = read_visit(record, now=fetch.clock(), max_bytes=fetch.max_bytes, spool=fetch.spool)
        except Skipped as why:
            self._entries.append(Rejected(str(why)))
            return
        self._visits.append(visit)
        self._entries.append(visit)
        self._bytes += visit.answer.size

    def _add_request(self, record: ForeignRecord) -> None:
        request = _Request(*read_request(record.block))
        self._bytes += record.fields.length - record.block.left
        for name in _names(record, own="id", other="to"):
            self._requests[name] = request

    def _request_of(self, record: ForeignRecord) -> _Request | None:
        names = _names(record, own="to", other="id")
        return next((known for name in names if (known := self._requests.get(name)) is not None), None)

    def _note_damage(self, at: int, why: str) -> None:
        if at != self._damaged_at:  # its reader and the one who reads what is in it have both noticed
            self._damaged_at = at
            self._entries.append(Malformed(at, "", why))


def _names(record: ForeignRecord, *, own: str, other: str) -> list[str]:
    """Return the names under which a request and its answer find each other."""
    fields = record.fields
    names = [f"at {fields.date} {fields.url}"]
    if ident := fields.get("warc-record-id"):
        names.append(f"{own} {ident}")
    if concurrent := fields.get("warc-concurrent-to"):
        names.append(f"{other} {concurrent}")
    return names


def _are_paired(one: ForeignRecord, other: ForeignRecord) -> bool:
    return not set(_names(one, own="id", other="to")).isdisjoint(_names(other, own="to", other="id"))

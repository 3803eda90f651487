"""Imports: a crawl made elsewhere, batch by batch, kept and recorded as if its visits had been made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from rehi.archive import Archive
from rehi.archive.foreign import Damage, ForeignRecord, read_request
from rehi.errors import ArchiveError, RecordDamaged, RecordMissing
from rehi.frontier import VISIT_RULES
from rehi.model.problem import Problem, Stage
from rehi.model.source import Source
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Headers, Outcome, Visited
from rehi.pipeline.foreign import ForeignVisit, Skipped, read_visit
from rehi.pipeline.repetition import Bytes, Histories, Repetition, urls_of
from rehi.pipeline.rooms import BATCH, BATCH_BYTES
from rehi.ports import Catalogue

PROBLEMS = 100  # of one source that are shown one by one; all are counted
ADVICE = "What the file holds besides was taken in. If you have another copy of the file, add that."
MISSING = "Add the file that holds the original, and then this one again with --again."
_ANSWERS = frozenset({"response", "resource", "revisit"})
_KINDS = _ANSWERS | {"request", "metadata", "warcinfo", "conversion", "continuation", "arc_header"}
_WAITING = 64  # requests whose answers may still come


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    headers: Headers


@dataclass(slots=True, kw_only=True)
class Imports:
    """One source's records on their way in. Nothing counts as taken before ``store`` has returned."""

    archive: Archive
    catalogue: Catalogue
    source: Source
    worker: str
    clock: Callable[[], datetime]
    max_bytes: int
    spool: Path
    adopted: str = ""  # the name under which the archive knows the file itself
    _repetition: Repetition = field(init=False)
    _visits: list[ForeignVisit] = field(default_factory=list)
    _bytes: int = 0
    _bases: dict[str, RecordRef] = field(default_factory=dict)  # by URL, bytes that this batch has brought
    _requests: dict[str, _Request] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    _problems: list[Problem] = field(default_factory=list)
    _shown: int = 0
    _complained_at: int = -1

    def __post_init__(self) -> None:
        self._repetition = Repetition(self.archive)
        self._shown = int(self.source.counts.get("damaged", 0))

    def is_due(self, coming: ForeignRecord) -> bool:
        """Whether what has come is a batch, and what is coming does not belong to it."""
        if len(self._visits) < BATCH and self._bytes < BATCH_BYTES and self._counts["records"] < 50 * BATCH:
            return False
        fields = coming.fields
        if fields.kind in _ANSWERS:
            return self._request_of(coming) is None
        return fields.kind != "request" or not any(
            _are_paired(coming, visit.record) for visit in self._visits[-_WAITING:]
        )

    def take(self, item: ForeignRecord | Damage) -> None:
        """A record, or a place where none could be read."""
        if isinstance(item, Damage):
            self._complain(item.at, item.why)
            return
        kind = item.fields.kind
        self._counts["records"] += 1
        self._counts[f"records:{kind if kind in _KINDS else 'other'}"] += 1
        try:
            if kind in _ANSWERS:
                self._take_answer(item)
            elif kind == "request":
                self._take_request(item)
        except RecordDamaged as error:
            self._complain(item.at, str(error))

    def store(self, *, position: int) -> None:
        """Keep what has come: the archive first, then the visits, then how far the source was read."""
        now = self.clock()
        visits, self._visits, self._bytes = self._visits, [], 0
        try:
            wanted = list(self._wanted(visits))
            visited = self._keep(wanted, now)
            self.archive.sync()
        finally:
            for visit in visits:
                visit.answer.body.close()
        if visited:
            self.catalogue.record(visited, [], rules=VISIT_RULES, worker=self.worker, now=now)
        counts = {what: float(n) for what, n in self._counts.items() if n}
        self.catalogue.take_in(self.source, [], position=position, counts=counts, problems=self._problems, now=now)
        self._counts, self._problems = Counter(), []
        self._bases.clear()
        for name in list(self._requests)[: -3 * _WAITING]:
            del self._requests[name]

    def close(self) -> None:
        """Let go of what was not stored."""
        for visit in self._visits:
            visit.answer.body.close()
        self._visits = []

    def _take_request(self, record: ForeignRecord) -> None:
        request = _Request(*read_request(record.block))
        self._bytes += record.fields.length - record.block.left
        for name in _names(record, own="id", other="to"):
            self._requests[name] = request

    def _take_answer(self, record: ForeignRecord) -> None:
        try:
            visit = read_visit(record, now=self.clock(), max_bytes=self.max_bytes, spool=self.spool)
        except Skipped as why:
            self._counts[f"skipped:{why}"] += 1
            return
        self._visits.append(visit)
        self._bytes += visit.answer.size

    def _request_of(self, record: ForeignRecord) -> _Request | None:
        names = _names(record, own="to", other="id")
        return next((found for name in names if (found := self._requests.get(name)) is not None), None)

    def _wanted(self, visits: list[ForeignVisit]) -> Iterator[ForeignVisit]:
        """Those that are whole, were asked for by GET, and are not on record."""
        known = set(self.catalogue.on_record(visit.key for visit in visits))
        for visit in visits:
            request = self._request_of(visit.record)
            if visit.record.spoiled:
                continue  # complained of where it was noticed
            if request is not None and request.method not in ("GET", ""):
                self._counts["skipped:method"] += 1
            elif visit.key in known:
                self._counts["known"] += 1
            else:
                known.add(visit.key)
                yield visit

    def _keep(self, visits: list[ForeignVisit], now: datetime) -> list[Visited]:
        histories = Histories(self.catalogue, urls_of(visits, now=now))
        finds = self._finds(visits, histories, now)
        known = self.catalogue.find_bodies({found.digest for found in finds.values()})
        bodies = {
            digest: body.place
            for digest, body in known.items()
            if body.pruned is None and self.archive.holds(body.place)
        }
        visited: list[Visited] = []
        for visit in sorted(visits, key=lambda one: one.repeats):
            found = finds.get(visit.key)
            try:
                if visit.redirect_to:
                    visited.append(self._keep_redirect(visit))
                elif found is None or (visit.repeats and found.digest not in bodies):
                    self._counts["unresolved"] += 1
                    self._complain(visit.record.at, "it repeats a record that is not here", code=RecordMissing.code)
                else:
                    visited.append(self._keep_body(visit, found, bodies, histories))
            except ArchiveError as error:
                self._complain(visit.record.at, str(error))
        self._counts["kept"] += len(visited)
        return visited

    def _finds(
        self, visits: list[ForeignVisit], histories: Histories, now: datetime
    ) -> dict[tuple[str, datetime], Bytes]:
        """What each visit found."""
        finds: dict[tuple[str, datetime], Bytes] = {}
        for visit in sorted(visits, key=lambda one: (one.repeats, one.at)):  # what is repeated may stand after it
            answer, found = visit.answer, None
            if visit.repeats:
                found = self._repetition.resolve(visit, histories, now=now)
            elif not visit.redirect_to:
                found = Bytes(answer.digest, answer.size, answer.header("content-type"))
            if found is not None:
                finds[visit.key] = found
                self._repetition.remember(visit, found)
        return finds

    def _keep_redirect(self, visit: ForeignVisit) -> Visited:
        record = self._place(visit) or self.archive.keep(visit.as_visit(self._headers(visit)))
        return self._visited(visit, Outcome.REDIRECT, record, redirect_to=visit.redirect_to)

    def _keep_body(
        self, visit: ForeignVisit, found: Bytes, bodies: dict[Digest, RecordRef], histories: Histories
    ) -> Visited:
        known = bodies.get(found.digest)
        if visit.repeats:
            size = found.size if found.size >= 0 or known is None else self._measure(known)
            found = replace(found, size=size)
            visit.answer = replace(visit.answer, digest=found.digest, size=size)
        record = self._place(visit)
        if record is None:
            made = visit.as_visit(self._headers(visit))
            if known is not None:
                record = self.archive.keep_duplicate(made, body=known)
            elif (base := self._base(visit, histories)) is not None:
                record = self.archive.keep_change(made, base=base)
            else:
                record = self.archive.keep(made)
        body = bodies.setdefault(found.digest, record)
        self._bases[visit.url] = body
        return self._visited(visit, Outcome.NEW, record, found=found, body=body)

    def _base(self, visit: ForeignVisit, histories: Histories) -> RecordRef | None:
        """Other bytes of the page, against which these may be written."""
        if (base := self._bases.get(visit.url)) is not None:
            return base
        before = histories.near(visit.url, visit.at)
        return before.body if before is not None and before.body and self.archive.holds(before.body) else None

    def _measure(self, body: RecordRef) -> int:
        with self.archive.open_body(body) as stream:
            return sum(map(len, iter(lambda: stream.read(65_536), b"")))

    def _headers(self, visit: ForeignVisit) -> Headers:
        request = self._request_of(visit.record)
        return request.headers if request is not None else ()

    def _place(self, visit: ForeignVisit) -> RecordRef | None:
        """Where the record lies, if the file is not copied and the record is as one of ours."""
        if not self.adopted or visit.record.member is None or not visit.can_be_adopted:
            return None
        self._counts["adopted"] += 1
        return RecordRef(self.adopted, *visit.record.member)

    def _visited(
        self,
        visit: ForeignVisit,
        outcome: Outcome,
        record: RecordRef,
        *,
        found: Bytes | None = None,
        body: RecordRef | None = None,
        redirect_to: str = "",
    ) -> Visited:
        answer = visit.answer
        return Visited(
            url=visit.url,
            at=visit.at,
            outcome=outcome,
            next_at=None,
            status=answer.status,
            size=answer.size,
            digest=found.digest if found else None,
            media_type=answer.header("content-type") or (found.media_type if found else ""),
            etag=answer.header("etag"),
            last_modified=answer.header("last-modified"),
            record=record,
            body=body,
            redirect_to=redirect_to,
            source_id=self.source.id,
        )

    def _complain(self, at: int, why: str, *, code: str = RecordDamaged.code) -> None:
        if at == self._complained_at:  # its reader and the one who reads what is in it have both noticed
            return
        now, self._complained_at = self.clock(), at
        self._counts["damaged"] += code == RecordDamaged.code
        self._shown += 1
        if self._shown <= PROBLEMS:
            problem = Problem(
                stage=Stage.SOURCES,
                code=code,
                subject=f"{self.source.name}:{at}",
                message=why,
                next_step=RecordDamaged.disposition,
                advice=ADVICE if code == RecordDamaged.code else MISSING,
                first_at=now,
                last_at=now,
            )
            self._problems.append(problem)


def _names(record: ForeignRecord, *, own: str, other: str) -> list[str]:
    """Under which a request and its answer find each other."""
    fields = record.fields
    names = [f"at {fields.date} {fields.url}"]
    if ident := fields.get("warc-record-id"):
        names.append(f"{own} {ident}")
    if concurrent := fields.get("warc-concurrent-to"):
        names.append(f"{other} {concurrent}")
    return names


def _are_paired(one: ForeignRecord, other: ForeignRecord) -> bool:
    return not set(_names(one, own="id", other="to")).isdisjoint(_names(other, own="to", other="id"))

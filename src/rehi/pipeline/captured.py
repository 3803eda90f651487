"""Captured visits: what a crawl made elsewhere has brought, kept and recorded as if its visits had been made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from rehi.archive import Archive
from rehi.errors import ArchiveError, RecordDamaged, RecordMissing
from rehi.model.captured import CapturedVisit
from rehi.model.problem import Problem, Stage
from rehi.model.source import Source
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Outcome, Visit, Visited
from rehi.pipeline.damaged_bodies import DamagedBodies
from rehi.pipeline.repetition import Bytes, Histories, Repetition, urls_of
from rehi.ports import Catalogue

DAMAGED = "What the file holds besides was taken in. If you have another copy of the file, add that."
MISSING = "Add the file that holds the original, and then this one again with --again."
_CHUNK = 65_536


@dataclass(slots=True)
class Keeping:
    """What came of a batch of captured visits."""

    visited: list[Visited] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class CaptureKeeper:
    """Keeps the captured visits of one source. Nothing counts as taken before it is recorded."""

    archive: Archive
    catalogue: Catalogue
    source: Source
    adopted: str = ""  # the name under which the archive knows the source's file itself
    _repetition: Repetition = field(init=False)
    damaged: DamagedBodies = field(default_factory=DamagedBodies)
    _bases: dict[str, RecordRef] = field(default_factory=dict)  # by URL, bytes that this batch has brought

    def __post_init__(self) -> None:
        self._repetition = Repetition(self.archive)

    def keep(self, visits: Sequence[CapturedVisit], *, now: datetime) -> Keeping:
        """Append to the archive what is not on record, and return it as visits to be recorded."""
        keeping = Keeping()
        wanted = list(self._wanted(visits, keeping))
        histories = Histories(self.catalogue, urls_of(wanted))
        bytes_by_visit = self._find_bytes(wanted, histories)
        known = self.catalogue.find_bodies({content.digest for content in bytes_by_visit.values()})
        bodies = {
            digest: body.place
            for digest, body in known.items()
            if body.pruned is None and self.archive.holds(body.place)
        }
        for visit in sorted(wanted, key=lambda one: one.repeats):
            content = bytes_by_visit.get(visit.key)
            try:
                if visit.redirect_to:
                    keeping.visited.append(self._keep_redirect(visit, keeping))
                elif content is None or (visit.repeats and content.digest not in bodies):
                    keeping.counts["unresolved"] += 1
                    error = RecordMissing("it repeats a record that is not here")
                    keeping.problems.append(self._problem(visit, error, MISSING, now))
                else:
                    keeping.visited.append(self._keep_body(visit, content, bodies, histories, keeping))
            except ArchiveError as error:
                keeping.counts["malformed"] += 1
                keeping.problems.append(self._problem(visit, RecordDamaged(str(error)), DAMAGED, now))
        self.archive.sync()
        if known:
            self.damaged.welcome(keeping.visited, known)
        self._bases.clear()
        keeping.counts["kept"] += len(keeping.visited)
        return keeping

    def _wanted(self, visits: Sequence[CapturedVisit], keeping: Keeping) -> Iterator[CapturedVisit]:
        known = set(self.catalogue.on_record(visit.key for visit in visits))
        for visit in visits:
            if visit.key in known:
                keeping.counts["known"] += 1
            else:
                known.add(visit.key)
                yield visit

    def _find_bytes(self, visits: Sequence[CapturedVisit], histories: Histories) -> dict[tuple[str, datetime], Bytes]:
        """Return the bytes that each visit brought, or found again, by the key of the visit."""
        bytes_by_visit: dict[tuple[str, datetime], Bytes] = {}
        for visit in sorted(visits, key=lambda one: (one.repeats, one.at)):  # what is repeated may stand after it
            answer, content = visit.answer, None
            if visit.repeats:
                content = self._repetition.resolve(visit, histories)
            elif not visit.redirect_to:
                content = Bytes(answer.digest, answer.size, answer.header("content-type"))
            if content is not None:
                bytes_by_visit[visit.key] = content
                self._repetition.remember(visit, content)
        return bytes_by_visit

    def _keep_redirect(self, visit: CapturedVisit, keeping: Keeping) -> Visited:
        record = self._place(visit, keeping) or self.archive.keep(visit.as_visit())
        return self._visited(visit, Outcome.REDIRECT, record)

    def _keep_body(
        self,
        visit: CapturedVisit,
        content: Bytes,
        bodies: dict[Digest, RecordRef],
        histories: Histories,
        keeping: Keeping,
    ) -> Visited:
        known = bodies.get(content.digest)
        if visit.repeats:
            size = content.size if content.size >= 0 or known is None else self._measure(known)
            content = replace(content, size=size)
            visit = replace(visit, answer=replace(visit.answer, digest=content.digest, size=size))
        record = self._place(visit, keeping)
        if record is None:
            made = visit.as_visit()
            if known is not None:
                record = self._keep_again(visit, made, known)
            elif (base := self._base(visit, histories)) is not None:
                record = self.archive.keep_change(made, base=base)
            else:
                record = self.archive.keep(made)
        elif known is not None and not visit.repeats and (fault := self.archive.find_fault(known)) is not None:
            self.damaged.meet(known, fault)
        if known is not None and known in self.damaged and not visit.repeats:
            self.damaged.replace(content.digest, lay=known, lies=record)
            bodies[content.digest] = record
        body = bodies.setdefault(content.digest, record)
        self._bases[visit.url] = body
        return self._visited(visit, Outcome.NEW, record, content=content, body=body)

    def _base(self, visit: CapturedVisit, histories: Histories) -> RecordRef | None:
        """Return the record of other bytes of the page, on which a delta may be based."""
        if (base := self._bases.get(visit.url)) is not None:
            return base
        before = histories.near(visit.url, visit.at)
        return before.body if before is not None and before.body and self.archive.holds(before.body) else None

    def _keep_again(self, visit: CapturedVisit, made: Visit, known: RecordRef) -> RecordRef:
        """Keep a visit that found known bytes without them; if they can't be read any more, with what it has brought of them."""
        if known not in self.damaged:
            try:
                return self.archive.keep_duplicate(made, body=known)
            except ArchiveError as error:
                self.damaged.meet(known, error)
        return (
            self.archive.keep_unmodified(made, digest=visit.answer.digest) if visit.repeats else self.archive.keep(made)
        )

    def _measure(self, body: RecordRef) -> int:
        """Return the size of kept bytes; 0 if they can't be read."""
        try:
            with self.archive.open_body(body) as stream:
                return sum(map(len, iter(lambda: stream.read(_CHUNK), b"")))
        except ArchiveError as error:
            self.damaged.meet(body, error)
            return 0

    def _place(self, visit: CapturedVisit, keeping: Keeping) -> RecordRef | None:
        """Return where the record lies, if the file is not copied and the record is as one of ours."""
        if not self.adopted or visit.member is None:
            return None
        keeping.counts["adopted"] += 1
        return RecordRef(self.adopted, *visit.member)

    def _visited(
        self,
        visit: CapturedVisit,
        outcome: Outcome,
        record: RecordRef,
        *,
        content: Bytes | None = None,
        body: RecordRef | None = None,
    ) -> Visited:
        answer = visit.answer
        return Visited(
            url=visit.url,
            at=visit.at,
            outcome=outcome,
            next_at=None,
            status=answer.status,
            size=answer.size,
            digest=content.digest if content else None,
            media_type=answer.header("content-type") or (content.media_type if content else ""),
            etag=answer.header("etag"),
            last_modified=answer.header("last-modified"),
            record=record,
            body=body,
            redirect_to=visit.redirect_to,
            source_id=self.source.id,
        )

    def _problem(self, visit: CapturedVisit, error: ArchiveError, advice: str, now: datetime) -> Problem:
        subject = f"{self.source.name}:{visit.where}"
        return Problem.of(error, stage=Stage.SOURCES, subject=subject, at=now, advice=advice)

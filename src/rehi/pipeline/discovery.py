"""Discovery: a source is recognised if need be, read by its kind from its cursor on, and stored batch by batch.

That goes on beside the visits. A file is opened where it lies, and what lies at a URL is visited first, as everything is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from rehi.archive import Archive
from rehi.builtin import load, load_all
from rehi.errors import RehiError, SettingsError, SourceError
from rehi.frontier import VISIT_RULES, zone_of
from rehi.model.captured import CapturedVisit
from rehi.model.problem import Problem, ProblemKey, Stage
from rehi.model.source import UNRECOGNISED, Source, SourceChange, SourceState
from rehi.model.work import Claim
from rehi.pipeline.captured import CaptureKeeper
from rehi.pipeline.crawl import IN_PLACE
from rehi.pipeline.judgement import Judge
from rehi.pipeline.rooms import LEASE_SECONDS
from rehi.ports import Catalogue
from rehi.settings import Settings
from rehi.sources import Awaited, SourceKind, recognise, sample_file
from rehi.sources.intake import discover_safely, take_in
from rehi.sources.recognition import PAGE
from rehi.sources.source_fetch import SourceFetch

DISCOVER = "discover"  # the kind of work in the outbox whose subjects are sources
ADVICE = "What came before is kept. Mend the file and add it again."

_log = logging.getLogger(__name__)

Turns = Generator[None, None, bool]  # a batch of a source each
Report = Callable[[Source, float], None]  # told of a source that is being read, and of the share that is done


@dataclass(frozen=True, slots=True)
class ClaimedSource:
    """A source that this worker reads, and the row of the outbox that says so."""

    claim: Claim
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What it takes to read a source. One is read at a time in a data folder, under the lock of the intake."""

    settings: Settings
    worker: str
    clock: Callable[[], datetime]
    catalogue: Catalogue
    archive: Archive  # for reading
    spool: Path
    lock: Callable[[], AbstractContextManager[None]]  # DataFolderBusy if another process reads a source
    importing: Callable[[], AbstractContextManager[Archive]]  # for appending what others have captured
    adopt: Callable[[Path], str]  # makes a file known to the archive where it is, and returns its name there

    def claim(self, source_ids: Sequence[int] | None = None, *, retake: bool = True) -> ClaimedSource | None:
        """Claim a source that is to be read, any or one of these; None if none waits. Whoever calls holds the lock.

        So a claim of this worker's own is one of a process that was killed, unless it reads another source already.
        """
        claims = self.catalogue.claim(
            (DISCOVER,),
            worker=self.worker,
            limit=1,
            ttl=LEASE_SECONDS,
            now=self.clock(),
            subjects=source_ids,
            retake=retake,
        )
        return ClaimedSource(claims[0], self.catalogue.source(claims[0].subject)) if claims else None

    def take_up(self, sources: Iterable[Source]) -> None:
        """Go on with files that an older version was reading, if they lie here: it did not know on whose machine they are."""
        for source in sources:
            if source.state is not SourceState.READING or source.worker or not source.is_local:
                continue
            if Path(source.location).exists():
                self.catalogue.start_source(source.id, worker=self.worker, now=self.clock())
            else:
                _log.warning("%s is left to a worker on whose machine %s lies", source.name, source.location)

    def read(self, claimed: ClaimedSource, *, report: Report, cancelled: Callable[[], bool]) -> Turns:
        """Read a source to its end, or as far as it can be read now; SourceError if it can't be read any further.

        It is yielded after each batch, so that others can have their turn; the source stays open meanwhile. What is
        returned is whether it has been read to its end now.
        """
        claim, source = claimed.claim, claimed.source
        if source.state is SourceState.DONE:
            self.catalogue.finish([claim])
            return False
        try:
            yield from self._discover(source, claim, report, cancelled)
        except Awaited as awaited:
            self.catalogue.suspend(
                source, awaited.url, [claim], since=awaited.since, at_once=awaited.at_once, now=self.clock()
            )
            return False
        except SourceError as error:
            self._fail(source, error)
            self.catalogue.finish([claim])
            raise
        if cancelled():
            return False
        self.catalogue.change_source(source.id, SourceChange(state=SourceState.DONE))
        self.catalogue.note([], solved=[ProblemKey(Stage.SOURCES, source.name, SourceError.code)])
        self.catalogue.finish([claim])
        return True

    def _discover(self, source: Source, claim: Claim, report: Report, cancelled: Callable[[], bool]) -> Iterator[None]:
        with ExitStack() as stack:
            fetch = SourceFetch(
                source, self.catalogue, self.archive, self.clock, self.spool, self.settings.fetch.max_bytes
            )
            name, kind = self._kind_of(source, fetch)
            crawl = _Crawl(self, source, stack)
            batches = discover_safely(name, kind, source, fetch)
            report(source, source.share)
            renewed_at = self.clock()
            for share in take_in(
                source,
                batches,
                self.catalogue,
                clock=self.clock,
                cancelled=cancelled,
                unit=kind.unit,
                keep=crawl.keep,
                limit=self.settings.intake.max_entries,
            ):
                report(source, share)
                if (self.clock() - renewed_at).total_seconds() > LEASE_SECONDS / 3:
                    renewed_at = self.clock()
                    self.catalogue.renew_claims([claim], worker=self.worker, ttl=LEASE_SECONDS, now=renewed_at)
                yield

    def _kind_of(self, source: Source, fetch: SourceFetch) -> tuple[str, SourceKind]:
        """Return a source's kind with its name; what lies at a URL is looked at first."""
        name = source.kind
        if name == UNRECOGNISED:
            with fetch(source.location) as fetched:
                sample = sample_file(
                    fetched.path, name=source.name, media_type=fetched.media_type, is_local=source.is_local
                )
            recognised = recognise(sample, load_all("source"))
            name = recognised[0] if recognised is not None else PAGE
            self.catalogue.change_source(source.id, SourceChange(kind=name))
        try:
            kind: SourceKind = load("source", name)
        except SettingsError as error:
            raise SourceError(f"{source.name} can't be read: {error}") from error
        return name, kind

    def _fail(self, source: Source, error: RehiError) -> None:
        named = SourceError(str(error).replace(source.location, source.name))  # whoever reads the list needs no path
        problem = Problem.of(named, stage=Stage.SOURCES, subject=source.name, at=self.clock(), advice=ADVICE)
        self.catalogue.note([problem])
        self.catalogue.change_source(source.id, SourceChange(state=SourceState.FAILED))


@dataclass(slots=True)
class _Crawl:
    """What a source brings of a crawl made elsewhere, appended to files of its own, so that a harvest may go on beside it."""

    discovery: Discovery
    source: Source
    stack: ExitStack  # closes the archive when the source has been read, or its reading broke off
    _keeper: CaptureKeeper | None = field(default=None)

    def keep(self, captures: Sequence[CapturedVisit], now: datetime) -> tuple[Mapping[str, float], Sequence[Problem]]:
        """Keep and record a batch of captured visits."""
        discovery = self.discovery
        if self._keeper is None:
            self._keeper = self.stack.enter_context(_open_keeper(discovery, self.source))
        keeping = self._keeper.keep(captures, now=now)
        self._keeper.damaged.record(discovery.catalogue, worker=discovery.worker, now=now)
        if keeping.visited:
            discovery.catalogue.record(keeping.visited, [], rules=VISIT_RULES, worker=discovery.worker, now=now)
        return {name: float(n) for name, n in keeping.counts.items() if n}, keeping.problems


@contextmanager
def _open_keeper(discovery: Discovery, source: Source) -> Iterator[CaptureKeeper]:
    """Open the archive for crawls made elsewhere. What was kept before a kill is recorded first, and files are sealed at the end."""
    with discovery.importing() as archive:
        _recover(discovery, archive, source)
        in_place = load("source", source.kind or PAGE) is IN_PLACE
        yield CaptureKeeper(
            archive=archive,
            catalogue=discovery.catalogue,
            source=source,
            adopted=discovery.adopt(Path(source.location)) if in_place else "",
        )
        for name, size in archive.unsealed():
            archive.seal(name, size, spool=discovery.spool)


def _recover(discovery: Discovery, archive: Archive, source: Source) -> None:
    """Record what was kept before a kill; a torn end is set aside."""
    settings, catalogue, now = discovery.settings, discovery.catalogue, discovery.clock()
    judge = Judge(archive, catalogue, settings=settings, time_zone=zone_of(settings))
    ends = {file.name: file.known_end for file in catalogue.known_files()}
    visited = [replace(seen, next_at=None, source_id=source.id) for seen in judge.recover(ends, now=now)]
    if visited:
        catalogue.record(visited, [], rules=VISIT_RULES, worker=discovery.worker, now=now)

"""Work that waits in the outbox, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from rehi.model.document import Part, TableShape, Term
from rehi.model.entity import EntityKey, LinkedIdentity
from rehi.model.host import Probe
from rehi.model.problem import Problem, Stage
from rehi.model.version import Digest, RecordRef, Version
from rehi.model.visit import Robots

_READING = (Stage.EXTRACT, Stage.ENRICH)  # the rooms in which a reading is made


@dataclass(frozen=True, slots=True)
class Claim:
    """Work that a worker has taken from the outbox: all that waits there for one subject."""

    kind: str
    subject: int
    ids: tuple[int, ...]  # outbox rows that are done with it
    attempts: int = 0  # times that it was tried before


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """A version that is to be read."""

    claim: Claim
    resource_id: int
    source_id: int
    version_id: int
    url: str
    blob_id: int
    digest: Digest
    size: int
    media_type: str  # as declared
    body: RecordRef


@dataclass(frozen=True, slots=True)
class ReadingKey:
    """What makes two readings the same: the bytes, what is used of URL and declared type, and the recipe."""

    blob_id: int
    recipe: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFacts:
    """What the catalogue keeps of a reading; the text and the facets' values lie in the derived files."""

    media_type: str
    title: str
    language: str
    characters: int
    names: int = 0  # mentions in the text
    derived: RecordRef | None = None  # the ``metadata`` record with the facets; the ``conversion`` record precedes it
    id: int = 0  # of the reading; 0 before it has one


@dataclass(frozen=True, slots=True)
class ShownReading:
    """The reading that a document shows."""

    facts: ReadingFacts
    task: ReadTask  # by which it would be made again; its claim has no rows


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetBrief:
    """What the catalogue keeps of one facet's value."""

    name: str
    version: int
    data: bytes  # JSON, as the facet wrote it


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReading:
    """A reading that was just made."""

    key: ReadingKey
    facts: ReadingFacts
    parts: tuple[Part, ...] = ()
    tables: tuple[TableShape, ...] = ()
    identities: tuple[LinkedIdentity, ...] = ()
    briefs: tuple[FacetBrief, ...] = ()
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """What a read task came to: a reading or none, and what was the problem with it, if there was one."""

    task: ReadTask
    reading: NewReading | int | None = None  # the id of one that was made before from the same bytes
    retry: bool = False  # the task stays in the outbox
    problem: Problem | None = None  # to be noted; without one, what was noted before is struck out
    code: str = ""  # of the error, which is counted for the source
    seconds: tuple[tuple[str, float], ...] = ()

    @property
    def attempts(self) -> int:
        """How often it was tried now."""
        return self.task.claim.attempts + 1

    @property
    def solved(self) -> tuple[Stage, ...]:
        """The rooms whose problem with the resource, if there was one, holds no longer."""
        return tuple(stage for stage in _READING if self.problem is None or self.problem.stage is not stage)


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A version that a read task was about, and what came of it."""

    number: int
    taken_at: datetime
    result: ReadResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDescription:
    """All that the graph says of one resource."""

    resource_id: int
    url: str
    versions: tuple[Version, ...]
    document: ReadingFacts | None
    aliases: tuple[str, ...] = ()  # URLs that redirect here
    gone_at: datetime | None = None  # when it was found to be gone
    mentions: tuple[EntityKey, ...] = ()
    briefs: tuple[FacetBrief, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProfile:
    """What was learned of a host: its robots.txt, or what it answers for what it doesn't have."""

    host_id: int
    robots: Robots | None = None
    probe: Probe | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRelease:
    """A lease given back, with what was learned of the host."""

    host_id: int
    token: str
    ready_at: datetime  # not before, whatever is due
    delay: float
    failures: int = 0  # times in a row that the host itself failed, not one of its pages
    why: str = ""  # it must wait until then
    strain: float = 1.0
    address: str = ""  # empty if it was not met
    pace_group: str = ""  # hosts of one group are leased one at a time; empty for a host on its own
    history: bytes = b""  # of the changes of its pages

    def group_ready_at(self, now: datetime) -> datetime:
        """Return when other hosts of its group are ready: what failed waits for itself, and the others for the pause."""
        return min(self.ready_at, now + timedelta(seconds=self.delay)) if self.failures else self.ready_at

"""Work that waits in the outbox, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rehi.errors import Disposition, RehiError
from rehi.model.document import Document
from rehi.model.entity import Entity, EntityKey, Identity
from rehi.model.host import Probe
from rehi.model.version import Digest, RecordRef, Version
from rehi.model.visit import Robots


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """A new version that waits to be read."""

    id: int  # of the outbox row
    resource_id: int
    source_id: int
    version_id: int
    url: str
    digest: Digest
    size: int
    media_type: str  # as declared
    body: RecordRef
    attempts: int = 0  # times that a reader died under it


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """What a read task came to: a document's facts and identities, or an error."""

    task: ReadTask
    document: DocumentFacts | None = None
    identities: tuple[Identity, ...] = ()
    error: RehiError | None = None
    next_step: Disposition | None = None  # what the pipeline decided to do about the error
    seconds: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFacts:
    """What the catalogue keeps of a document; the text and the annotations lie in the derived files."""

    media_type: str
    title: str
    language: str
    characters: int
    derived: RecordRef | None  # the ``metadata`` record with the annotations; the ``conversion`` record precedes it

    @classmethod
    def of(cls, document: Document, *, language: str, derived: RecordRef | None) -> DocumentFacts:
        """The facts of a document that has been read."""
        return cls(
            media_type=document.media_type,
            title=document.title,
            language=language,
            characters=len(document.text),
            derived=derived,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDescription:
    """All that the graph says of one resource."""

    resource_id: int
    url: str
    versions: tuple[Version, ...]
    document: DocumentFacts | None
    aliases: tuple[str, ...] = ()  # URLs that redirect here
    gone_at: datetime | None = None  # when it was found to be gone
    mentions: tuple[EntityKey, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphWork:
    """Descriptions that have changed since the graph was last written."""

    ids: tuple[int, ...]  # outbox rows that are done once this is written
    resources: tuple[ResourceDescription, ...] = ()
    entities: tuple[Entity, ...] = ()  # those that are mentioned somewhere
    vanished: tuple[EntityKey, ...] = ()  # those that no document mentions any more

    def __bool__(self) -> bool:
        return bool(self.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLesson:
    """What was learned of a host's manners: its robots.txt, or what it answers for what it doesn't have."""

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
    failed: bool = False  # the host itself failed, not one of its pages
    why: str = ""  # it must wait until then
    strain: float = 1.0
    address: str = ""  # empty if it was not met
    pace_group: str = ""  # hosts of one group are leased one at a time; empty for a host on its own
    history: bytes = b""  # of the changes of its pages

"""The inventory: what the catalogue says that there must be in the archive's files."""

from __future__ import annotations

from dataclasses import dataclass, field

from rehi.model.retention import Pruning
from rehi.model.version import Digest, RecordRef


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of which the catalogue knows."""

    name: str
    known_end: int  # it must be at least so long
    owner: str  # the worker who wrote it


@dataclass(frozen=True, slots=True)
class KnownBody:
    """Bytes that must be there, or were until they were pruned."""

    digest: Digest
    size: int
    place: RecordRef
    pruned: Pruning | None = None
    id: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Replacement:
    """Bytes that can't be read any more where they lay, and were kept once more."""

    lay: RecordRef
    lies: RecordRef


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueFault:
    """Something in the catalogue's own file that is not as it was written."""

    table: str  # empty if it is the file as a whole, or can't be told
    why: str
    row: int | None = None
    index: str = ""  # the index that does not have what its table has
    unread: bool = False  # not a fault: the time was up before all was looked at

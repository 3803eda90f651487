"""The inventory: what the catalogue says that there must be in the archive's files."""

from __future__ import annotations

from dataclasses import dataclass

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

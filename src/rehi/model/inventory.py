"""The inventory: what the catalogue says that there must be in the archive's files."""

from __future__ import annotations

from dataclasses import dataclass

from rehi.model.version import Digest, RecordRef


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of which the catalogue knows."""

    name: str
    known_end: int  # it must be at least so long
    owner: str  # the worker who wrote it


@dataclass(frozen=True, slots=True)
class KnownBody:
    """Bytes that must be there."""

    digest: Digest
    size: int
    place: RecordRef

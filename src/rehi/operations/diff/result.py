"""The result of a comparison: two versions of a URL, and what is different between them, within limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from rehi.compare import Line, NamesDiff, TableDiff, TreeDiff
from rehi.operations.diff.blame import BlamedRow
from rehi.operations.diff.body import DiffKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSide:
    """One of the two versions."""

    number: int
    taken_at: datetime
    stamp: str  # 14 digits, as in its address
    size: int
    digest: str
    media_type: str  # as the server declared it
    true_type: str  # found by looking


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffCounts:
    """How much is different, in lines, rows or values."""

    unit: str
    added: int = 0
    removed: int = 0
    changed: int = 0
    same: int = 0

    @property
    def different(self) -> int:
        """The number of places that are not the same."""
        return self.added + self.removed + self.changed


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDiff:
    """Two versions of a URL; of ``lines``, ``table`` and ``tree`` there is the one that goes with the kind."""

    url: str
    kind: DiffKind
    old: DiffSide
    new: DiffSide
    identical: bool  # to the byte
    tally: DiffCounts | None = None  # None when bytes can't be counted in any such way
    lines: tuple[Line, ...] = ()
    table: TableDiff | None = None
    tree: TreeDiff | None = None
    complete: bool = True  # whether all that is different is here
    names: NamesDiff | None = None
    blame: tuple[BlamedRow, ...] | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Differences:
    """What differs between two bodies, while it is collected."""

    kind: DiffKind
    tally: DiffCounts | None = None
    lines: tuple[Line, ...] = ()
    table: TableDiff | None = None
    tree: TreeDiff | None = None
    complete: bool = True
    notes: list[str] = field(default_factory=list)

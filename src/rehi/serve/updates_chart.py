"""A chart of updates: a column for each, divided by the outcomes of its visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rehi.model.update import Update

PARTS = ("first", "changed", "unchanged", "redirect", "problems", "gone")  # from the bottom up
HEIGHT = 100.0
WIDTH = 12.0  # of a column, with the gap after it
_GAP = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPart:
    """A part of a column."""

    part: str
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the picture: one update."""

    update_id: int
    x: float
    width: float
    label: str
    blocks: tuple[ColumnPart, ...]


def draw_columns(updates: Sequence[Update]) -> list[Column]:
    """Return columns in the order of time, from updates the newest first; those without visits are left out."""
    shown = [row for row in reversed(updates) if _total(row)]
    tallest = max(map(_total, shown), default=1)
    return [
        Column(
            update_id=row.id,
            x=place * WIDTH,
            width=WIDTH - _GAP,
            label=_label(row),
            blocks=_blocks(row, HEIGHT / tallest),
        )
        for place, row in enumerate(shown)
    ]


def _total(row: Update) -> int:
    return sum(row.counts.get(part, 0) for part in PARTS)


def _blocks(row: Update, scale: float) -> tuple[ColumnPart, ...]:
    blocks, top = [], HEIGHT
    for part in PARTS:
        height = row.counts.get(part, 0) * scale
        if height:
            top -= height
            blocks.append(ColumnPart(part=part, y=round(top, 2), height=round(height, 2)))
    return tuple(blocks)


def _label(row: Update) -> str:
    numbers = ", ".join(f"{row.counts[part]:,} {part}" for part in PARTS if row.counts.get(part))
    return f"{row.kind}, {row.started_at:%Y-%m-%d %H:%M} UTC: {numbers}"

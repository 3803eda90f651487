"""A chart of holdings: what is kept of a type or a host, what was stored of it and what was saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rehi.model.holdings import Holding

PARTS = {  # from the left
    "stored": "stored",
    "packed": "saved by compression and deltas",
    "duplicate": "duplicates, not stored again",
}
WIDTH = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a bar."""

    part: str
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingBar:
    """A bar of the picture: one media type or one host."""

    row: Holding
    label: str
    segments: tuple[Segment, ...]


def draw_bars(rows: Sequence[Holding]) -> list[HoldingBar]:
    """Return a bar for each row, as long as its logical bytes."""
    longest = max((row.logical for row in rows), default=0) or 1
    return [HoldingBar(row=row, label=_label(row), segments=_segments(row, WIDTH / longest)) for row in rows]


def _parts(row: Holding) -> dict[str, int]:
    stored = min(row.stored, row.logical)
    duplicate = min(row.duplicate, row.logical - stored)
    return {"stored": stored, "packed": row.logical - stored - duplicate, "duplicate": duplicate}


def _segments(row: Holding, scale: float) -> tuple[Segment, ...]:
    segments, left = [], 0.0
    for part, size in _parts(row).items():
        width = size * scale
        if width > 0:
            segments.append(Segment(part=part, x=round(left, 2), width=round(width, 2)))
            left += width
    return tuple(segments)


def _label(row: Holding) -> str:
    return f"{row.name}: {row.logical:,} bytes in {row.versions:,} versions, {row.stored:,} stored"

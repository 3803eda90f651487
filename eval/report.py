"""The report of an evaluation: a table for people, and one last line for programs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

FLOORS = Path(__file__).with_name("floors.toml")


def floors(name: str) -> dict[str, dict[str, str | float]]:
    """The pinned floors of one evaluation, by set."""
    pinned: dict[str, dict[str, str | float]] = tomllib.loads(FLOORS.read_text(encoding="utf-8")).get(name, {})
    return pinned


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns that line up."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def _cell(value: object) -> str:
    return (
        f"{value:.4f}"
        if isinstance(value, float) and value <= 1
        else f"{value:,.0f}"
        if isinstance(value, float)
        else str(value)
    )


def result(
    name: str,
    *,
    target: str,
    settings: str,
    missed: Sequence[str],
    ours: Mapping[str, object],
    peers: Mapping[str, object],
    ratio: object,
) -> str:
    """Return the last line: what was compared and how it was set up, the figures, and each part of the target missed."""
    fields = {
        "ok": not missed, "target": target, "settings": settings, "missed": list(missed), "ours": ours, "peers": peers,
        "ratio": ratio,
    }  # fmt: skip
    return f"RESULT {name} {json.dumps(fields, ensure_ascii=False, sort_keys=True)}"

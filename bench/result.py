"""A result: what a benchmark measured of us and of others in the same run, and whether that is good enough."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

Measure = float | str | Mapping[str, float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much to measure."""

    quick: bool = False  # a tenth or less, to see that it works
    lines: int | None = None  # of a generated log, where a benchmark has one
    megabytes: float | None = None  # of generated histories, where a benchmark has them


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The numbers of one benchmark."""

    name: str
    target: str
    settings: str  # in a few words: what was compared, and how each side was set up
    missed: tuple[str, ...]  # each part of the target that was not reached, with its number
    ours: Mapping[str, Measure]
    peers: Mapping[str, Measure]
    ratio: float | Mapping[str, float]  # ours to the peers', above 1 where we are better

    @property
    def ok(self) -> bool:
        """Whether all that the target asks for was reached."""
        return not self.missed

    def line(self) -> str:
        """Return the last line that a benchmark prints, for programs."""
        numbers = {"ok": self.ok, **asdict(self)}
        del numbers["name"]
        return f"RESULT {self.name} {json.dumps(numbers, ensure_ascii=False)}"


def name_missed(parts: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the names of those parts of a target that do not hold."""
    return tuple(name for name, holds in parts.items() if not holds)

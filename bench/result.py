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
    ok: bool  # all that the target asks for was reached
    target: str
    ours: Mapping[str, Measure]
    peers: Mapping[str, Measure]
    ratio: float | Mapping[str, float]  # ours to the peers', above 1 where we are better

    def line(self) -> str:
        """The last line that a benchmark prints, for programs."""
        numbers = asdict(self)
        del numbers["name"]
        return f"RESULT {self.name} {json.dumps(numbers, ensure_ascii=False)}"

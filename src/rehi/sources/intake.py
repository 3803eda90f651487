"""The intake: a source's findings, batch by batch, into the catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from rehi.errors import Disposition
from rehi.model.problem import Problem, Stage
from rehi.model.source import Finding, Found, Malformed, Rejected, Source
from rehi.ports import Sources

BATCH = 20_000  # lines; larger ones were no faster and cost memory
MALFORMED_KEPT = 100  # lines of one source that are shown one by one; all are counted


@dataclass(slots=True)
class _Batch:
    urls: dict[str, None] = field(default_factory=dict)  # in order, without repeats
    counts: Counter[str] = field(default_factory=Counter)
    malformed: list[Malformed] = field(default_factory=list)


def take_in(
    source: Source, findings: Iterable[Finding], into: Sources, *, clock: Callable[[], datetime],
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[int]:
    """Store findings from where the source stands; yields the position after each stored batch."""
    position = source.position
    shown = int(source.counts.get("malformed", 0))
    stream = iter(findings)
    began = clock()
    while not cancelled() and (lines := list(islice(stream, BATCH))):
        batch = _sort(lines)
        position += len(lines)
        room = max(0, MALFORMED_KEPT - shown)
        shown += len(batch.malformed)
        now = clock()
        problems = [_problem(source, line, now) for line in batch.malformed[:room]]
        counts = {"lines": float(len(lines)), **batch.counts, "seconds:sources": (now - began).total_seconds()}
        began = now
        into.take_in(source, list(batch.urls), position=position, counts=counts, problems=problems, now=now)
        yield position


def _sort(lines: list[Finding]) -> _Batch:
    batch = _Batch()
    for finding in lines:
        if isinstance(finding, Found):
            batch.urls[finding.url] = None
            batch.counts["accepted"] += 1
        elif isinstance(finding, Rejected):
            batch.counts["rejected"] += 1
            batch.counts[f"rejected:{finding.reason}"] += 1
        else:
            batch.counts["malformed"] += 1
            batch.malformed.append(finding)
    return batch


def _problem(source: Source, line: Malformed, now: datetime) -> Problem:
    return Problem(
        stage=Stage.SOURCES,
        code="malformed-line",
        subject=f"{source.name}:{line.line}",
        message=f"{line.why}: {line.text}",
        next_step=Disposition.SKIP,
        advice="The line is not understood; the rest of the source was read.",
        first_at=now,
        last_at=now,
    )

"""The intake: a source's findings, batch by batch, into the catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from rehi.errors import Disposition, SourceError
from rehi.model.problem import Problem, Stage
from rehi.model.source import Finding, Found, Malformed, Rejected, Source
from rehi.ports import Sources

BATCH = 20_000  # lines; larger ones were no faster and cost memory
MALFORMED_KEPT = 100  # lines of one source that are shown one by one; all are counted


def take_in(
    source: Source,
    findings: Iterable[Finding],
    into: Sources,
    *,
    clock: Callable[[], datetime],
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[int]:
    """Store findings from where the source stands; yields the position after each stored batch.

    When the source breaks off, what came before is stored and the error is raised after that.
    """
    position, shown, began = source.position, int(source.counts.get("malformed", 0)), clock()
    for lines, broken in _batches(findings):
        malformed = [finding for finding in lines if type(finding) is Malformed]
        urls = dict.fromkeys(finding.url for finding in lines if type(finding) is Found)
        now = clock()
        position += len(lines)
        counts = {**_count(lines, malformed), "seconds:sources": (now - began).total_seconds()}
        problems = [_problem(source, line, now) for line in malformed[: max(0, MALFORMED_KEPT - shown)]]
        into.take_in(source, list(urls), position=position, counts=counts, problems=problems, now=now)
        began, shown = now, shown + len(malformed)
        yield position
        if broken is not None:
            raise broken
        if cancelled():
            return


def _batches(findings: Iterable[Finding]) -> Iterator[tuple[Sequence[Finding], SourceError | None]]:
    """Full batches, and the last one with the error that ended it."""
    batch: list[Finding] = []
    try:
        for finding in findings:
            batch.append(finding)
            if len(batch) == BATCH:
                yield batch, None
                batch = []
    except SourceError as error:
        yield batch, error
    else:
        if batch:
            yield batch, None


def _count(lines: Sequence[Finding], malformed: Sequence[Malformed]) -> dict[str, float]:
    reasons = Counter(finding.reason for finding in lines if type(finding) is Rejected)
    rejected = reasons.total()
    counts = {
        "lines": len(lines),
        "accepted": len(lines) - rejected - len(malformed),
        "rejected": rejected,
        "malformed": len(malformed),
        **{f"rejected:{reason}": n for reason, n in reasons.items()},
    }
    return {what: float(n) for what, n in counts.items() if n}


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

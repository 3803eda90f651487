"""The intake: a source's entries, batch by batch, into the catalogue. A kind that fails costs only its source."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from rehi.builtin import is_built_in, package_of
from rehi.errors import DiskFull, Disposition, EngineError, RecordDamaged, SourceError
from rehi.model.captured import CapturedVisit
from rehi.model.claims import Claims
from rehi.model.problem import Problem, Stage
from rehi.model.source import Entry, Finding, Malformed, Rejected, Source
from rehi.ports import Sources
from rehi.process import is_shortage
from rehi.sources.kind import Awaited, Discovered, Fetch, SourceKind
from rehi.sources.urls import normalise

_log = logging.getLogger(__name__)

_ENTRIES = (Finding, Rejected, Malformed)
PROBLEMS_SHOWN = 100  # entries of one source that are shown one by one; all are counted
LINE = "The rest of the source was read. If the line should be a URL, mend it and add the source again."
RECORD = "What the file holds besides was taken in. If you have another copy of the file, add that."

# Keeps what was captured, and returns what there is to count and to complain of.
Keep = Callable[[Sequence[CapturedVisit], datetime], tuple[Mapping[str, float], Sequence[Problem]]]


def take_in(
    source: Source,
    batches: Iterable[Discovered],
    into: Sources,
    *,
    clock: Callable[[], datetime],
    cancelled: Callable[[], bool] = lambda: False,
    unit: str = "lines",
    keep: Keep = lambda _captures, _now: ({}, ()),
    limit: int | None = None,
) -> Iterator[float]:
    """Store batches of entries, each with its cursor in one transaction; yields the share of the source that is done.

    What was captured is kept before that, so that after a kill in between it is only found to be on record. SourceError
    is raised when there are more than ``limit`` entries; the cursor stands before the batch that would be too much.
    """
    shown, began = int(source.counts.get("malformed", 0)), clock()
    done = int(source.counts.get(unit, 0)) if source.cursor else 0
    for batch in batches:
        done += len(batch.entries)
        if limit is not None and done > limit:
            raise SourceError(
                f"{source.name} has more than {limit:,} {unit}: {done - len(batch.entries):,} were taken in, and no more; "
                "raise intake.max_entries and start it again, and it goes on from there"
            )
        malformed = [entry for entry in batch.entries if type(entry) is Malformed]
        findings = [entry for entry in batch.entries if type(entry) is Finding]
        captures = [entry.capture for entry in findings if entry.capture is not None]
        now = clock()
        counts = _count(source, batch.entries, len(findings), len(malformed), unit)
        problems = [_problem(source, entry, now, unit) for entry in malformed]
        if captures:
            kept, more = keep(captures, now)
            counts |= {name: counts.get(name, 0.0) + n for name, n in kept.items()}
            problems += more
        counts["seconds:sources"] = (now - began).total_seconds()
        into.take_in(
            source,
            findings,
            cursor=batch.cursor,
            share=batch.share,
            counts=counts,
            problems=problems[: max(0, PROBLEMS_SHOWN - shown)],
            now=now,
        )
        began, shown = now, shown + len(problems)
        yield batch.share
        if cancelled():
            return


def discover_safely(name: str, kind: SourceKind, source: Source, fetch: Fetch) -> Iterator[Discovered]:
    """Yield the batches of a source; whatever its kind raises is a SourceError that names the kind and who brings it."""
    is_ours = is_built_in("source", name)
    try:
        for batch in kind.discover(source, source.cursor, fetch):
            if not isinstance(batch, Discovered) or not isinstance(batch.cursor, bytes):
                raise TypeError(f"it gave a {type(batch).__name__}, and not a Discovered with bytes as its cursor")
            float(batch.share)  # raises what is wrong with it
            if not is_ours:
                _check_findings(batch.entries)
            yield batch
    except (Awaited, SourceError, EngineError, DiskFull):
        raise
    except Exception as error:
        if is_shortage(error):
            raise
        _log.info("the kind of source %s failed", name, exc_info=True)  # the sentence is on the problems list
        brought = "" if is_ours else f" of {package_of('source', name)}"
        why = f"the kind {name}{brought} failed: {type(error).__name__}: {error}"
        raise SourceError(f"{source.name} can't be read further: {why}") from error


def _check_findings(entries: Sequence[Entry]) -> None:
    """Check what an outsider's kind names: nothing behind it expects a URL that is not in its normal form."""
    for entry in entries:
        if isinstance(entry, Finding) and (not isinstance(entry.claims, Claims) or normalise(entry.url) != entry.url):
            raise ValueError(f"{entry.url!r} is no URL in its normal form, or has no Claims")


def _count(source: Source, entries: Sequence[Entry], accepted: int, malformed: int, unit: str) -> dict[str, float]:
    reasons = Counter(entry.reason for entry in entries if type(entry) is Rejected)
    if accepted + malformed + reasons.total() < len(entries):
        other = next(entry for entry in entries if type(entry) not in _ENTRIES)
        raise SourceError(
            f"{source.name} can't be read further: its kind gave a {type(other).__name__} as an entry, "
            "and not a Finding, a Rejected or a Malformed"
        )
    counts = {
        unit: len(entries),
        "accepted": accepted,
        "rejected": reasons.total(),
        "malformed": malformed,
        **{f"rejected:{reason}": n for reason, n in reasons.items()},
    }
    return {name: float(n) for name, n in counts.items() if n}


def _problem(source: Source, entry: Malformed, now: datetime, unit: str) -> Problem:
    of_lines = unit == "lines"
    return Problem(
        stage=Stage.SOURCES,
        code="malformed-line" if of_lines else RecordDamaged.code,
        subject=f"{source.name}:{entry.where}",
        message=f"{entry.why}: {entry.text}" if entry.text else entry.why,
        next_step=Disposition.SKIP if of_lines else RecordDamaged.disposition,
        advice=LINE if of_lines else RECORD,
        first_at=now,
        last_at=now,
    )

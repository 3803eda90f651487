"""Traces: when real files changed. Also made-up ones, of kinds that real ones may lack."""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from eval.corpora import CorpusMissing, corpus_file

HOUR, DAY = 3_600.0, 86_400.0
FOLDER = "13-versions/traces"
_FEWEST = 3  # versions, below which there is no history to speak of


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One file's history: when each of its versions came, and when we stop looking."""

    host: str
    path: str
    times: tuple[float, ...]
    end: float

    @property
    def url(self) -> str:
        """A URL for it."""
        return f"https://{self.host}/{self.path}"


def trace_files() -> list[Path]:
    """The files of the corpus."""
    files = sorted(corpus_file(FOLDER).glob("*.changes.tsv.gz"))
    if not files:
        raise CorpusMissing(f"the corpora lack *.changes.tsv.gz in {FOLDER}")
    return files


def read_traces(files: list[Path]) -> list[Trace]:
    """Every file of every repository that had three versions or more, from its first to its last."""
    return [trace for file in files for trace in _read(file)]


def _read(file: Path) -> list[Trace]:
    changes: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                path, seconds, _, status = line.rstrip("\n").split("\t")
                changes[path].append((float(seconds), status != "D"))
    host = file.name.removesuffix(".changes.tsv.gz")
    traces = []
    for path, rows in changes.items():
        times = tuple(sorted({seconds for seconds, kept in rows if kept}))
        end = max(seconds for seconds, _ in rows)
        if len(times) >= _FEWEST and end > times[0]:
            traces.append(Trace(host=host, path=path, times=times, end=end))
    return traces


def split(traces: Sequence[Trace]) -> tuple[list[Trace], list[Trace]]:
    """Return the histories that constants may be chosen by, and those that are held out; by a hash of the file's name."""
    halves: tuple[list[Trace], list[Trace]] = ([], [])
    for trace in traces:
        halves[crc32(trace.url.encode()) & 1].append(trace)
    return halves


def hasten(traces: Sequence[Trace], times: float) -> list[Trace]:
    """Return the same histories, so many times as fast: a world in which pages change more often. Hours are lost."""
    return [
        Trace(
            host=trace.host,
            path=trace.path,
            times=tuple(trace.times[0] + (at - trace.times[0]) / times for at in trace.times),
            end=trace.times[0] + (trace.end - trace.times[0]) / times,
        )
        for trace in traces
    ]


def made_up(kind: str, *, pages: int = 8, days: int = 360, seed: int = 5) -> list[Trace]:
    """Histories of one kind, the same for the same seed."""
    chance = random.Random(f"{kind} {seed}")  # noqa: S311 - not for secrets: the same histories each time
    start = 1_700_000_000.0 // DAY * DAY
    traces = []
    for number in range(pages):
        times = [start, *(start + moment for moment in _KINDS[kind](chance, days * DAY))]
        kept = tuple(sorted({moment for moment in times if moment < start + days * DAY}))
        traces.append(Trace(host=kind, path=f"{number}.csv", times=kept, end=start + days * DAY))
    return traces


def _poisson(chance: random.Random, span: float) -> list[float]:
    rate, at, times = 1 / chance.choice((1, 3, 10, 30)) / DAY, 0.0, []
    while at < span:
        at += chance.expovariate(rate)
        times.append(at)
    return times


def _office(chance: random.Random, span: float) -> list[float]:
    times = []
    for day in range(int(span // DAY)):
        if day % 7 < 5 and chance.random() < 0.3:
            first = day * DAY + chance.uniform(8, 15) * HOUR
            times += [first + chance.expovariate(1 / HOUR) * n for n in range(chance.randint(1, 5))]
    return times


def _weekly(chance: random.Random, span: float) -> list[float]:
    day, hour = chance.randrange(7), chance.randrange(24)
    return [n * 7 * DAY + day * DAY + (hour + chance.random() / 4) * HOUR for n in range(int(span // (7 * DAY)))]


def _nightly(chance: random.Random, span: float) -> list[float]:
    hour = chance.randrange(24)
    return [n * DAY + (hour + chance.random() / 2) * HOUR for n in range(int(span // DAY))]


def _sleeper(chance: random.Random, span: float) -> list[float]:
    times: list[float] = []
    for _ in range(4):
        at = chance.uniform(0, span)
        for _ in range(15):
            at += chance.expovariate(1 / (8 * HOUR))
            times.append(at)
    return times


def _still(chance: random.Random, span: float) -> list[float]:
    return []


def _restless(chance: random.Random, span: float) -> list[float]:
    return [n * 600.0 for n in range(int(span // 600))]


_KINDS = {
    "poisson": _poisson, "office": _office, "weekly": _weekly, "nightly": _nightly, "sleeper": _sleeper,
    "still": _still, "restless": _restless,
}  # fmt: skip
KINDS = tuple(_KINDS)

"""Revisits on the half of the histories with which constants are chosen; the other half is not looked at.

A case or two say little, since a few busy files decide them. So each trial is run with the whole half and with samples of it:
without one of its two busiest hosts, and without its three busiest files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from eval.revisit import TRIALS, race, report
from eval.revisit_traces import Trace, read_traces, split, trace_files

_HOSTS, _FILES = 2, 3  # the busiest, which are left out


def evaluate() -> bool:
    """Print the tables of every sample; whether the target would be met with all of them."""
    tuning, _ = split(read_traces(trace_files()))
    missed = []
    for name, traces in samples(tuning).items():
        print(f"{name}: {len(traces)} files", end="\n\n")
        missed += [f"{name}: {part}" for part in report(race(traces, TRIALS), traces)]
    print(*(f"missed: {part}" for part in missed), sep="\n")
    return not missed


def samples(traces: Sequence[Trace]) -> dict[str, list[Trace]]:
    """Return all histories, and what is left of them without the busiest hosts and files."""
    versions: Counter[str] = Counter()
    for trace in traces:
        versions[trace.host] += len(trace.times)
    made = {"all": list(traces)}
    for host, _ in versions.most_common(_HOSTS):
        made[f"without {host}"] = [trace for trace in traces if trace.host != host]
    made["without the busiest files"] = sorted(traces, key=lambda trace: len(trace.times))[:-_FILES]
    return made


__all__ = ["evaluate", "samples"]

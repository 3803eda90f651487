"""Revisits: freshness and versions caught on real histories that were held out, at equal visits, by policy.

The constants of ``adaptive`` were chosen with one half of the files, split by a hash of their names, and are judged with the
other. Three trials: bounds that suit odarchive best (waits of up to three mean intervals); the bounds as they ship, 15 minutes
to 30 days, with budgets that these allow; and the shipped bounds on the same histories twenty times as fast, where pages change
daily and the upper bound is far away.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from eval.corpora import digest
from eval.report import floors, result, table
from eval.revisit_replay import Entrant, ReplayScore, TraceTally, calibrate, clairvoyant, sum_up
from eval.revisit_traces import DAY, Trace, hasten, read_traces, split, trace_files
from rehi.settings import RevisitSettings

GAIN = 0.03
FASTER = 20.0
TARGET = (
    "on held-out histories at equal visits: with odarchive's bounds and .2, .5 and 1 visits a version freshness .03 above "
    "odarchive's and no fewer versions; with the shipped bounds at least as fresh as odarchive and uniform visits; "
    "taste 1 catches at least as many versions as any other"
)
SHIPPED = RevisitSettings()
UNIFORM, ODARCHIVE = Entrant(name="uniform", policy="uniform"), Entrant(name="odarchive", policy="odarchive")
TASTES = {taste: f"adaptive {taste:g}" for taste in (0.0, 0.25, 0.5, 0.75, 1.0)}
OURS, CATCHING = TASTES[SHIPPED.taste], TASTES[1.0]
ADAPTIVE = tuple(Entrant(name=name, policy="adaptive", taste=taste) for taste, name in TASTES.items())
LAST_MODIFIED = Entrant(name=f"{OURS}, Last-Modified", policy="adaptive", taste=SHIPPED.taste, dated=True)
ENTRANTS = (UNIFORM, ODARCHIVE, *ADAPTIVE, LAST_MODIFIED)
SETTINGS = (
    "visits equal within .5 %, for each policy by its price; shortest wait 15 minutes for all; files split by the crc32 of "
    "their URL, the odd half judged; freshness weighted by time"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Histories with bounds and budgets: visits for each version that there was, over all files together."""

    name: str
    faster: float = 1.0
    shipped: bool = True  # the bounds as they ship; else those that suit odarchive
    budgets: tuple[float, ...]


TRIALS = (
    Trial(name="odarchive's bounds", shipped=False, budgets=(0.2, 0.5, 1.0)),
    Trial(name="shipped bounds", budgets=(1.0, 3.0)),
    Trial(name="shipped bounds, 20 times as fast", faster=FASTER, budgets=(0.2, 0.5, 1.0)),
)

Runs = dict[str, ReplayScore]  # by entrant


def _race(job: tuple[Sequence[Trace], Entrant, int, float | None]) -> list[TraceTally]:
    traces, entrant, visits, longest = job
    return calibrate(traces, entrant, visits=visits, longest=longest)


def race(traces: Sequence[Trace], trials: Sequence[Trial] = TRIALS) -> dict[tuple[Trial, float], Runs]:
    """Return how every entrant fares in every trial at every budget."""
    versions = sum(len(trace.times) for trace in traces)
    keys = [(trial, budget, entrant) for trial in trials for budget in trial.budgets for entrant in ENTRANTS]
    keys.sort(key=lambda key: -key[1])  # the longest first
    jobs = [
        (hasten(traces, trial.faster), entrant, round(versions * budget), SHIPPED.longest if trial.shipped else None)
        for trial, budget, entrant in keys
    ]
    with ProcessPoolExecutor(min(len(jobs), os.cpu_count() or 1), mp_context=get_context("spawn")) as processes:
        tallies = list(processes.map(_race, jobs))
    runs: dict[tuple[Trial, float], Runs] = {}
    for (trial, budget, entrant), tally in zip(keys, tallies, strict=True):
        runs.setdefault((trial, budget), {})[entrant.name] = sum_up(tally)
    return {(trial, budget): runs[trial, budget] for trial in trials for budget in trial.budgets}


def evaluate() -> bool:
    """Print the tables and the result; whether all is as good as it should be."""
    files = trace_files()
    tuned, held_out = split(read_traces(files))
    print(f"{len(tuned)} files were tuned with, {len(held_out)} are judged", end="\n\n")
    runs = race(held_out)
    missed = report(runs, held_out)
    missed += _below_floors(runs[TRIALS[0], 1.0][OURS], same=digest(files))
    print(*(f"missed: {part}" for part in missed), sep="\n", end="\n" if missed else "")
    ours, peers = (
        {f"{trial.name}, {budget:g}": {name: _figures(by_name[name]) for name in names}
         for (trial, budget), by_name in runs.items()}
        for names in ((OURS, CATCHING), (UNIFORM.name, ODARCHIVE.name))
    )  # fmt: skip
    ratio = {
        f"{trial.name}, {budget:g}": round(by_name[OURS].caught / by_name[ODARCHIVE.name].caught, 3)
        for (trial, budget), by_name in runs.items()
    }
    print(result("revisit", target=TARGET, settings=SETTINGS, missed=missed, ours=ours, peers=peers, ratio=ratio))
    return not missed


def report(runs: Mapping[tuple[Trial, float], Runs], traces: Sequence[Trace]) -> list[str]:
    """Print a table for each trial and budget; return where the target is missed."""
    for (trial, budget), by_name in runs.items():
        _print_table(trial, budget, by_name, hasten(traces, trial.faster))
    return [part for (trial, budget), by_name in runs.items() for part in judge(trial, budget, by_name)]


def judge(trial: Trial, budget: float, runs: Mapping[str, ReplayScore]) -> list[str]:
    """Return where the target is missed at one budget of a trial."""
    mine, thesis, even = runs[OURS], runs[ODARCHIVE.name], runs[UNIFORM.name]
    where = f"{trial.name}, {budget:g} visits a version"
    missed = []
    if trial.shipped:
        for name, peer in ((ODARCHIVE.name, thesis), (UNIFORM.name, even)):
            if mine.freshness < peer.freshness:
                missed.append(f"{where}: freshness {mine.freshness:.4f}, {name} has {peer.freshness:.4f}")
    else:
        if mine.freshness < thesis.freshness + GAIN:
            missed.append(f"{where}: freshness {mine.freshness:.4f}, odarchive has {thesis.freshness:.4f}")
        if mine.caught < thesis.caught:
            missed.append(f"{where}: {mine.caught:.4f} of versions, odarchive has {thesis.caught:.4f}")
    best = max((name for name in TASTES.values()), key=lambda name: runs[name].caught)
    if runs[best].caught > runs[CATCHING].caught:
        missed.append(f"{where}: taste 1 catches {runs[CATCHING].caught:.4f}, {best} {runs[best].caught:.4f}")
    return missed


def _below_floors(outcome: ReplayScore, *, same: str) -> list[str]:
    pinned = floors("revisit").get("traces", {})
    if same != pinned.get("sha256"):
        print("these are not the histories that the floor was pinned with: only the target is judged")
        return []
    return [
        f"{name} {value:.4f} is below its floor {pinned[name]}"
        for name, value in _figures(outcome).items()
        if value < float(pinned.get(name, 0))
    ]


def _figures(outcome: ReplayScore) -> dict[str, float]:
    return {
        "freshness": round(outcome.freshness, 4), "mean_of_files": round(outcome.mean_freshness, 4),
        "caught": round(outcome.caught, 4), "visits": outcome.visits,
    }  # fmt: skip


def _print_table(trial: Trial, budget: float, runs: Mapping[str, ReplayScore], traces: Sequence[Trace]) -> None:
    versions, span = sum(len(trace.times) for trace in traces), sum(trace.end - trace.times[0] for trace in traces)
    visits = round(versions * budget)
    best = clairvoyant(traces, visits=visits)
    print(f"{trial.name}: {visits:,} visits for {versions:,} versions, each file every {span / visits / DAY:.1f} days")
    rows: list[list[object]] = [
        [name, got.visits, got.freshness, got.mean_freshness, got.caught, best.freshness - got.freshness]
        for name, got in (*runs.items(), ("clairvoyant", best))
    ]
    print(table(("policy", "visits", "freshness", "mean of files", "caught", "to the best"), rows), end="\n\n")


__all__ = ["TRIALS", "evaluate", "judge", "race", "report"]

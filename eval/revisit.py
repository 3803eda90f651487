"""Revisits: freshness and versions caught on real histories, at equal visits, by policy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from eval.corpora import digest
from eval.report import floors, result, table
from eval.revisit_replay import Entrant, Outcome, Tally, calibrate, clairvoyant, sum_up
from eval.revisit_traces import DAY, Trace, read_traces, trace_files

BUDGETS = (0.2, 1.0, 3.0)  # visits for each version that there was, over all files together
JUDGED = (0.2, 1.0)  # at 3 every policy is fresh for nearly 95 % of the time: .03 is most of what is left
GAIN = 0.03
TARGET = "at equal visits, freshness at least .03 above odarchive's and no fewer versions; never below it"
OURS = "adaptive .5"
ENTRANTS = (
    Entrant(name="uniform", policy="uniform"),
    Entrant(name="odarchive", policy="odarchive"),
    Entrant(name="adaptive 0", policy="adaptive", taste=0.0),
    Entrant(name=OURS, policy="adaptive", taste=0.5),
    Entrant(name="adaptive 1", policy="adaptive", taste=1.0),
    Entrant(name="adaptive .5, Last-Modified", policy="adaptive", taste=0.5, told=True),
)


def _race(job: tuple[Sequence[Trace], Entrant, int]) -> list[Tally]:
    traces, entrant, visits = job
    return calibrate(traces, entrant, visits=visits)


def race(traces: Sequence[Trace], budgets: Sequence[float]) -> dict[tuple[float, str], list[Tally]]:
    """Every entrant at every budget."""
    versions = sum(len(trace.times) for trace in traces)
    keys = [(budget, entrant) for budget in sorted(budgets, reverse=True) for entrant in ENTRANTS]
    jobs = [(traces, entrant, round(versions * budget)) for budget, entrant in keys]
    with ProcessPoolExecutor(min(len(jobs), os.cpu_count() or 1), mp_context=get_context("spawn")) as processes:
        tallies = list(processes.map(_race, jobs))
    return {(budget, entrant.name): tally for (budget, entrant), tally in zip(keys, tallies, strict=True)}


def evaluate() -> bool:
    """Print the tables and the result; whether all is as good as it should be."""
    files = trace_files()
    traces = read_traces(files)
    versions = sum(len(trace.times) for trace in traces)
    span = sum(trace.end - trace.times[0] for trace in traces)
    runs = race(traces, BUDGETS)
    pinned = floors("revisit").get("traces", {})
    faults: list[str] = []
    ours: dict[str, object] = {}
    peers: dict[str, object] = {}
    for budget in BUDGETS:
        visits = round(versions * budget)
        print(
            f"{visits:,} visits to {len(traces)} files with {versions:,} versions: each every {span / visits / DAY:.1f} days"
        )
        print(_budget_table(runs, budget, clairvoyant(traces, visits=visits)), end="\n\n")
        mine, theirs = sum_up(runs[budget, OURS]), sum_up(runs[budget, "odarchive"])
        ours[str(budget)], peers[str(budget)] = _figures(mine), _figures(theirs)
        faults += _faults(budget, mine, theirs)
    if digest(files) == pinned.get("sha256"):
        got = sum_up(runs[1.0, OURS])
        faults += [
            f"{name} {value:.4f} is below its floor {pinned[name]}"
            for name, value in (("freshness", got.freshness), ("caught", got.caught))
            if value < float(pinned[name])
        ]
    else:
        print("these are not the histories that the floor was pinned with: only the target is judged")
    print(_host_table(traces), end="\n\n")
    ratio = sum_up(runs[1.0, OURS]).caught / sum_up(runs[1.0, "odarchive"]).caught
    print(*faults, sep="\n", end="\n" if faults else "")
    print(result("revisit", ok=not faults, target=TARGET, ours=ours, peers={"odarchive": peers}, ratio=round(ratio, 3)))
    return not faults


def _figures(outcome: Outcome) -> dict[str, float]:
    return {"freshness": round(outcome.freshness, 4), "caught": round(outcome.caught, 4), "visits": outcome.visits}


def _faults(budget: float, mine: Outcome, theirs: Outcome) -> list[str]:
    wanted = GAIN if budget in JUDGED else 0.0
    faults = []
    if mine.freshness < theirs.freshness + wanted:
        faults.append(f"{budget} visits a version: freshness {mine.freshness:.4f}, odarchive {theirs.freshness:.4f}")
    if mine.caught < theirs.caught:
        faults.append(f"{budget} visits a version: caught {mine.caught:.4f}, odarchive {theirs.caught:.4f}")
    return faults


def _budget_table(runs: dict[tuple[float, str], list[Tally]], budget: float, best: Outcome) -> str:
    rows: list[list[object]] = []
    for entrant in ENTRANTS:
        got = sum_up(runs[budget, entrant.name])
        rows.append(
            [entrant.name, got.visits, got.freshness, got.caught, best.freshness - got.freshness, got.mean_freshness]
        )
    rows.append(["clairvoyant", best.visits, best.freshness, best.caught, 0.0, "-"])
    return table(("policy", "visits", "freshness", "caught", "to the best", "mean of files"), rows)


def _host_table(traces: Sequence[Trace]) -> str:
    """Each repository by itself, with a budget of its own: one visit for each version."""
    rows: list[list[object]] = []
    for host in sorted({trace.host for trace in traces}):
        files = [trace for trace in traces if trace.host == host]
        visits = sum(len(trace.times) for trace in files)
        by_name = {entrant.name: entrant for entrant in ENTRANTS}
        theirs, mine = (sum_up(calibrate(files, by_name[name], visits=visits)) for name in ("odarchive", OURS))
        rows.append([host, visits, theirs.freshness, mine.freshness, theirs.caught, mine.caught])
    return table(("repository", "visits", "freshness: odarchive", OURS, "caught: odarchive", OURS), rows)


__all__ = ["BUDGETS", "ENTRANTS", "evaluate", "race"]

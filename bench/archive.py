"""The archive benchmark: histories of files kept our way and in four other ways, what they take and what they cost.

Real histories (all versions of five published files) and generated ones, of 0.2 to 5 MB with the edits that such files
get; each group is judged by itself. Counted of ours is all that lies in its folder: records with their headers, requests,
what stands beside them. Of the others nothing is counted that is only for finding things again (see archive_ways.py). All
but git bring a batch of versions to disk for good at the same places; git is spared that, comes in by fast-import, its
quickest way, and is charged for its processes alone: the import and gc --aggressive, which is shown by itself too. CPU is
what processes used, never the clock; a version that is read back is compared with what was written, each of them, and
"deepest" is the one that took longest. A file of 100 MB and a second version of it are kept and read back in processes of
their own, whose memory is measured.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.archive_histories import MEGABYTES, History, corpora_folder, generated_histories, real_histories
from bench.archive_ways import ContentChunks, FixedChunks, Git, Ours, PageVersion, Way, ZstdPerVersion
from bench.result import Measure, Options, Result, name_missed
from rehi.process import hold_memory

OURS, ZSTD, FIXED, CONTENT, GIT = (
    "ours",
    "zstd per version",
    "255 KB chunks",
    "content-defined chunks",
    "git aggressive",
)
WAYS: Mapping[str, Callable[[Path], Way]] = {
    OURS: Ours,
    ZSTD: ZstdPerVersion,
    FIXED: FixedChunks,
    CONTENT: ContentChunks,
    GIT: Git,
}
TARGET = (
    "at most 1/5 of zstd per version and 2 times aggressive git on disk, 10 times as cheap to write as git, "
    "the deepest version of a file under 1 MB in 10 ms of CPU, on real and on generated histories each; "
    "a file of 100 MB in 600 MB of memory"
)
SETTINGS = (
    "zstd level 3; chunks of 255 KB and by FastCDC of 16 KB, zstd 3; git fast-import and gc --aggressive, spared of syncs; "
    "all but git synced every 16 versions; ours with all headers and requests"
)
GROUPS = ("real", "generated")
BATCH = 16  # versions that are brought to disk together
SLOWEST = 8  # versions that are read again, to find the one that takes longest
ASKED = 5  # times each; the median counts
SMALL = 1_000_000
LARGE_MB, QUICK_LARGE_MB = 100, 10
QUICK_MB, QUICK_VERSIONS = 40, 30
DEEPEST_MS, MEMORY_MB = 10.0, 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one way took for one history, or for several together."""

    size: int
    stored: int
    write_cpu: float  # seconds
    packing_cpu: float = 0.0  # of them at the end, by git's gc
    newest_ms: float = 0.0
    deepest_ms: float = 0.0

    @property
    def speed(self) -> float:
        """MB written per second of CPU."""
        return self.size / 1e6 / max(self.write_cpu, 1e-9)


Costs = dict[str, dict[str, Cost]]  # by history and way


def run(options: Options) -> Result:
    """Keep every history in every way, then the large file."""
    hold_memory()  # as the harvest does; all ways but git are in this process, and have it too
    with tempfile.TemporaryDirectory(prefix="rehi-bench-") as name:
        folder = Path(name)
        histories = _histories(folder, options)
        costs: Costs = {}
        for history in histories:
            costs[history.name] = {way: measure(make, history, folder / "store") for way, make in WAYS.items()}
            print(f"{history.name}: done", file=sys.stderr, flush=True)
        large = measure_large(folder / "large", QUICK_LARGE_MB if options.quick else LARGE_MB)
    print_tables(histories, costs)
    print(
        f"\na file of {large['megabytes']:.0f} MB and a second version: {large['keep_mb']:.0f} MB of memory to keep both, "
        f"{large['read_mb']:.0f} MB to read both back; {large['stored_mb']:.1f} MB on disk, "
        f"{large['keep_cpu']:.2f} s of CPU to keep and {large['read_cpu']:.2f} s to read"
    )
    return judge(histories, costs, large)


def _histories(folder: Path, options: Options) -> list[History]:
    megabytes = options.megabytes or (QUICK_MB if options.quick else MEGABYTES)
    corpora = corpora_folder()
    real = real_histories(folder / "real", corpora, most=QUICK_VERSIONS if options.quick else None)
    if not real:
        print(
            f"there are no real histories in {corpora}, only generated ones are measured; REHI_CORPORA names another place"
        )
    return [*real, *generated_histories(folder / "generated", megabytes)]


def measure(make: Callable[[Path], Way], history: History, folder: Path) -> Cost:
    """Keep a history in one way, and read all of it back."""
    try:
        way = make(folder)
        write_cpu = _write(way, history)
        cpu = [_read(way, history, number, checked=True) for number in range(len(history.versions))]
        slowest = sorted(range(len(cpu)), key=lambda number: cpu[number])[-SLOWEST:]
        return Cost(
            size=history.size,
            stored=way.stored(),
            write_cpu=write_cpu,
            packing_cpu=way.packing_cpu,
            newest_ms=_median_ms(way, history, len(cpu) - 1),
            deepest_ms=max(_median_ms(way, history, number) for number in slowest),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(way: Way, history: History) -> float:
    cpu, url = 0.0, f"https://avaandmed.example.ee/files/{history.name}"
    for number, (path, at) in enumerate(zip(history.versions, history.times, strict=True), 1):
        version = PageVersion(url=url, at=at, media_type=history.media_type, body=path.read_bytes())
        began = way.cpu()
        way.write(version)
        if number % BATCH == 0:
            way.sync()
        cpu += way.cpu() - began
    began = way.cpu()
    way.sync()
    way.finish()
    return cpu + way.cpu() - began


def _read(way: Way, history: History, number: int, *, checked: bool = False) -> float:
    """Seconds of CPU that it takes to have a version back."""
    began = way.cpu()
    body = way.read(number)
    cpu = way.cpu() - began
    if checked and body != history.versions[number].read_bytes():
        raise RuntimeError(f"{type(way).__name__} does not give version {number} of {history.name} back as it was")
    return cpu


def _median_ms(way: Way, history: History, number: int) -> float:
    return statistics.median(_read(way, history, number) for _ in range(ASKED)) * 1000


def measure_large(folder: Path, megabytes: int) -> dict[str, float]:
    """A large file and a second version, kept by one process and read back by another."""
    numbers: dict[str, float] = {"megabytes": megabytes}
    try:
        for step in ("make", "keep", "read"):
            command = [sys.executable, "-m", "bench.archive_large", step, str(folder), str(megabytes)]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[1])
            numbers |= json.loads(done.stdout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return numbers


def total(costs: Costs, way: str, names: Sequence[str]) -> Cost:
    """The cost of several histories: sums, and of the times to read the longest."""
    all_of = [costs[name][way] for name in names]
    return Cost(
        size=sum(cost.size for cost in all_of),
        stored=sum(cost.stored for cost in all_of),
        write_cpu=sum(cost.write_cpu for cost in all_of),
        packing_cpu=sum(cost.packing_cpu for cost in all_of),
        newest_ms=max(cost.newest_ms for cost in all_of),
        deepest_ms=max(cost.deepest_ms for cost in all_of),
    )


def print_tables(histories: Sequence[History], costs: Costs) -> None:
    """What each way takes and costs, by history and together."""
    groups = [(group, [h.name for h in histories if h.group == group]) for group in GROUPS]
    totals = [(f"all {group}", names) for group, names in groups if names]
    rows = [(h.name, len(h.versions), h.size, [h.name]) for h in histories]
    for name, names in [*totals, ("all", [h.name for h in histories])]:
        chosen = [h for h in histories if h.name in names]
        rows.append((name, sum(len(h.versions) for h in chosen), sum(h.size for h in chosen), names))
    tables: tuple[tuple[str, Callable[[Cost], str]], ...] = (
        ("KB on disk", lambda cost: f"{cost.stored / 1000:,.0f}"),
        ("MB written per second of CPU", lambda cost: f"{cost.speed:,.0f}"),
        ("ms of CPU to read the newest version", lambda cost: f"{cost.newest_ms:.1f}"),
        ("ms of CPU to read the deepest version", lambda cost: f"{cost.deepest_ms:.1f}"),
    )
    for title, shown in tables:
        print(f"\n{title}\n{'':28} {'versions':>8} {'MB':>7} " + " ".join(f"{way:>{_width(way)}}" for way in WAYS))
        for name, count, size, names in rows:
            cells = (f"{shown(total(costs, way, names)):>{_width(way)}}" for way in WAYS)
            print(f"{name[:28]:28} {count:8,} {size / 1e6:7,.1f} " + " ".join(cells))


def _width(way: str) -> int:
    return max(10, len(way))


def judge(histories: Sequence[History], costs: Costs, large: Mapping[str, float]) -> Result:
    """Hold each group's sums against the target."""
    ratio: dict[str, float] = {}
    parts: dict[str, bool] = {}
    ours: dict[str, Measure] = {"large_file": {name: round(value, 2) for name, value in large.items()}}
    peers: dict[str, Measure] = {}
    for group in GROUPS:
        chosen = [history for history in histories if history.group == group]
        if chosen:
            parts |= _judge_group(group, chosen, costs, ratio, ours, peers)
    memory = max(large["keep_mb"], large["read_mb"])
    parts[f"{memory:.0f} MB of memory for a large file, in place of {MEMORY_MB:.0f}"] = memory < MEMORY_MB
    missing = "" if any(history.group == "real" for history in histories) else "; there were no real histories"
    return Result(
        name="archive",
        target=TARGET,
        settings=SETTINGS + missing,
        missed=name_missed(parts),
        ours=ours,
        peers=peers,
        ratio={name: round(value, 2) for name, value in ratio.items()},
    )


def _judge_group(
    group: str,
    histories: Sequence[History],
    costs: Costs,
    ratio: dict[str, float],
    ours: dict[str, Measure],
    peers: dict[str, Measure],
) -> dict[str, bool]:
    """Enter a group's numbers, and return the parts of the target with whether each holds."""
    sums = {way: total(costs, way, [history.name for history in histories]) for way in WAYS}
    mine, git = sums[OURS], sums[GIT]
    small = [history.name for history in histories if history.largest < SMALL]
    deepest = total(costs, OURS, small).deepest_ms if small else 0.0
    ours[group] = {**_numbers(mine), "deepest_under_1_mb_ms": round(deepest, 2)}
    for way in WAYS:
        if way != OURS:
            peers[f"{group}, {way}"] = _numbers(sums[way])
            ratio[f"{group}, stored, {way}"] = sums[way].stored / mine.stored
            ratio[f"{group}, write CPU, {way}"] = sums[way].write_cpu / mine.write_cpu
    ratio[f"{group}, write CPU, git gc alone"] = git.packing_cpu / mine.write_cpu
    zstd, packed, cpu = ratio[f"{group}, stored, {ZSTD}"], mine.stored / git.stored, git.write_cpu / mine.write_cpu
    return {
        f"{group}: 1/{zstd:.2f} of zstd per version on disk, in place of 1/5": zstd >= 5,
        f"{group}: {packed:.2f} times git on disk, in place of 2": packed <= 2,
        f"{group}: {cpu:.2f} times as cheap to write as git, in place of 10": cpu >= 10,
        f"{group}: deepest version under 1 MB in {deepest:.1f} ms, in place of {DEEPEST_MS:.0f}": deepest <= DEEPEST_MS,
    }


def _numbers(cost: Cost) -> dict[str, float | str]:
    return {
        "mb": round(cost.size / 1e6, 1),
        "stored_mb": round(cost.stored / 1e6, 3),
        "write_mb_per_cpu_s": round(cost.speed, 1),
        "newest_ms": round(cost.newest_ms, 2),
        "deepest_ms": round(cost.deepest_ms, 2),
    }

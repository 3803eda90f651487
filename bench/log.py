"""The log benchmark: 3.1 million lines of a crawl log into the catalogue, beside the plain way of doing it.

A log in the manner of Heritrix is generated, the same each time (``log_lines.py``). Each way takes it in as a process of its
own, so that its peak of memory is that of the work alone. The peer has our durability on both engines (``log_plain.py``).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time

from bench.log_lines import write_log
from bench.log_plain import take_in_plainly
from bench.result import Measure, Options, Result, name_missed

LINES = 3_100_000
QUICK_LINES = 100_000
PEAK_MB = 500
PLAIN_SQLITE, PLAIN_POSTGRES = "plain sqlite", "plain postgresql"
PEERS = {"sqlite": PLAIN_SQLITE, "postgresql": PLAIN_POSTGRES}
TARGET = "3.1 M lines in one go, peak under 500 MB, faster than the plain way"
SETTINGS = (
    "SQLite with a log, synchronous=NORMAL and one fdatasync of it per batch of 40,000 lines for both; PostgreSQL with fsync "
    "and synchronous_commit for both, the peer by COPY and INSERT ON CONFLICT; the peer stores URL and host only"
)


def run(options: Options) -> Result:
    """Generate a log, take it in both ways, and compare."""
    lines = options.lines or (QUICK_LINES if options.quick else LINES)
    with tempfile.TemporaryDirectory(prefix="rehi-bench-") as folder:
        log = Path(folder) / "crawl.log"
        _refuse_small_disk(log.parent, lines)
        began = perf_counter()
        write_log(log, lines)
        print(f"{lines:,} lines, {log.stat().st_size / 1e6:,.0f} MB, written in {perf_counter() - began:.1f} s")
        ours: dict[str, Measure] = {"parser": _in_child("parse", log, "")}
        peers: dict[str, Measure] = {PLAIN_SQLITE: _in_child("plain", log, f"sqlite:///{log.parent / 'plain.db'}")}
        (log.parent / "plain.db").unlink()
        ours["sqlite"] = _in_child("take-in", log, f"sqlite:///{log.parent / 'catalogue.db'}")
        with _postgres() as address:
            if address:
                peers[PLAIN_POSTGRES] = _in_child("plain", log, address("plain"))
                ours["postgresql"] = _in_child("take-in", log, address("catalogue"))
            else:
                print("there is no PostgreSQL here; measured on SQLite only")
    return _judge(lines, ours, peers)


def _refuse_small_disk(folder: Path, lines: int) -> None:
    needed = lines * 800  # bytes: the log and two stores at a time
    free = shutil.disk_usage(folder).free
    if free < needed:
        sys.exit(
            f"{folder} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} are needed; set TMPDIR, or --lines to fewer"
        )


@contextmanager
def _postgres() -> Iterator[Callable[[str], str] | None]:
    """What makes a new database on a server of its own and gives its address; None where there is no PostgreSQL."""
    from rehi.testing.postgres import PostgresServer, find_postgres

    if find_postgres() is None:
        yield None
        return
    with PostgresServer() as server:
        yield server.uri


def _in_child(way: str, log: Path, store: str) -> dict[str, float | str]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.log", way, str(log), store], stdout=subprocess.PIPE, check=False
    )
    if done.returncode:
        sys.exit(f"the child that had to {way} ended with {done.returncode}")
    numbers: dict[str, float | str] = json.loads(done.stdout)
    print(
        f"{way:8} {store.partition(':')[0] if '://' in store else '':12} "
        + ", ".join(f"{k} {v:,}" for k, v in numbers.items())
    )
    return numbers


def _judge(lines: int, ours: Mapping[str, Measure], peers: Mapping[str, Measure]) -> Result:
    stores = {name: numbers for name, numbers in ours.items() if name != "parser"}
    ratio: dict[str, float] = {}
    parts: dict[str, bool] = {}
    for name, numbers in stores.items():
        peer = peers[PEERS[name]]
        ratio[name] = round(_number(numbers, "lines_per_s") / _number(peer, "lines_per_s"), 2)
        ratio[f"CPU, {name}"] = round(_number(numbers, "lines_per_cpu_s") / _number(peer, "lines_per_cpu_s"), 2)
        peak, rows = _number(numbers, "peak_mb"), (_number(numbers, "rows"), _number(peer, "rows"))
        parts[f"{name}: {ratio[name]:.2f} times the plain way's lines per second"] = ratio[name] > 1
        parts[f"{name}: a peak of {peak:.0f} MB, in place of {PEAK_MB}"] = peak < PEAK_MB
        parts[f"{name}: {rows[0]:.0f} rows, and {rows[1]:.0f} in the plain way"] = rows[0] == rows[1]
    for name, numbers in ours.items():
        parts[f"{name}: {_number(numbers, 'lines'):.0f} of {lines} lines"] = _number(numbers, "lines") == lines
    return Result(
        name="log", target=TARGET, settings=SETTINGS, missed=name_missed(parts), ours=ours, peers=peers, ratio=ratio
    )


def _number(numbers: Measure, key: str) -> float:
    if not isinstance(numbers, Mapping):
        raise TypeError(f"not a table of numbers: {numbers}")
    return float(numbers[key])


def _parse(log: Path, _store: str) -> dict[str, float]:
    """Our reader alone, without a store."""
    from rehi.sources import open_lines
    from rehi.sources.crawl_log import read_crawl_log

    with open_lines(log) as lines:
        last: deque[tuple[int, object]] = deque(enumerate(read_crawl_log(lines), 1), maxlen=1)
    return {"lines": last[0][0]}


def _take_in(log: Path, store: str) -> dict[str, float]:
    """Our way: what ``rehi add`` does."""
    from rehi.app import House, utc_now
    from rehi.operations.sources import enter, read_in
    from rehi.settings import load_settings

    with House(load_settings(data=log.parent / f"data-{os.getpid()}", catalogue=store)) as house:
        counts = read_in(house, enter(house, str(log)).id).counts
        rows = house.catalogue.totals(now=utc_now()).resources
    accounted = {key: counts.get(key, 0) for key in ("accepted", "rejected", "malformed")}
    return {"lines": sum(accounted.values()), "rows": rows, **accounted}


# What is imported at the start takes a second once, and is no part of the work.
_IMPORTED = (
    "rehi.operations.sources",
    "rehi.engines.sql",
    "rehi.app",
    "rehi.pipeline.discoveries",
    "rehi.engines.folder",
)


def _work(way: str, log: str, store: str) -> None:
    """The child's part: do it one way, and print the numbers."""
    ways: Mapping[str, Callable[[Path, str], dict[str, float]]] = {
        "parse": _parse,
        "take-in": _take_in,
        "plain": take_in_plainly,
    }
    if way != "plain":
        for module in _IMPORTED:
            import_module(module)
    began, cpu_began = perf_counter(), process_time()
    numbers = ways[way](Path(log), store)
    seconds, cpu = perf_counter() - began, process_time() - cpu_began
    numbers |= {"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "peak_mb": _peak_mb()}
    numbers |= {"lines_per_s": round(numbers["lines"] / seconds), "lines_per_cpu_s": round(numbers["lines"] / cpu)}
    print(json.dumps(numbers))


def _peak_mb() -> float:
    """The largest resident size of this program; getrusage's would include the parent's from before it was replaced."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return round(int(peak.split()[1]) / 1024, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


if __name__ == "__main__":
    _work(*sys.argv[1:])

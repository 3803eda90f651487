"""The frontier: leases and results per second with one worker and with eight, on SQLite and on PostgreSQL.

Three million URLs on 6,000 hosts, a few of them large and most small, all due; one URL in five has a version already.
Each worker is a process of its own and does what the pipeline does: it holds up to 128 hosts with 20 URLs each, records
its visits 50 at a time, gives hosts back with the record, and takes new ones for them. The web answers at once (60 %
unchanged, 25 % new, 10 % failed, 5 % redirected), so that what is measured is the frontier alone. A lease is one host with
its URLs; times of leases are those of the calls that ask for them, for as many hosts at once as the pipeline asks for.

As fast as they can, eight workers take all of the machine's processors. So they work once more at half of the rate that they
reached together ("half"): a real harvest waits for the network for most of the time. The lease's time is judged for one
worker and for eight as fast as they can, and for eight at half the rate.

Counted as well: hosts that two held at once, and visits that are not on record exactly once; none may be.

The peer is a queue of jobs in a table of the same database with our durability, one URL at a time and fifty at a time
(``frontier_queue.py``). The better of the two is the one that we are compared with.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench.frontier_crowd import Shift, gather, sum_up
from bench.frontier_queue import count_done, fill_queue, work_queue
from bench.frontier_web import fill
from bench.frontier_worker import work_leases
from bench.result import Measure, Options, Result, name_missed

URLS = 3_000_000
QUICK_URLS = 150_000
HOSTS = 6_000
CREWS = (1, 8)
SECONDS = 20.0
PEER_SECONDS = 10.0
QUICK_SECONDS = 3.0
P99_MS = 100.0
HALF = "half"
TARGET = (
    "a lease in under 100 ms (p99) with 1 worker and with 8, as fast as they can and at half of that rate, on both engines; "
    "no host held twice, every visit there once"
)
BATCHES = {"one at a time": 1, "50 at a time": 50}  # jobs that the peer takes with one transaction
SETTINGS = (
    "SQLite with a log, synchronous=NORMAL and its own fdatasync before a result is acknowledged, for both; PostgreSQL with "
    "fsync and synchronous_commit for both; hosts of 20 URLs, 50 results per transaction of ours; the peer's better batch"
)


def run(options: Options) -> Result:
    """Fill each engine once, then let crews of workers loose on it."""
    from rehi.testing.postgres import PostgresServer, find_postgres

    urls = options.lines or (QUICK_URLS if options.quick else URLS)
    ours: dict[str, dict[str, float]] = {}
    peers: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="rehi-bench-") as folder:
        _refuse_small_disk(Path(folder), urls)
        _measure("sqlite", f"sqlite:///{folder}/catalogue.db", urls, options, ours, peers)
    if find_postgres() is None:
        print("there is no PostgreSQL here; measured on SQLite only")
    else:
        with PostgresServer() as server:
            _measure("postgresql", server.uri("bench"), urls, options, ours, peers)
    return judge(ours, peers)


def _measure(
    engine: str,
    uri: str,
    urls: int,
    options: Options,
    ours: dict[str, dict[str, float]],
    peers: dict[str, dict[str, float]],
) -> None:
    seconds = fill(uri, urls=urls, hosts=min(HOSTS, urls))
    print(f"{engine}: {urls:,} URLs taken in at {urls / seconds:,.0f} per second", flush=True)
    queue = fill_queue(uri)
    for crew in CREWS:
        name = f"{engine} {crew}"
        time = QUICK_SECONDS if options.quick else SECONDS
        ours[name] = _show(name, measure_leases(uri, crew=crew, seconds=time))
        if crew > 1:
            rate = ours[name]["results_per_s"] / 2
            ours[f"{name} {HALF}"] = _show(f"{name} {HALF}", measure_leases(uri, crew=crew, seconds=time, rate=rate))
        time = QUICK_SECONDS if options.quick else PEER_SECONDS
        for way, batch in BATCHES.items():
            peer = f"{name}, {way}"
            peers[peer] = _show(f"{peer}, queue", measure_queue(queue, crew=crew, seconds=time, batch=batch))


def measure_leases(uri: str, *, crew: int, seconds: float, rate: float = 0.0) -> dict[str, float]:
    """Let a crew work on a catalogue, at a rate that they keep to together, or as fast as it can (0).

    Its numbers, with the visits that are not on record once.
    """
    from rehi.pipeline.visits import HOSTS_PER_LEASE, URLS_PER_LEASE

    before = _visits(uri)
    shifts = [
        Shift(
            uri=uri, worker=f"{crew}-{number}{f'-{HALF}' if rate else ''}", seconds=seconds, rate=rate / crew,
            asked=HOSTS_PER_LEASE, urls=URLS_PER_LEASE,
        )
        for number in range(crew)
    ]  # fmt: skip
    numbers = sum_up(gather(work_leases, shifts))
    numbers["amiss"] = abs(_visits(uri) - before - numbers["visits"])
    return numbers


def measure_queue(uri: str, *, crew: int, seconds: float, batch: int = 1) -> dict[str, float]:
    """Let a crew work on the peer's queue, so many jobs with one transaction."""
    before = count_done(uri)
    shifts = [Shift(uri=uri, worker=f"{crew}-{number}", seconds=seconds, batch=batch) for number in range(crew)]
    numbers = sum_up(gather(work_queue, shifts))
    numbers["amiss"] = abs(count_done(uri) - before - numbers["visits"])
    return numbers


def _visits(uri: str) -> float:
    """The visits on record, counted row by row; they must be as many as the catalogue says that there are."""
    from sqlalchemy import text

    from rehi.engines.sql import open_catalogue

    catalogue = open_catalogue(uri)
    try:
        clock = partial(datetime.now, UTC)
        held = catalogue.database.read(
            lambda c: c.execute(text("SELECT count(*) FROM host WHERE lease_until > 0")).scalar()
        )
        rows: int = catalogue.database.read(lambda c: c.execute(text("SELECT count(*) FROM visit")).scalar_one())
        counted = catalogue.totals(now=clock()).visits
    finally:
        catalogue.close()
    if held or rows != counted:
        raise RuntimeError(f"{held} hosts are still held, {rows} visits are on record, and {counted} are counted")
    return rows


def judge(ours: Mapping[str, Measure], peers: Mapping[str, Measure]) -> Result:
    """Ask for order and for quick leases of every crew; compare results with the better of the peer's ways."""
    parts: dict[str, bool] = {}
    for name, numbers in ours.items():
        p99, twice, amiss = (_number(numbers, key) for key in ("lease_p99_ms", "held_twice", "amiss"))
        parts[f"{name}: a lease in {p99:.0f} ms (p99), in place of {P99_MS:.0f}"] = p99 < P99_MS
        parts[f"{name}: {twice:.0f} hosts held twice, {amiss:.0f} visits amiss"] = twice == amiss == 0
    ratio = {}
    for name in ours:
        queues = [_number(numbers, "results_per_s") for peer, numbers in peers.items() if peer.startswith(f"{name},")]
        if queues:
            ratio[name] = round(_number(ours[name], "results_per_s") / max(queues), 2)
    return Result(
        name="frontier",
        target=TARGET,
        settings=SETTINGS,
        missed=name_missed(parts),
        ours=ours,
        peers=peers,
        ratio=ratio,
    )


def _number(numbers: Measure, key: str) -> float:
    if not isinstance(numbers, Mapping):
        raise TypeError(f"not a table of numbers: {numbers}")
    return float(numbers[key])


def _show(name: str, numbers: dict[str, float]) -> dict[str, float]:
    print(f"{name:20} " + ", ".join(f"{key} {value:,}" for key, value in numbers.items()), flush=True)
    return numbers


def _refuse_small_disk(folder: Path, urls: int) -> None:
    needed = urls * 1_500  # bytes: the catalogue and the queue with their logs
    free = shutil.disk_usage(folder).free
    if free < needed:
        sys.exit(f"{folder} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} are needed; set TMPDIR, or --quick")

"""The fetch benchmark: the same pages on 200 hosts through rehi, through Scrapy, and through aiohttp with warcio.

All do the same work: fetch with one connection to each host and no delay, robots.txt obeyed, extract the text with the same
library, store with digest and version. rehi has its full frontier on SQLite, keeps the bytes too, and acknowledges nothing
before it is on disk. Scrapy is set up as one would run it for speed and keeps no bytes (fetch_scrapy.py); stripped of
redirects, retries and all else it is shown as well. aiohttp with warcio keeps the bytes as we do, with our compressor, and
brings them to disk (fetch_aiohttp.py); it knows no frontier, redirects or retries. Both peers run in one process and in as many
as there are cores, and the better one counts. Each way is a process tree of its own; the server's time counts for
nobody. What Python takes to import its modules is no part of the work. A larger load, of 200 files of 1 to 5 MB, must not make
rehi's main process larger.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.fetch_ceiling import measure_ceiling
from bench.result import Options, Result, name_missed
from bench.site import Site, serve, write_files, write_pages
from rehi.archive.member import LEVEL

HOSTS = 200
PAGES = 6_000
QUICK_PAGES = 800
ROUNDS = 3
FILES = 200
QUICK_FILES = 20
FLAT_MB = 40.0  # by which the main process may be larger with files of megabytes than with pages
TIMES = 4.0
TARGET = (
    "at least 4 times Scrapy's pages per second and a quarter of its CPU per page, no fewer pages and no more CPU than "
    "aiohttp with warcio, memory flat with large files"
)
CORES = os.cpu_count() or 1
SCRAPY, AIOHTTP, STRIPPED = "scrapy", "aiohttp + warcio", "scrapy, stripped"
MANY = f", {CORES} processes"
PEERS = {SCRAPY: (SCRAPY, SCRAPY + MANY), AIOHTTP: (AIOHTTP, AIOHTTP + MANY)}
WAYS = (*PEERS[SCRAPY], STRIPPED, *PEERS[AIOHTTP])
SETTINGS = (
    f"256 connections, one to a host, no delay, robots.txt obeyed, the same text extraction; isal level {LEVEL} and SHA-256 "
    f"for rehi and warcio, synced every 50 pages; Scrapy with uvloop, items only; peers in 1 and in {CORES} processes, the better "
    "one counts"
)
ROOMS = ("lease", "visit", "keep", "read")

Numbers = dict[str, float]


def run(options: Options) -> Result:
    """Measure everything in turn, as often as it takes, and compare the medians."""
    scrapy = _find_scrapy()
    with tempfile.TemporaryDirectory(prefix="rehi-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the server may work under another name
        paths = write_pages(folder / "root", QUICK_PAGES if options.quick else PAGES)
        files = write_files(folder / "root", QUICK_FILES if options.quick else FILES)
        with serve(folder / "root", paths, hosts=HOSTS) as site:
            print(f"{len(paths):,} pages on {HOSTS} hosts, served by {site.server}", flush=True)
            ceiling = measure_ceiling(site)
            print(f"ceiling: {ceiling['pages_per_second']:,.0f} pages/s by {ceiling['tool']}", flush=True)
            rounds = _rounds(folder, site, scrapy, rounds=1 if options.quick else ROUNDS)
            large = _harvest(
                folder, [f"http://{_host_of(url)}{path}" for url, path in zip(site.urls, files, strict=False)]
            )
    print(f"{len(files)} files of 1 to 5 MB: main process {large['main_peak_mb']:.0f} MB at its peak", flush=True)
    medians = {way: _median(numbers) for way, numbers in rounds.items()}
    _print_rooms(medians["rehi"])
    return judge(medians, large, {**ceiling})


def _rounds(folder: Path, site: Site, scrapy: Path, *, rounds: int) -> dict[str, list[Numbers]]:
    measured: dict[str, list[Numbers]] = {}
    for number in range(rounds):
        for way in ("rehi", *WAYS):
            numbers = _harvest(folder, site.urls) if way == "rehi" else _crawl(folder, site.urls, scrapy, way)
            if numbers["documents"] != len(site.urls):
                sys.exit(f"{way} brought {numbers['documents']:.0f} of {len(site.urls)} pages")
            measured.setdefault(way, []).append(numbers)
            print(
                f"round {number + 1}  {way:30} {numbers['pages_per_second']:8,.0f} pages/s "
                f"{numbers['cpu_ms_per_page']:7.3f} ms of CPU per page, largest process {numbers['largest_mb']:4.0f} MB",
                flush=True,
            )
    return measured


def _find_scrapy() -> Path:
    python = Path(os.environ.get("REHI_SCRAPY", ".venv-scrapy/bin")).absolute() / "python"
    if not python.exists():
        sys.exit(f"there is no Scrapy at {python}; `make bench NAME=fetch` puts it there")
    return python


def _harvest(folder: Path, urls: Sequence[str]) -> Numbers:
    """One run of ours, in a new data folder."""
    listed, data, report = folder / "urls.txt", folder / "data", folder / "report-rehi"
    listed.write_text("\n".join(urls), encoding="utf-8")
    command = [sys.executable, "-m", "bench.fetch_rehi", str(listed), str(data), str(report)]
    try:
        return _metered([command], [report], len(urls))
    finally:
        shutil.rmtree(data, ignore_errors=True)


def _crawl(folder: Path, urls: Sequence[str], python: Path, way: str) -> Numbers:
    """One run of a peer; where there are several processes, each has some of the hosts."""
    count = CORES if way.endswith(MANY) else 1
    commands, reports = [], []
    for number in range(count):
        listed, store, report = (folder / f"{name}-{number}" for name in ("urls", "store", "report"))
        listed.write_text("\n".join(url for i, url in enumerate(urls) if i % HOSTS % count == number), encoding="utf-8")
        if way.startswith(AIOHTTP):
            module, last = "bench.fetch_aiohttp", str(LEVEL)
        else:
            module, last = "bench.fetch_scrapy", "stripped" if way == STRIPPED else "sane"
        commands.append([str(python), "-m", module, str(listed), str(store), str(report), last])
        reports.append(report)
    try:
        return _metered(commands, reports, len(urls))
    finally:
        for number in range(count):
            shutil.rmtree(folder / f"store-{number}", ignore_errors=True)


def _metered(commands: Sequence[Sequence[str]], reports: Sequence[Path], pages: int) -> Numbers:
    """What the commands cost by the meter, and what they say themselves."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.fetch_meter", json.dumps(commands)],
        stdout=subprocess.PIPE,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    cost = json.loads(done.stdout)
    if cost["code"]:
        sys.exit(f"{' '.join(commands[0])} ended with {cost['code']}")
    facts = [json.loads(report.read_text(encoding="utf-8")) for report in reports]
    seconds = max(one["ended"] for one in facts) - min(one["began"] for one in facts)
    cpu = cost["cpu_seconds"] - sum(one["idle_cpu"] for one in facts)
    numbers = {
        "documents": sum(one["documents"] for one in facts),
        "seconds": seconds,
        "pages_per_second": pages / seconds,
        "cpu_ms_per_page": cpu * 1000 / pages,
        "largest_mb": cost["largest_mb"],
    }
    for one in facts:
        numbers |= {name: value for name, value in one.items() if name.startswith(("main_", "room_"))}
        numbers |= {name: value * 1000 / pages for name, value in one.items() if name.startswith("cpu_ms_")}
    if "cpu_ms_main" in numbers:
        numbers["cpu_ms_readers"] = numbers["cpu_ms_per_page"] - numbers["cpu_ms_main"]
    return numbers


def _host_of(url: str) -> str:
    return url.split("/")[2]


def _median(rounds: Sequence[Numbers]) -> Numbers:
    return {name: statistics.median(numbers[name] for numbers in rounds) for name in rounds[0]}


def _print_rooms(ours: Mapping[str, float]) -> None:
    """Where the time goes: the wheel's wall time by step, and the CPU by kind of process."""
    pages = ours["documents"]
    print("\nwhere rehi's time goes, in ms per page")
    for room in ROOMS:
        note = "  (with waiting for the network and the readers)" if room == "visit" else ""
        print(f"  wall  {room:10} {ours[f'room_{room}'] * 1000 / pages:7.3f}{note}")
    for kind in ("main", "readers", "extract"):
        note = "  (of which reading bodies and texts, by the readers' own clock)" if kind == "extract" else ""
        print(f"  CPU   {kind:10} {ours[f'cpu_ms_{kind}']:7.3f}{note}")


def judge(medians: Mapping[str, Numbers], large: Numbers, ceiling: Mapping[str, float | str]) -> Result:
    """Hold the medians against the target; of each peer its better way counts."""
    ours = medians["rehi"]
    ratio: dict[str, float] = {}
    parts: dict[str, bool] = {}
    for peer, ways in PEERS.items():
        times = TIMES if peer == SCRAPY else 1.0
        speed = ours["pages_per_second"] / max(medians[way]["pages_per_second"] for way in ways)
        cpu = min(medians[way]["cpu_ms_per_page"] for way in ways) / ours["cpu_ms_per_page"]
        ratio |= {f"{peer}, pages_per_second": speed, f"{peer}, cpu_per_page": cpu}
        parts[f"{speed:.2f} times the pages per second of {peer}, in place of {times:.0f}"] = speed >= times
        parts[f"1/{cpu:.2f} of the CPU per page of {peer}, in place of 1/{times:.0f}"] = cpu >= times
    stripped = medians[STRIPPED]
    ratio[f"{STRIPPED}, pages_per_second"] = ours["pages_per_second"] / stripped["pages_per_second"]
    ratio[f"{STRIPPED}, cpu_per_page"] = stripped["cpu_ms_per_page"] / ours["cpu_ms_per_page"]
    ratio["ceiling"] = ours["pages_per_second"] / float(ceiling["pages_per_second"])
    grown = large["main_peak_mb"] - ours["main_peak_mb"]
    parts[f"the main process is {grown:.0f} MB larger with large files, in place of {FLAT_MB:.0f}"] = grown <= FLAT_MB
    return Result(
        name="fetch",
        target=TARGET,
        settings=SETTINGS,
        missed=name_missed(parts),
        ours={**_rounded(ours), "large_files_main_peak_mb": round(large["main_peak_mb"], 1)},
        peers={**{way: _rounded(medians[way]) for way in WAYS}, "ceiling": ceiling},
        ratio={name: round(value, 3) for name, value in ratio.items()},
    )


def _rounded(numbers: Mapping[str, float]) -> Numbers:
    return {name: round(value, 3) for name, value in numbers.items()}

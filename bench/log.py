"""The log benchmark: 3.1 million lines of a crawl log into the catalogue, beside the plain way of doing it.

A log in the manner of Heritrix is generated, the same each time. Each way takes it in as a process of its own, so that
its peak of memory is that of the work alone.
"""

from __future__ import annotations

import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from urllib.parse import urlsplit

from bench.result import Measure, Options, Result

LINES = 3_100_000
QUICK_LINES = 100_000
PEAK_MB = 500
TARGET = "3.1 M lines in one go, peak under 500 MB, faster than the plain way"
BATCH = 20_000

_HOSTS = 6_000
_60_BITS = (1 << 60) - 1
_SYLLABLES = ("re", "hi", "ta", "lu", "mõ", "is", "ko", "va", "se", "pä", "rn", "jõ", "gi", "sa", "ar", "ku")
_ASCII = str.maketrans("õä", "oa")
_SECTIONS = ("uudised", "arhiiv", "avaandmed", "kontakt", "otsused", "koosolekud/protokollid", "ajalugu", "toimetus")
_IMAGES = (
    ("jpg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("css", "text/css"),
    ("js", "application/javascript"),
)
_FILES = (("pdf", "application/pdf"), ("json", "application/json"), ("xml", "text/xml"), ("csv", "text/csv"))
_OWN_CODES = (-2, -4, -5, -50, -404, -5003, -9998)
_HTTP_CODES = (301, 302, 404, 404, 404, 500)


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
        peers: dict[str, Measure] = {"plain sqlite": _in_child("plain", log, str(log.parent / "plain.db"))}
        ours["sqlite"] = _in_child("take-in", log, f"sqlite:///{log.parent / 'catalogue.db'}")
        with _postgres() as uri:
            if uri:
                ours["postgresql"] = _in_child("take-in", log, uri)
            else:
                print("there is no PostgreSQL here; measured on SQLite only")
    return _judge(lines, ours, peers)


def write_log(path: Path, lines: int) -> None:
    """Write a crawl log of so many lines, always the same."""
    stream = generate(lines)
    with path.open("wb") as file:
        while batch := list(islice(stream, 10_000)):
            file.write(("\n".join(batch) + "\n").encode())


def generate(lines: int) -> Iterator[str]:
    """Lines as a national crawl has them: pages that come again, prerequisites, guesses, pictures, errors, a few slips."""
    hosts = [_host_name(number) for number in range(_HOSTS)]
    for number in range(lines):
        dice = _dice(number)
        # Squaring makes the first hosts large and the last small, as on the web.
        host = hosts[(dice % 65_536) ** 2 * _HOSTS >> 32]
        page = (dice >> 16) % max(lines // 3_000, 50)
        section = _SECTIONS[page % 8]
        yield _line(number, dice >> 32, host, f"http://{host}/{section}/{page}")


def _line(number: int, dice: int, host: str, stem: str) -> str:
    kind, dice = dice % 1000, dice // 1000
    home = f"http://{host}/"
    hops = "LLELLRELL"[: dice % 9] or "-"
    via = home if hops != "-" else "-"
    if kind < 430:
        return _columns(number, 200, f"{stem}.html", hops, via, "text/html")
    if kind < 730:
        extension, media = _IMAGES[dice % 5]
        return _columns(
            number, 200, f"{stem}/pilt-{dice % 4}.{extension}", f"{hops}E".strip("-"), f"{stem}.html", media
        )
    if kind < 800:
        return _columns(number, 200, f"{stem}?id={dice % 3}&keel=et", hops, via, "text/html;charset=utf-8")
    if kind < 830:
        extension, media = _FILES[dice % 4]
        return _columns(number, 200, f"{stem}.{extension}", hops, via, media)
    if kind < 880:
        return _columns(number, 404, f"{home}js/{dice % 50}/text", "LLX", f"{stem}.html", "text/html")
    if kind < 900:
        return _columns(number, 1, f"dns:{host}", "LP", f"{stem}.html", "text/dns")
    if kind < 920:
        return _columns(number, 200, f"{home}robots.txt", "LLP", f"{stem}.html", "text/plain")
    if kind < 980:
        return _columns(number, _HTTP_CODES[dice % 6], f"{stem}.html", hops, via, "text/html")
    if kind < 995:
        return _columns(number, _OWN_CODES[dice % 7], f"{stem}.html", hops, via, "unknown")
    if kind < 999:
        return _columns(number, 200, f"HTTP://{host.upper()}:80/a/../{dice % 99}#x", hops, via, "text/html")
    return "a line that was torn" if dice % 2 else ""


def _columns(number: int, status: int, uri: str, hops: str, via: str, media: str) -> str:
    seconds, size = number // 20 % 86_400, 500 + number * 7919 % 90_000
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return (
        f"2014-05-{1 + number // 1_728_000:02}T{clock}.{number % 1000:03}Z {status:5} {size:10} {uri} {hops} {via} {media} "
        f"#{number % 50:03} 201405{1 + number // 1_728_000:02}{clock.replace(':', '')}{number % 1000:03}+{size % 900} "
        f"sha1:{_dice(number + 1):016X}{_dice(number):016X} - ip:10.0.{number % 250}.7 "
        f'{{"contentSize":{size + 310},"scopeDecision":"ACCEPT"}}'
    )


def _dice(number: int) -> int:
    """60 bits that look random and are the same each time."""
    bits = (number + 11) * 0x5D3A96F1C42B8E7 & _60_BITS
    bits = (bits ^ bits >> 31) * 0x3B1F6E9D2A7C451 & _60_BITS
    return bits ^ bits >> 29


def _host_name(number: int) -> str:
    dice = _dice(number)
    word = "".join(_SYLLABLES[dice >> shift & 15] for shift in (0, 4, 8)).translate(_ASCII)
    return f"www.{word}{number}.ee"


def _refuse_small_disk(folder: Path, lines: int) -> None:
    needed = lines * 800  # bytes: the log and two stores at a time
    free = shutil.disk_usage(folder).free
    if free < needed:
        sys.exit(
            f"{folder} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} are needed; set TMPDIR, or --lines to fewer"
        )


@contextmanager
def _postgres() -> Iterator[str]:
    """The address of a new database on a server of its own; empty where there is no PostgreSQL."""
    from rehi.testing.postgres import PostgresServer, find_postgres

    if find_postgres() is None:
        yield ""
        return
    with PostgresServer() as server:
        yield server.uri("bench")


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
    plain = _number(peers["plain sqlite"], "lines_per_s")
    stores = {name: numbers for name, numbers in ours.items() if name != "parser"}
    ratio = {name: round(_number(numbers, "lines_per_s") / plain, 2) for name, numbers in stores.items()}
    ok = (
        ratio["sqlite"] > 1
        and all(_number(numbers, "peak_mb") < PEAK_MB for numbers in stores.values())
        and all(_number(numbers, "lines") == lines for numbers in ours.values())
        and len({_number(numbers, "rows") for numbers in stores.values()}) == 1
    )
    return Result(name="log", ok=ok, target=TARGET, ours=ours, peers=peers, ratio=ratio)


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
    from rehi.app import House
    from rehi.operations.sources import enter, read_in
    from rehi.settings import load_settings

    catalogue_uri = store if "://" in store else f"sqlite:///{store}"
    with House(load_settings(data=log.parent / "data", catalogue=catalogue_uri)) as house:
        counts = read_in(house, enter(house, str(log)).id).counts
        rows = house.catalogue.totals(now=datetime.now(UTC)).resources
    told = {key: counts.get(key, 0) for key in ("accepted", "rejected", "malformed")}
    return {"lines": sum(told.values()), "rows": rows, **told}


def _take_in_plainly(log: Path, store: str) -> dict[str, float]:
    """The plain way: split, urlsplit, and INSERT OR IGNORE in batches, with our engine's settings."""
    database = sqlite3.connect(store)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536", "wal_autocheckpoint = 4000"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("CREATE TABLE url (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL)")
    count = 0
    with log.open(encoding="utf-8", errors="replace") as lines:
        while batch := list(islice(lines, BATCH)):
            count += len(batch)
            rows = [row for row in map(_plain_row, batch) if row]
            with database:
                database.executemany("INSERT OR IGNORE INTO url (url, host) VALUES (?, ?)", rows)
    (stored,) = database.execute("SELECT count(*) FROM url").fetchone()
    database.close()
    return {"lines": count, "rows": stored}


def _plain_row(line: str) -> tuple[str, str] | None:
    columns = line.split()
    if len(columns) < 7 or "X" in columns[4]:
        return None
    if columns[4].endswith("P"):
        url = columns[5]
    elif not 100 <= int(columns[1]) < 600 or columns[6].startswith(("image/", "text/css", "application/javascript")):
        return None
    else:
        url = columns[3]
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path == "/robots.txt":
        return None
    return parts._replace(fragment="", netloc=parts.hostname).geturl(), parts.hostname


def _work(way: str, log: str, store: str) -> None:
    """The child's part: do it one way, and print the numbers."""
    ways: Mapping[str, Callable[[Path, str], dict[str, float]]] = {
        "parse": _parse,
        "take-in": _take_in,
        "plain": _take_in_plainly,
    }
    if way != "plain":
        import_module("rehi.sources.intake")
        import_module("rehi.engines.sql")  # half a second once, and no part of the work
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

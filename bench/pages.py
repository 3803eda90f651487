"""What one machine serves: a house of 50,000 documents asked by 1, 20 and 200 clients at once, beside Datasette.

The house (``pages_house.py``) is served by ``rehi up``, the peer has the same rows in an SQLite file of its own
(``pages_datasette.py``), and both are asked over HTTP on loopback by clients in a process of their own (``pages_load.py``), first one
kind of request at a time, then all kinds in turn. CPU is that of the server and all that it has started; the clients' is
shown by itself. Where a kind has no equal, the peer is asked for what comes nearest and does less: its row as JSON lacks
the names, versions and sources that ours has.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any
from urllib.parse import quote

from bench.pages_datasette import write_peer
from bench.pages_house import house_settings
from bench.result import Measure, Options, Result, name_missed
from rehi.app import House
from rehi.model.listing import DocumentFilter, Page
from rehi.testing.waiting import wait_until

DOCUMENTS, QUICK_DOCUMENTS = 50_000, 500
CLIENTS = (1, 20, 200)
SECONDS, QUICK_SECONDS = 4.0, 0.4  # that the clients of one measurement go on asking
MIX = "all in turn"
JSON_KIND = "document, JSON"
HALF, REFUSED_WITHIN, LONGEST = 1.0, 1.0, 5.0  # seconds
TARGET = (
    "with 200 clients p50 of every kind within 1 s, nobody refused later than 1 s after asking, the longest answer within 5 s; "
    "our JSON of a document for no more CPU than Datasette's JSON of a row"
)
SETTINGS = (
    "rehi up with an idle harvest on SQLite and a folder; Datasette with an immutable file, counts known, trigram index for the "
    "search, no suggested facets, uvloop and httptools, no access log; both one process over HTTP/1.1 on loopback, connections "
    "kept, answers not compressed; who is refused asks again after Retry-After"
)
_SAMPLE = 400  # documents that are asked for, drawn by lot
_WORDS = ("linn", "kool", "bridge", "tööd", "museum", "koosolek", "teed", "leht-12", "asutus7.", "leht-777")
_NAMES = ("Ka", "Ta", "Ma", "Pi", "Kuld", "Lii", "Sa", "Ru")

Numbers = dict[str, float]
Target = tuple[str, str, str]  # kind, path, what to accept


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that is asked."""

    address: str
    pid: int


def run(options: Options) -> Result:
    """Make the house, then ask us and the peer in the same ways."""
    python = find_datasette()
    count = options.lines or (QUICK_DOCUMENTS if options.quick else DOCUMENTS)
    seconds = QUICK_SECONDS if options.quick else SECONDS
    with tempfile.TemporaryDirectory(prefix="rehi-bench-") as name:
        folder = Path(name)
        began = perf_counter()
        fill(folder / "data", count)
        print(f"a house of {count:,} documents, made in {perf_counter() - began:.0f} s", flush=True)
        return measure_both(folder, python, seconds)


def fill(data: Path, count: int) -> None:
    """Fill a house in a process of its own, whose memory is nobody's afterwards."""
    command = [sys.executable, "-m", "bench.pages_house", str(data), str(count)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])


def measure_both(folder: Path, python: Path | None, seconds: float) -> Result:
    """Ask the house in a folder and the peer with the same rows; without the peer's Python, us alone."""
    with House(house_settings(folder / "data")) as house:
        ours, peers = targets_of(house)
        if python is not None:
            write_peer(house, folder / "house.db")
    with serve_rehi(folder) as server:
        documents = count_documents(server)
        ours_numbers = press_all("rehi", server, ours, seconds)
        counts = {word: _count_found(server, f"/api/documents?q={quote(word)}", "total") for word in _WORDS}
    peer_numbers: dict[str, Numbers] = {}
    if python is not None:
        with serve_datasette(folder, python) as server:
            peer_numbers = press_all("Datasette", server, peers, seconds)
            path = "/house/documents.json?_size=1&_search="
            for word in _WORDS:
                peer_found = _count_found(server, path + quote(f'"{word}"'), "filtered_table_rows_count")
                if peer_found != counts[word]:
                    sys.exit(f"rehi finds {counts[word]} documents by {word}, and Datasette {peer_found}")
    return judge(documents, ours_numbers, peer_numbers)


def targets_of(house: House) -> tuple[list[Target], list[Target]]:
    """Return what we are asked for, and what the peer is: kind by kind the same."""
    lot = Random(11)  # noqa: S311 - not for secrets
    _, total = house.catalogue.documents(DocumentFilter(), Page(limit=1))
    numbers = [lot.randint(1, total) for _ in range(_SAMPLE)]
    urls = [quote(house.catalogue.document(number).url, safe="") for number in numbers]
    html, plain = "text/html", "application/json"
    ours: list[Target] = [
        ("front page", "/", html),
        ("list", "/documents", html),
        ("static", "/static/style.css", "*/*"),
    ]
    peers: list[Target] = [
        ("front page", "/", html),
        ("list", "/house/documents?_size=50&_sort=url", html),
        ("static", "/-/static/app.css", "*/*"),
    ]
    for number, url in zip(numbers, urls, strict=True):
        ours += [
            ("document, page", f"/documents/{number}", html),
            (JSON_KIND, f"/api/documents/{number}", plain),
            ("captures, CDX", f"/cdx?url={url}", "*/*"),
        ]
        peers += [
            ("document, page", f"/house/pages/{number}", html),
            (JSON_KIND, f"/house/documents/{number}.json", plain),
            ("captures, CDX", f"/house/versions.json?url__exact={url}&_sort=taken_at&_shape=array", plain),
        ]
    for word in _WORDS:
        ours.append(("search", f"/api/documents?q={quote(word)}", plain))
        given = quote(f'"{word}"')
        peers.append(("search", f"/house/documents.json?_search={given}&_size=50&_sort=url", plain))
    for name in _NAMES:
        ours.append(("entities", f"/api/entities?name={name}", plain))
        peers.append(("entities", f"/house/entities.json?name__startswith={name}&_sort_desc=documents&_size=50", plain))
    return ours, peers


def press_all(who: str, server: ServerProcess, targets: Sequence[Target], seconds: float) -> dict[str, Numbers]:
    """Ask for each kind by itself and for all in turn, by ever more clients."""
    kinds = list(dict.fromkeys(kind for kind, _, _ in targets))
    by_kind = {kind: [target for target in targets if target[0] == kind] for kind in kinds}
    turns = [some[number % len(some)] for number in range(_SAMPLE) for some in by_kind.values()]
    numbers: dict[str, Numbers] = {}
    for kind, wanted in [*by_kind.items(), (MIX, turns)]:
        press(server, wanted, 1, seconds / 8)  # what is imported and opened by the first is not counted
        for clients in CLIENTS:
            name = name_measurement(kind, clients)
            numbers[name] = one = press(server, wanted, clients, seconds)
            print(f"{who:10} {name:28} {_show(one)}", flush=True)
    return numbers


def name_measurement(kind: str, clients: int) -> str:
    """Return the name of what so many clients saw."""
    return f"{kind}, {clients} client{'s' if clients > 1 else ''}"


def press(server: ServerProcess, targets: Sequence[Target], clients: int, seconds: float) -> Numbers:
    """Let clients ask for some time, and return what they saw and what it cost the server."""
    before = tree_cpu(server.pid)
    command = [sys.executable, "-m", "bench.pages_load", server.address, str(clients), str(seconds)]
    lines = "\n".join(map(json.dumps, targets))
    done = subprocess.run(
        command, input=lines, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    return summarise(json.loads(done.stdout), tree_cpu(server.pid) - before)


def summarise(seen: Mapping[str, Any], cpu: float) -> Numbers:
    """Return in numbers what clients saw."""
    answered = sorted(time for times in seen["answered"].values() for time in times)
    refused = sorted(time for times in seen["refused"].values() for time in times)
    waited = sorted(time for times in seen["waited"].values() for time in times)
    slowest = max((median(times) for times in seen["answered"].values() if times), default=0.0)
    return {
        "answers": len(answered),
        "per_second": len(answered) / seen["seconds"],
        "p50_ms": percentile(answered, 0.5) * 1000,
        "p50_of_slowest_kind_ms": slowest * 1000,
        "p99_ms": percentile(answered, 0.99) * 1000,
        "longest_ms": percentile(answered, 1.0) * 1000,
        "cpu_ms": cpu * 1000 / max(1, len(answered)),
        "refused": len(refused),
        "refused_p50_ms": percentile(refused, 0.5) * 1000,
        "refused_longest_ms": percentile(refused, 1.0) * 1000,
        "asked_again_p50_ms": percentile(waited, 0.5) * 1000,
        "asked_again_longest_ms": percentile(waited, 1.0) * 1000,
        "failed": sum(seen["failed"].values()),
        "client_cpu_ms": seen["cpu_seconds"] * 1000 / max(1, len(answered) + len(refused)),
    }


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which this share of the ordered values lies; 0 if there are none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def _show(one: Numbers) -> str:
    return (
        f"{one['per_second']:7,.0f}/s  p50 {one['p50_ms']:7.1f}  p99 {one['p99_ms']:7.1f}  longest {one['longest_ms']:7.1f} ms  "
        f"CPU {one['cpu_ms']:6.2f} ms  refused {one['refused']:5,.0f} (longest {one['refused_longest_ms']:6.1f} ms)  "
        f"failed {one['failed']:.0f}  until answered p50 {one['asked_again_p50_ms']:7.1f} ms"
    )


def tree_cpu(pid: int) -> float:
    """Return the CPU seconds of a process and of all that it has started."""
    rows: dict[int, tuple[int, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            rows[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    tree = {pid}
    while more := {one for one, (parent, _) in rows.items() if parent in tree} - tree:
        tree |= more
    return sum(rows[one][1] for one in tree if one in rows)


@contextmanager
def serve_rehi(folder: Path) -> Iterator[ServerProcess]:
    """Serve the house as anybody would, with ``rehi up``."""
    command = [sys.executable, "-m", "rehi", "--data", str(folder / "data"), "up", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]) as process:
        try:
            output = ""
            for line in process.stdout or ():
                output += line
                if line.rstrip() == "}":
                    break
            else:
                sys.exit("rehi up did not start")
            yield ServerProcess(json.loads(output)["address"], process.pid)
        finally:
            process.terminate()


@contextmanager
def serve_datasette(folder: Path, python: Path) -> Iterator[ServerProcess]:
    """Serve the peer's file."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [str(python), "-m", "bench.pages_peer", str(folder / "house.db"), str(port)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[1]) as process:
        server = ServerProcess(f"http://127.0.0.1:{port}/", process.pid)
        try:
            wait_until(lambda: process.poll() is not None or _answers(server), what="Datasette answers")
            yield server
        finally:
            process.terminate()


def _answers(server: ServerProcess) -> bool:
    try:
        urllib.request.urlopen(server.address, timeout=10).close()  # noqa: S310 - loopback
    except (OSError, urllib.error.URLError):
        return False
    return True


def find_datasette() -> Path:
    """Return the Python of Datasette's environment."""
    python = Path(os.environ.get("REHI_DATASETTE", ".venv-datasette/bin")).absolute() / "python"
    if not python.exists():
        sys.exit(f"there is no Datasette at {python}; `make bench NAME=pages` puts it there")
    return python


def count_documents(server: ServerProcess) -> int:
    """Return how many documents the server has."""
    return _count_found(server, "/api/documents?limit=1", "total")


def _count_found(server: ServerProcess, path: str, name: str) -> int:
    with urllib.request.urlopen(server.address.rstrip("/") + path, timeout=60) as answer:  # noqa: S310 - loopback
        return int(json.load(answer)[name])


def judge(documents: int, ours: Mapping[str, Numbers], peer: Mapping[str, Numbers]) -> Result:
    """Hold what the clients saw against the target."""
    crowd = {name: one for name, one in ours.items() if name.endswith(f", {CLIENTS[-1]} clients")}
    parts = {f"{documents:,} documents, in place of {DOCUMENTS:,}": documents == DOCUMENTS}
    for name, one in crowd.items():
        half, longest, refused = one["p50_of_slowest_kind_ms"], one["longest_ms"], one["refused_longest_ms"]
        parts[f"{name}: p50 {half:,.0f} ms, in place of {HALF * 1000:,.0f}"] = half <= HALF * 1000
        parts[f"{name}: the longest answer {longest:,.0f} ms, in place of {LONGEST * 1000:,.0f}"] = (
            longest <= LONGEST * 1000
        )
        parts[f"{name}: refused after {refused:,.0f} ms, in place of {REFUSED_WITHIN * 1000:,.0f}"] = (
            refused <= REFUSED_WITHIN * 1000
        )
    for name, one in ours.items():
        parts[f"{name}: {one['failed']:.0f} failed"] = not one["failed"]
        parts[f"{name}: nothing was answered"] = one["answers"] > 0
    alone = name_measurement(JSON_KIND, 1)
    ratio = {name: peer[name]["cpu_ms"] / one["cpu_ms"] for name, one in ours.items() if name in peer and one["cpu_ms"]}
    if alone in peer:
        cpu, others = ours[alone]["cpu_ms"], peer[alone]["cpu_ms"]
        parts[f"{JSON_KIND}: {cpu:.2f} ms of CPU, in place of Datasette's {others:.2f}"] = cpu <= others
    return Result(
        name="pages",
        target=TARGET,
        settings=SETTINGS,
        missed=name_missed(parts),
        ours={"documents": documents, **{name: _rounded(one) for name, one in ours.items()}},
        peers={f"Datasette: {name}": _rounded(one) for name, one in peer.items()},
        ratio={f"CPU per answer: {name}": round(value, 2) for name, value in ratio.items()},
    )


def _rounded(numbers: Mapping[str, float]) -> Measure:
    return {name: round(value, 2) for name, value in numbers.items()}

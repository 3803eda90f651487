"""The keep benchmark: small pages per second that are on disk for good, our way and in three other ways.

Pages of 2 to 60 KB, no two alike, come in batches of 200, as the pipeline has them, and a batch is synced before the next
one. All ways keep both heads and the body, check the digest, and compress with the same compressor at the same level;
warcio's writer is shown with its own zlib at level 9 too, which is not judged. The ways take turns, round after round, and
the medians are compared: seconds on the clock, since waiting for the disk is what this is about; CPU is shown beside them.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from bench.archive_ways import PageVersion, as_visit
from bench.keep_ways import Keeper, OurArchive, PlainFiles, SqliteBlobs, Warcio, WarcioDefault
from bench.result import Options, Result, name_missed
from rehi.archive.member import LEVEL

OURS, FILES, SQLITE, WARCIO, WARCIO_DEFAULT = (
    "ours", "plain files", "SQLite blobs", "warcio's writer", "warcio's writer at zlib 9",
)  # fmt: skip
WAYS: Mapping[str, Callable[[Path], Keeper]] = {
    OURS: OurArchive,
    FILES: PlainFiles,
    SQLITE: SqliteBlobs,
    WARCIO: Warcio,
    WARCIO_DEFAULT: WarcioDefault,
}
TARGET = (
    "at least 3 times the objects per second of plain files and of warcio's own writer, and as many as SQLite, "
    "at equal compression, all on disk for good"
)
TIMES = {FILES: 3.0, WARCIO: 3.0, SQLITE: 1.0}
SETTINGS = (
    f"isal deflate level {LEVEL}, SHA-256 checked, both heads kept and one sync per batch of {{batch}} for all; SQLite "
    "with a log, synchronous=FULL and no index; warcio with our compressor (at its own zlib 9 shown, not judged)"
)
OBJECTS, QUICK_OBJECTS = 4_000, 600
BATCH = 200
ROUNDS, QUICK_ROUNDS = 5, 2
SMALLEST, LARGEST = 2_000, 60_000
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)

Numbers = dict[str, float]


def run(options: Options) -> Result:
    """Let the ways take turns."""
    objects, rounds = (QUICK_OBJECTS, QUICK_ROUNDS) if options.quick else (OBJECTS, ROUNDS)
    pages = list(islice(make_pages(), objects))
    size = sum(len(page.body) for page in pages)
    print(f"{objects:,} pages, {size / 1e6:.1f} MB, synced every {BATCH}; the median of {rounds} rounds", flush=True)
    measured: dict[str, list[Numbers]] = {}
    with tempfile.TemporaryDirectory(prefix="rehi-bench-") as name:
        for _ in range(rounds):
            for way, make in WAYS.items():
                measured.setdefault(way, []).append(measure(make, pages, Path(name) / "store"))
    medians = {
        way: {key: statistics.median(one[key] for one in all_of) for key in all_of[0]}
        for way, all_of in measured.items()
    }
    for way, numbers in medians.items():
        print(
            f"{way:25} {numbers['objects_per_second']:8,.0f} objects/s  {numbers['cpu_ms']:6.3f} ms of CPU each  "
            f"{numbers['stored_mb']:7.1f} MB on disk"
        )
    return judge(medians)


def make_pages() -> Iterator[PageVersion]:
    """Pages of 2 to 60 KB, most of them rather small, always the same."""
    words = [f"{stem}{end}" for stem in ("kooli", "linna", "valla", "maja", "metsa", "vee", "tee") for end in _ENDS]
    random = Random("keep")  # noqa: S311 - not for secrets
    number = 0
    while True:
        wanted = int(SMALLEST * (LARGEST / SMALLEST) ** random.random())
        parts, length = [f"<!doctype html><html><head><title>Leht {number}</title></head><body>\n"], 100
        while length < wanted:
            text = " ".join(random.choices(words, k=25))
            parts.append(f'<p id="p{length}"><a href="/lehed/{random.randrange(10**6)}">{text[:20]}</a> {text}</p>\n')
            length += len(parts[-1])
        parts.append("</body></html>\n")
        body = "".join(parts).encode()
        url = f"https://www.asutus{number % 300}.ee/lehed/{number}.html"
        yield PageVersion(url=url, at=_BEGIN + timedelta(seconds=number), media_type="text/html", body=body)
        number += 1


def measure(make: Callable[[Path], Keeper], pages: Sequence[PageVersion], folder: Path) -> Numbers:
    """Keep all pages in one way; what stands before a visit is over counts for nobody."""
    seconds = cpu = 0.0
    try:
        began, cpu_began = perf_counter(), process_time()
        keeper = make(folder)
        seconds, cpu = perf_counter() - began, process_time() - cpu_began
        for start in range(0, len(pages), BATCH):
            with ExitStack() as stack:
                batch = [stack.enter_context(as_visit(page)) for page in pages[start : start + BATCH]]
                began, cpu_began = perf_counter(), process_time()
                keeper.keep(batch)
                seconds, cpu = seconds + perf_counter() - began, cpu + process_time() - cpu_began
        began, cpu_began = perf_counter(), process_time()
        keeper.close()
        seconds, cpu = seconds + perf_counter() - began, cpu + process_time() - cpu_began
        return {
            "objects_per_second": len(pages) / seconds,
            "cpu_ms": cpu * 1000 / len(pages),
            "stored_mb": keeper.stored() / 1e6,
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judge(medians: Mapping[str, Numbers]) -> Result:
    """Hold the medians against the target."""
    ours = medians[OURS]
    peers = {way: numbers for way, numbers in medians.items() if way != OURS}
    ratio = {way: ours["objects_per_second"] / numbers["objects_per_second"] for way, numbers in peers.items()}
    ratio |= {f"CPU, {way}": numbers["cpu_ms"] / ours["cpu_ms"] for way, numbers in peers.items()}
    return Result(
        name="keep",
        target=TARGET,
        settings=SETTINGS.format(batch=BATCH),
        missed=name_missed(
            {f"{ratio[way]:.2f} times {way}, in place of {times}": ratio[way] >= times for way, times in TIMES.items()}
        ),
        ours=_rounded(ours),
        peers={way: _rounded(numbers) for way, numbers in peers.items()},
        ratio={way: round(value, 2) for way, value in ratio.items()},
    )


def _rounded(numbers: Mapping[str, float]) -> dict[str, float | str]:
    return {name: round(value, 4) for name, value in numbers.items()}


_ENDS = (
    "juht", "nõukogu", "elanik", "eelarve", "plaan", "hoone", "komisjon", "selts", "päev", "leht", "töö", "ring", "rahvas",
    "kiri", "uudis", "pood", "valitsus", "park", "sild", "teenus", "arst", "kava", "otsus", "grupp", "muuseum", "aed",
)  # fmt: skip

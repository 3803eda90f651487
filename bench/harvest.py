"""The whole flow over the practice web: documents per second, and where the time goes, room by room.

The peer does the same work the plain way, on some of the same pages: one after another with urllib, BeautifulSoup, and
EstNLTK's own chain of layers for the names. It keeps no versions and writes no graph.
"""

from __future__ import annotations

import os
import re
import resource
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time

from bench.result import Options, Result
from rehi.app import House, utc_now
from rehi.cli.practice import PracticeWeb, practice_web
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.sources import enter, read_in
from rehi.settings import load_settings

TARGET = "at least 10 times as cheap in CPU per Estonian page as the plain way"
PEER_PAGES = 12
ROOMS = ("lease", "visit", "keep", "read", "describe")


def run(options: Options) -> Result:
    """Harvest everything once; then let the peer read a few of the same pages."""
    with tempfile.TemporaryDirectory() as folder, practice_web(Path(folder) / "world.log") as web:
        ours, pages = _harvest(Path(folder), web)
        peer = _plain_way(pages[: 4 if options.quick else PEER_PAGES], web)
    ratio = peer["cpu_ms_per_document"] / ours["cpu_ms_per_document"]
    for name, value in ours.items():
        print(f"{name:32} {value:12,.3f}")
    return Result(name="harvest", ok=ratio >= 10, target=TARGET, ours=ours, peers={"plain way": peer}, ratio=ratio)


def _workers(web: PracticeWeb) -> tuple[float, float]:
    """The CPU seconds and the largest peak in MB of all processes that were started for us, but for the web's."""
    rows: dict[int, tuple[int, float, Path]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # with those of its children that ended
            rows[int(folder.name)] = int(fields[1]), seconds, folder
    ours = {os.getpid()}
    while found := {pid for pid, (parent, _, _) in rows.items() if parent in ours} - ours - {web.process}:
        ours |= found
    ours.remove(os.getpid())
    peaks = [int(re.findall(r"VmHWM:\s+(\d+)", (rows[pid][2] / "status").read_text())[0]) for pid in ours]
    return sum(rows[pid][1] for pid in ours), max(peaks) / 1024


def _harvest(folder: Path, web: PracticeWeb) -> tuple[dict[str, float], list[str]]:
    with House(load_settings(data=folder / "data", fetch=web.fetch)) as house:
        began, cpu = perf_counter(), process_time()
        read_in(house, enter(house, str(web.log)).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
            seconds = perf_counter() - began
            worker_cpu, worker_peak = _workers(web)
        cpu = process_time() - cpu
        totals = house.catalogue.totals(now=utc_now())
        counts = house.catalogue.sources()[0].counts
        rows, _ = house.catalogue.documents(DocumentFilter(media_type="text/html", language="et"), Page(limit=200))
    documents = totals.documents
    ours = {
        "documents": float(documents),
        "seconds": seconds,
        "documents_per_second": documents / seconds,
        "cpu_ms_per_document": (cpu + worker_cpu) * 1000 / documents,
        "coordinator_cpu_ms_per_document": cpu * 1000 / documents,
        "worker_cpu_ms_per_document": worker_cpu * 1000 / documents,  # with loading the models
        "coordinator_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "worker_peak_mb": worker_peak,
    }
    progress = harvest.progress.seconds
    ours |= {f"coordinator_{room}_wall_ms_per_document": progress[room] * 1000 / documents for room in ROOMS}
    ours |= {
        f"worker_{room}_cpu_ms_per_document": counts.get(f"seconds:{room}", 0.0) * 1000 / documents
        for room in ("extract", "enrich")
    }
    return ours, [row.url for row in rows]


def _plain_way(urls: Sequence[str], web: PracticeWeb) -> dict[str, float]:
    import urllib.request

    from bs4 import BeautifulSoup
    from estnltk import Text
    from estnltk.taggers import NerTagger, SentenceTokenizer
    from nltk.tokenize.simple import LineTokenizer  # type: ignore[import-untyped]

    tagger, sentences = NerTagger(), SentenceTokenizer(base_sentence_tokenizer=LineTokenizer())
    began = process_time()
    names = 0
    for url in urls:
        host = url.split("/")[2]
        address = url.replace(host, f"127.0.0.1:{web.port}", 1)
        request = urllib.request.Request(address, headers={"Host": host})  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            text = Text(BeautifulSoup(answer.read(), "lxml").get_text("\n"))
        text.tag_layer(["words"])
        sentences.tag(text)  # its own tokeniser of sentences would have to download its data
        text.tag_layer(["morph_analysis"])
        tagger.tag(text)
        names += len(text.ner)
    cpu = process_time() - began
    return {"documents": float(len(urls)), "cpu_ms_per_document": cpu * 1000 / len(urls), "names": float(names)}

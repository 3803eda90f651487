"""The whole flow over Estonian pages of the practice web: CPU per document, and where the time goes, room by room.

The practice web is harvested once, which tells which of its pages are Estonian and HTML. These are then harvested by us from
the start, in a new data folder, and read by the peer: the same documents on both sides. The peer does the plain thing, one
page after another with urllib, BeautifulSoup, and EstNLTK's own chain of layers for the names; it keeps no versions, obeys no
robots.txt and writes no graph. Its models are loaded before its time begins, ours are loaded within it.
"""

from __future__ import annotations

import os
import re
import resource
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time

from bench.result import Measure, Options, Result, name_missed
from rehi.app import House, utc_now
from rehi.cli.practice import PracticeWeb, practice_web
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.sources import enter, read_in
from rehi.settings import load_settings

TARGET = "at least 10 times as cheap in CPU per Estonian page as the plain way"
TIMES = 10.0
PAGES, QUICK_PAGES = 120, 6
SETTINGS = (
    "the same Estonian HTML pages for both; ours with robots.txt, archive, catalogue, names, graph and the start of its worker "
    "processes; the peer with urllib, BeautifulSoup (lxml) and EstNLTK, models loaded before, nothing kept"
)
ROOMS = ("lease", "visit", "keep", "read", "describe")

Numbers = dict[str, float]


def run(options: Options) -> Result:
    """Find the Estonian pages, then harvest them and let the peer read them."""
    most = options.lines or (QUICK_PAGES if options.quick else PAGES)
    with tempfile.TemporaryDirectory() as name, practice_web(Path(name) / "world.log") as web:
        folder = Path(name)
        everything = _harvest(folder / "everything", str(web.log), web)
        _print("the whole practice web", everything)
        pages = _estonian_pages(folder / "everything", web)[:most]
        (folder / "pages.txt").write_text("\n".join(pages), encoding="utf-8")
        ours = _harvest(folder / "pages", str(folder / "pages.txt"), web)
        _print(f"{len(pages)} Estonian pages", ours)
        peer = _plain_way(pages, web)
        _print("the plain way", peer)
    return judge(ours, peer, {f"whole_web_{name}": value for name, value in everything.items()})


def judge(ours: Numbers, peer: Numbers, whole: Mapping[str, float]) -> Result:
    """Hold the CPU per document against the target; both must have had the same documents."""
    ratio = peer["cpu_ms_per_document"] / ours["cpu_ms_per_document"]
    documents = f"{ours['documents']:.0f} documents, and {peer['documents']:.0f} in the plain way"
    parts = {
        f"{ratio:.1f} times as cheap as the plain way, in place of {TIMES:.0f}": ratio >= TIMES,
        documents: ours["documents"] == peer["documents"],
    }
    shown: dict[str, Measure] = {name: round(value, 3) for name, value in (ours | dict(whole)).items()}
    return Result(
        name="harvest",
        target=TARGET,
        settings=SETTINGS,
        missed=name_missed(parts),
        ours=shown,
        peers={"plain way": {name: round(value, 3) for name, value in peer.items()}},
        ratio=round(ratio, 2),
    )


def _print(title: str, numbers: Numbers) -> None:
    print(title)
    for name, value in numbers.items():
        print(f"  {name:40} {value:12,.3f}", flush=True)


def _workers(web: PracticeWeb) -> tuple[float, float]:
    """Return the CPU seconds and the largest peak in MB of all processes that were started for us, but for the web's."""
    rows: dict[int, tuple[int, float, Path]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # with those of its children that ended
            rows[int(folder.name)] = int(fields[1]), seconds, folder
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _, _) in rows.items() if parent in ours} - ours - {web.process}:
        ours |= more
    ours.remove(os.getpid())
    peaks = [int(re.findall(r"VmHWM:\s+(\d+)", (rows[pid][2] / "status").read_text())[0]) for pid in ours]
    return sum(rows[pid][1] for pid in ours), max(peaks, default=0) / 1024


def _harvest(data: Path, source: str, web: PracticeWeb) -> Numbers:
    """Harvest a source into a new data folder; what that cost."""
    with House(load_settings(data=data, fetch=web.fetch)) as house:
        before, _ = _workers(web)  # the server of processes has the time of those that it started for another harvest
        began, cpu = perf_counter(), process_time()
        read_in(house, enter(house, source).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
            seconds = perf_counter() - began
            worker_cpu, worker_peak = _workers(web)
            worker_cpu -= before
        cpu = process_time() - cpu
        documents = house.catalogue.totals(now=utc_now()).documents
        counts = house.catalogue.sources()[0].counts
    numbers = {
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
    numbers |= {f"coordinator_{room}_wall_ms_per_document": progress[room] * 1000 / documents for room in ROOMS}
    numbers |= {
        f"worker_{room}_cpu_ms_per_document": counts.get(f"seconds:{room}", 0.0) * 1000 / documents
        for room in ("extract", "enrich")
    }
    return numbers


def _estonian_pages(data: Path, web: PracticeWeb) -> list[str]:
    with House(load_settings(data=data, fetch=web.fetch)) as house:
        rows, _ = house.catalogue.documents(DocumentFilter(media_type="text/html", language="et"), Page(limit=200))
    return [row.url for row in rows]


def _plain_way(urls: Sequence[str], web: PracticeWeb) -> Numbers:
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

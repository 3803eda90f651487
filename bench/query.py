"""The thesis's questions over as many statements as the thesis had, beside RDFLib, which the thesis used, and pyoxigraph.

A graph in the thesis's shape is made (``query_graph.py``) and given to all three. We are asked as the endpoint is: the text
of the query, prefixes and limits and all, in a process that can be killed, and the answer as JSON, which is parsed. RDFLib has
the graph in memory and its queries parsed before; pyoxigraph has the same store on disk, in this process and without limits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import orjson

from bench.query_graph import changes, named
from bench.result import Measure, Options, Result, name_missed
from rehi.app import House
from rehi.builtin import load
from rehi.graph import prepare_query
from rehi.graph.vocabulary import PREFIXES
from rehi.ports import Graph, GraphChange
from rehi.settings import load_settings

TARGET = "each question about one thing in under 100 ms, at the thesis's 224,198 statements"
STATEMENTS, QUICK_STATEMENTS = 224_198, 15_000
LIMIT_MS = 100.0
ASKED = 9  # times; the median counts
BATCH = 2_000  # changes that are written at once
QUESTIONS = {
    "one person": """SELECT DISTINCT * WHERE { {{?obj foaf:name "%(person)s"} UNION {?obj ner:lemma "%(person)s"}}.
        ?obj ner:mentionedAtSite ?webpage } ORDER BY ?webpage""",
    "one place": """SELECT DISTINCT * WHERE { {{?obj ner:locationName "%(place)s"} UNION {?obj ner:lemma "%(place)s"}}.
        ?obj ner:mentionedAtSite ?webpage } ORDER BY ?webpage""",
    "one organisation": """SELECT DISTINCT * WHERE {
        {{?obj ner:orgName "%(organisation)s"} UNION {?obj ner:lemma "%(organisation)s"}}.
        ?obj ner:mentionedAtSite ?webpage } ORDER BY ?webpage""",
    "people on one page": """SELECT ?gname ?fname WHERE { ?obj foaf:givenName ?gname . ?obj foaf:familyName ?fname .
        ?obj ner:mentionedAtSite <%(page)s> }""",
    "all organisations": """SELECT DISTINCT * WHERE { ?obj ner:orgName ?name . ?obj ner:mentionedAtSite ?webpage }
        ORDER BY ?name ?webpage""",
}

Ask = Callable[[str], int]  # a question's answer, counted


def run(options: Options) -> Result:
    """Make the graph, then ask us, RDFLib and pyoxigraph the same questions over the same statements."""
    wanted = options.lines or (QUICK_STATEMENTS if options.quick else STATEMENTS)
    with tempfile.TemporaryDirectory() as name, House(load_settings(data=Path(name) / "data")) as house:
        house.begin_catalogue()  # the graph alone would tell that one was lost
        everything = list(changes(wanted, house.settings.base))
        _write(house, everything)
        asked = named()
        questions = {name: text % (asked.names | {"page": asked.page}) for name, text in QUESTIONS.items()}
        size = house.graph.size()
        print(f"{size:,} statements", flush=True)
        asks: dict[str, Ask] = {
            "ours": partial(_ask_us, house),
            "RDFLib": _rdflib(everything, questions),
            "pyoxigraph": _pyoxigraph(everything, Path(name) / "raw"),
        }
        times, counts = _measure(questions, asks)
    return judge(size, times, counts)


def _write(house: House, everything: Sequence[GraphChange]) -> None:
    """Write the graph as the one worker does who owns it, and publish it for queries."""
    uri = house.settings.graph_uri
    graph: Graph = load("graph", uri.partition(":")[0])(uri, base=house.settings.base, writable=True)
    try:
        for start in range(0, len(everything), BATCH):
            graph.write(everything[start : start + BATCH])
        graph.publish()
    finally:
        graph.close()


def _measure(
    questions: Mapping[str, str], asks: Mapping[str, Ask]
) -> tuple[dict[str, dict[str, float]], dict[str, set[int]]]:
    """Return the milliseconds by who is asked and what, and how many rows each question was answered with."""
    times: dict[str, dict[str, float]] = {who: {} for who in asks}
    counts: dict[str, set[int]] = {name: set() for name in questions}
    for name, text in questions.items():
        for who, ask in asks.items():
            counts[name].add(ask(text))  # the first time, which is left out
            times[who][name] = _median_ms(partial(ask, text))
        shown = "   ".join(f"{who} {times[who][name]:9.2f} ms" for who in asks)
        print(f"{name:20} {shown}   {max(counts[name]):,} rows", flush=True)
    return times, counts


def _median_ms(ask: Callable[[], int]) -> float:
    times = []
    for _ in range(ASKED):
        began = perf_counter()
        ask()
        times.append(perf_counter() - began)
    return median(times) * 1000


def judge(size: int, times: Mapping[str, Mapping[str, float]], counts: Mapping[str, set[int]]) -> Result:
    """Hold our times against the target; all must have answered alike, and with something."""
    ours = times["ours"]
    peers: dict[str, Measure] = {who: _rounded(numbers) for who, numbers in times.items() if who != "ours"}
    parts = {
        f"{name}: {milliseconds:.0f} ms, in place of {LIMIT_MS:.0f}": milliseconds < LIMIT_MS
        for name, milliseconds in ours.items()
        if not name.startswith("all")
    }
    parts |= {
        f"{name}: {sorted(rows)} rows by who was asked": len(rows) == 1 and 0 not in rows
        for name, rows in counts.items()
    }
    parts[f"{size:,} statements, in place of {STATEMENTS:,}"] = size >= STATEMENTS
    return Result(
        name="query",
        target=TARGET,
        settings=f"{size:,} statements; ours over the endpoint's way with its limits, JSON parsed; RDFLib in memory with "
        "parsed queries; pyoxigraph on disk, in this process, without limits",
        missed=name_missed(parts),
        ours=_rounded(ours),
        peers=peers,
        ratio={
            f"{name}, {who}": round(numbers[name] / ours[name], 2)
            for who, numbers in times.items()
            if who != "ours"
            for name in ours
        },
    )


def _rounded(numbers: Mapping[str, float]) -> dict[str, float | str]:
    return {name: round(value, 3) for name, value in numbers.items()}


def _ask_us(house: House, text: str) -> int:
    answer = house.query(text, media_type="application/sparql-results+json")
    return len(orjson.loads(b"".join(answer.chunks))["results"]["bindings"])


def _rdflib(everything: list[GraphChange], questions: Mapping[str, str]) -> Ask:
    import rdflib
    from rdflib.plugins.sparql import prepareQuery

    lines = "".join(f"{triple} .\n" for change in everything for triple in change.triples)
    graph = rdflib.Graph().parse(data=lines, format="nt")
    prepared = {text: prepareQuery(text, initNs=dict(PREFIXES)) for text in questions.values()}
    return lambda text: len(list(graph.query(prepared[text])))


def _pyoxigraph(everything: list[GraphChange], folder: Path) -> Ask:
    from pyoxigraph import Quad, QuerySolutions, Store

    store = Store(folder)
    store.bulk_extend(
        Quad(triple.subject, triple.predicate, triple.object, change.graph)
        for change in everything
        for triple in change.triples
    )

    def ask(text: str) -> int:
        rows = store.query(prepare_query(text).text, use_default_graph_as_union=True)
        assert isinstance(rows, QuerySolutions)
        return sum(1 for _ in rows)

    return ask

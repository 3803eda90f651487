"""The thesis's queries over the harvested practice web, beside RDFLib, the engine that the thesis used."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import orjson
from rdflib import Graph

from bench.result import Options, Result
from rehi.app import House
from rehi.cli.practice import practice_web
from rehi.graph import prepare_query
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.sources import enter, read_in
from rehi.settings import load_settings

TARGET = "each question about one thing in under 100 ms"
ASKED = 9  # times; the median counts
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


def run(options: Options) -> Result:
    """Harvest the practice web, then ask us and RDFLib the same questions over the same statements."""
    with (
        tempfile.TemporaryDirectory() as folder,
        practice_web(Path(folder) / "world.log") as web,
        House(load_settings(data=Path(folder) / "data", fetch=web.fetch)) as house,
    ):
        read_in(house, enter(house, str(web.log)).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
        questions = _questions(house)
        ours = {name: _time(partial(_ask_us, house, text)) for name, text in questions.items()}
        peer = _rdflib(house, questions)
    for name in questions:
        print(f"{name:24} ours {ours[name]:8.1f} ms   RDFLib {peer[name]:8.1f} ms")
    ok = all(milliseconds < 100 for name, milliseconds in ours.items() if not name.startswith("all"))
    ratio = {name: peer[name] / ours[name] for name in questions}
    return Result(name="query", ok=ok, target=TARGET, ours=ours, peers={"RDFLib": peer}, ratio=ratio)


def _questions(house: House) -> dict[str, str]:
    rows, _ = house.catalogue.documents(DocumentFilter(language="et", media_type="text/html"), Page(limit=1))
    names = {row.key.kind: row.name for row in reversed(house.catalogue.find_entities("", Page(limit=500)))}
    return {name: text % (names | {"page": rows[0].url}) for name, text in QUESTIONS.items()}


def _ask_us(house: House, text: str) -> int:
    answer = house.query(text, media_type="application/sparql-results+json")
    return len(orjson.loads(b"".join(answer.chunks))["results"]["bindings"])


def _time(ask: Callable[[], int]) -> float:
    """Milliseconds, the first question left out."""
    if not ask():
        raise RuntimeError("a question has no answer")
    times = []
    for _ in range(ASKED):
        began = perf_counter()
        ask()
        times.append(perf_counter() - began)
    return median(times) * 1000


def _rdflib(house: House, questions: dict[str, str]) -> dict[str, float]:
    everything = house.query("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", media_type="application/n-triples")
    graph = Graph().parse(data=b"".join(everything.chunks), format="nt")
    print(f"{len(graph):,} statements")
    return {name: _time(partial(_ask_rdflib, graph, text)) for name, text in questions.items()}


def _ask_rdflib(graph: Graph, text: str) -> int:
    return len(list(graph.query(prepare_query(text))))

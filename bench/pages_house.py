"""The house of the pages benchmark: tens of thousands of pages of a crawl made elsewhere, taken in, read and linked.

python -m bench.pages_house DATA COUNT

The crawl is written as a WARC file, for nobody need be visited then, and goes into the catalogue as ``rehi add`` takes it in.
Its pages are texts of the practice web, no two alike, on hosts of which a few are large; some were captured several times. They
are read as a harvest reads them, but for the names: that who wrote the texts knows which names are in them takes a
tenth of the time that finding them does. The graph, which no page of the benchmark asks, is told of nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from itertools import count as count_from
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.frontier_web import origin, sizes
from rehi.app import House, utc_now
from rehi.archive import DerivedFiles, write_reading
from rehi.builtin import load_all
from rehi.extract import hint_of, read_bytes
from rehi.extract.body import file_name
from rehi.graph.topics import load_topics
from rehi.link import link
from rehi.model.codec import to_json
from rehi.model.document import Document, Mention, Reading
from rehi.model.work import FacetBrief, ReadingFacts, ReadingKey, ReadResult, ReadTask
from rehi.operations.sources import enter, read_in
from rehi.pipeline.read_rules import READ_RULES
from rehi.pipeline.reading import ReadDocument, ReadingPlan, current_recipe, to_readings
from rehi.settings import Settings, load_settings
from rehi.testing.world.charsets import UTF8
from rehi.testing.world.names import Population
from rehi.testing.world.pages import Design, Frame, render_page
from rehi.testing.world.texts import TOPICS, Text, TextSpec, compose

PAGES_OF_A_HOST = 50  # on average; a few have thousands
PAGES_OF_A_REGION = 500  # which have their people in common
WORDS = 150
SEVERAL, CAPTURES = 20, 4  # one page in so many was captured so often
_BEGAN = datetime(2014, 3, 1, tzinfo=UTC)
_NUMBER = re.compile(r"-(\d+)\.html$")
_PARCEL = 200  # pages that are read together, and recorded in one transaction
_TTL = 3600.0


def house_settings(data: Path) -> Settings:
    """Return the settings under which the house is filled."""
    return load_settings(data=data, work={"graph": False})


def fill_house(data: Path, count: int) -> None:
    """Make a house of so many pages."""
    data.mkdir(parents=True, exist_ok=True)
    crawl = data.parent / "crawl.warc"
    write_crawl(crawl, count)
    with House(house_settings(data)) as house:
        read_in(house, enter(house, str(crawl)).id)
        _read_all(house)
        _forget_graph(house)
    crawl.unlink()


def write_crawl(path: Path, count: int) -> None:
    """Write the captures of so many pages, always the same."""
    with path.open("wb") as file:
        for number, url in enumerate(page_urls(count)):
            for capture in range(_captures(number)):
                body = render_page(
                    _text(number, capture), _design(number), UTF8, Frame(site="Rehemaa", links=[]), url=url
                )
                file.write(_record(url, body, _BEGAN + timedelta(seconds=number, days=200 * capture)))


def page_urls(count: int) -> Iterator[str]:
    """Yield the URLs of so many pages, host by host; each ends with its number."""
    numbers = count_from()
    for host, pages in enumerate(sizes(count, max(1, count // PAGES_OF_A_HOST))):
        for _ in range(pages):
            yield f"{origin(host)}/uudised/2014/leht-{next(numbers)}.html"


def _captures(number: int) -> int:
    return CAPTURES if number % SEVERAL == 0 else 1


def _design(number: int) -> Design:
    return tuple(Design)[number % len(Design)]


@cache
def _population(region: int) -> Population:
    return Population(region)


def _text(number: int, capture: int) -> Text:
    order = TextSpec(
        seed=7,
        key=f"page {number} {capture}",
        language="en" if number % 3 == 2 else "et",
        topic=TOPICS[number % len(TOPICS)],
        words=WORDS,
    )
    return compose(_population(number // PAGES_OF_A_REGION), order)


def _record(url: str, body: bytes, at: datetime) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<urn:sha256:{sha256(f'{at} {url}'.encode()).hexdigest()}>",
        "WARC-Date": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "WARC-Target-URI": url,
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": len(head) + len(body),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + head + body + b"\r\n\r\n"


def _read_all(house: House) -> None:
    """Read all that waits, in as many processes as there are cores, and record it."""
    work, workers = house.settings.work, os.cpu_count() or 1
    plan = ReadingPlan(open_archive=house.archive_opener, worker=house.worker, work=work, recipe=current_recipe(work))
    with (
        closing(house.open_derived()) as shelf,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        derived = DerivedFiles(shelf, worker=house.worker, clock=utc_now, file_bytes=house.settings.archive.file_bytes)
        reading: list[tuple[Sequence[ReadTask], Future[list[ReadDocument]]]] = []
        while True:
            claims = house.catalogue.claim(("read",), worker=house.worker, limit=_PARCEL, ttl=_TTL, now=utc_now())
            if claims:
                tasks = house.catalogue.read_tasks(claims)
                reading.append((tasks, pool.submit(read_known, plan, tasks, utc_now())))
            if reading and (not claims or len(reading) > 2 * workers):
                tasks, future = reading.pop(0)
                _record_reads(house, derived, plan, tasks, future.result())
            elif not claims:
                break


def _record_reads(
    house: House, derived: DerivedFiles, plan: ReadingPlan, tasks: Sequence[ReadTask], read: Sequence[ReadDocument]
) -> None:
    keys = [ReadingKey(task.blob_id, plan.recipe, hint_of(task.url, task.media_type)) for task in tasks]
    resources = {key: task.resource_id for key, task in zip(keys, tasks, strict=True)}
    readings = to_readings(dict(zip(keys, read, strict=True)), house.catalogue, derived, resources)
    derived.sync()
    results = [ReadResult(task=task, reading=readings[key]) for task, key in zip(tasks, keys, strict=True)]
    house.catalogue.record_reads(results, rules=READ_RULES, worker=house.worker, now=utc_now())


def read_known(plan: ReadingPlan, tasks: Sequence[ReadTask], at: datetime) -> list[ReadDocument]:
    """Read pages of which is known what is in them."""
    archive = plan.open_archive()
    documents = []
    for task in tasks:
        with archive.open_body(task.body) as body:
            name = file_name(task.url)
            document = read_bytes(body, name=name, media_type=task.media_type, size=task.size, max_text=10**6)
        documents.append(_understand(plan, task, document, at))
    return documents


def _understand(plan: ReadingPlan, task: ReadTask, document: Document, at: datetime) -> ReadDocument:
    """Return what is to be kept of a page, with the names that its author put in."""
    match = _NUMBER.search(task.url)
    assert match is not None
    number = int(match[1])
    texts = [_text(number, capture) for capture in range(_captures(number))]
    known: Mapping[str, Any] = {"language": texts[0].language, "names": _mentions(document.text, texts)}
    facets: dict[str, Any] = {}
    encoded, briefs = {}, []
    for facet_name, facet in load_all("facet").items():
        value = known[facet_name] if facet_name in known else facet.find(document, facets)
        if value is not None:
            facets[facet_name] = value
            encoded[facet_name] = to_json({"version": facet.version, "value": facet.encode(value)})
            if (brief := facet.brief(value)) is not None:
                briefs.append(FacetBrief(name=facet_name, version=facet.version, data=to_json(brief)))
    reading = Reading(document=document, facets=facets, recipe=plan.recipe)
    records = write_reading(
        reading, url=task.url, digest=task.digest, body=task.body, at=at, worker=plan.worker, encoded=encoded
    )
    facts = ReadingFacts(
        media_type=document.media_type,
        title=document.title,
        language=reading.language,
        characters=len(document.text),
        names=len(reading.mentions),
    )
    return ReadDocument(
        facts=facts,
        identities=link(reading.mentions),
        records=records,
        recipe=plan.recipe,
        failures={},
        parts=document.parts,
        tables=document.tables,
        briefs=tuple(briefs),
    )


def _mentions(text: str, texts: Sequence[Text]) -> tuple[Mention, ...]:
    """Return where a text has the names that its author put into one of these."""
    names = {surface: (kind, base) for one in texts for kind, base, surface in one.truth.surfaces}
    if not names:
        return ()
    pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    mentions = []
    for match in re.finditer(rf"\b(?:{pattern})\b", text):
        kind, base = names[match[0]]
        given, _, family = base.rpartition(" ") if kind == "person" else ("", "", "")
        mentions.append(
            Mention(
                kind=kind,
                start=match.start(),
                end=match.end(),
                surface=match[0],
                name=base,
                given=given,
                family=family,
            )
        )
    return tuple(mentions)


def _forget_graph(house: House) -> None:
    """Strike out what the graph was to be told, as if it were written: a house whose work is done has none waiting."""
    while claims := house.catalogue.claim(
        list(load_topics()), worker=house.worker, limit=10_000, ttl=_TTL, now=utc_now()
    ):
        house.catalogue.finish(claims)


def main(data: str, count: str) -> None:
    """Fill a house."""
    fill_house(Path(data), int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])

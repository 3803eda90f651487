"""A harvest of the practice web: everything good is kept and read, everything bad is named, nothing is rude."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import orjson
import pytest
from warcio.checker import Checker

from rehi.app import House, utc_now
from rehi.archive import WholeRecord
from rehi.model.listing import DocumentFilter, DocumentRow, Page
from rehi.model.visit import Outcome
from rehi.operations.sources import enter, read_in
from rehi.pipeline import visits
from rehi.settings import load_settings
from rehi.testing.snapshot import take_snapshot
from rehi.testing.waiting import PATIENCE
from rehi.testing.world import World, WorldServer
from tests.conftest import Harvested, settings_for


@pytest.fixture(scope="module")
def house(harvested: Harvested) -> Iterator[House]:
    with House(harvested.settings) as opened:
        yield opened


@pytest.fixture(scope="module")
def rows(house: House) -> dict[str, DocumentRow]:
    return {row.url: row for row in house.catalogue.documents(DocumentFilter(), Page(limit=1000))[0]}


@pytest.fixture(scope="module")
def codes(house: House) -> dict[str, str]:
    return {row.subject: row.code for row in house.catalogue.problems(stage=None, page=Page(limit=1000))[0]}


def follow(url: str, rows: dict[str, DocumentRow]) -> str:
    """Where the redirects lead."""
    for _ in range(12):
        url = rows[url].redirect_to or url
    return url


def test_every_url_ends_as_it_must(harvested: Harvested, rows: dict[str, DocumentRow], codes: dict[str, str]) -> None:
    wrong = {}
    for url in harvested.world.urls():
        last = follow(url, rows)
        row = rows[last]
        good = row.state in (Outcome.NEW, Outcome.UNCHANGED, Outcome.REDIRECT)
        came = "ok" if good else codes.get(last, row.state)
        allowed = harvested.world.expect(url)
        waits_for_its_host = row.state == "waiting" and "host-deferred" in allowed
        if came not in allowed and not waits_for_its_host:
            wrong[url] = (came, allowed)
    assert wrong == {}


def test_every_good_document_is_kept_byte_for_byte(harvested: Harvested, house: House) -> None:
    for document in harvested.world.documents:
        (version,) = house.catalogue.versions(document.url)
        with house.archive.open_body(version.body) as body:
            assert body.read() == harvested.world.body(document.url), document.url


def test_exact_duplicates_are_stored_once(harvested: Harvested, house: House) -> None:
    copies = [document for document in harvested.world.documents if document.copy_of]
    assert copies
    for copy in copies:
        (version,) = house.catalogue.versions(copy.url)
        (original,) = house.catalogue.versions(str(copy.copy_of))
        assert version.body == original.body
        assert version.record != original.record


def test_every_format_and_charset_is_read(harvested: Harvested, rows: dict[str, DocumentRow], house: House) -> None:
    read: Counter[tuple[str, str]] = Counter()
    for document in harvested.world.documents:
        text = house.reading(rows[document.url].resource_id).document.text
        assert len(text) > 50, document.url
        assert "Ã" not in text, document.url
        read[document.format, document.charset.name] += 1
    assert {form for form, _ in read} >= {"html", "pdf", "txt", "csv", "json", "xml"}
    assert {charset for _, charset in read} >= {"utf-8", "iso-8859-1", "iso-8859-15", "windows-1257"}


@pytest.mark.parametrize("language", ["et", "en"])
def test_the_names_that_the_pages_hold_are_found(
    harvested: Harvested, rows: dict[str, DocumentRow], house: House, language: str
) -> None:
    wanted = found = 0
    for document in harvested.world.documents:
        if document.language != language:
            continue
        here = {
            (name.key.kind, name.name.casefold())
            for name in house.catalogue.outline(rows[document.url].resource_id).names
        }
        truth = {(kind, base.casefold()) for kind, base in harvested.world.truth(document.url).names}
        wanted += len(truth)
        found += len(truth & here)
    assert wanted > 300
    assert found / wanted >= 0.85


def test_the_language_of_nearly_every_page_is_known(harvested: Harvested, rows: dict[str, DocumentRow]) -> None:
    right = [rows[document.url].language == document.language for document in harvested.world.documents]
    assert sum(right) / len(right) > 0.95


def test_the_archive_passes_the_checker_of_warcio(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(path) for path in sorted(house.archive_folder.glob("*.warc.gz"))]
    assert files

    class Arguments:
        inputs = files
        verbose = False
        exit_value = 0

    checker = Checker(Arguments())
    checker.process_all()
    assert checker.exit_value == 0, capsys.readouterr().out


def test_redirects_lead_to_the_page_itself(harvested: Harvested, rows: dict[str, DocumentRow]) -> None:
    lawful = [redirect for redirect in harvested.world.redirects if not redirect.expect]
    assert lawful
    for redirect in lawful:
        last = follow(redirect.url, rows)
        assert last != redirect.url
        assert rows[last].versions == 1, redirect.url


THESIS = {
    "one person": """SELECT DISTINCT * WHERE {
        {{?obj foaf:name "%(person)s"} UNION {?obj ner:lemma "%(person)s"}}.
        ?obj ner:mentionedAtSite ?webpage } ORDER BY ?webpage""",
    "one place": """SELECT DISTINCT * WHERE {
        {{?obj ner:locationName "%(place)s"} UNION {?obj ner:lemma "%(place)s"}}.
        ?obj ner:mentionedAtSite ?webpage } ORDER BY ?webpage""",
    "one organisation": """SELECT DISTINCT * WHERE {
        {{?obj ner:orgName "%(organisation)s"} UNION {?obj ner:lemma "%(organisation)s"}}.
        ?obj ner:mentionedAtSite ?webpage } ORDER BY ?webpage""",
    "people on one page": """SELECT ?gname ?fname WHERE {
        ?obj foaf:givenName ?gname . ?obj foaf:familyName ?fname . ?obj ner:mentionedAtSite <%(page)s> }""",
    "organisations on one page": "SELECT ?name WHERE { ?obj ner:mentionedAtSite <%(page)s> . ?obj ner:orgName ?name }",
    "places on one page": "SELECT ?name WHERE { ?obj ner:mentionedAtSite <%(page)s> . ?obj ner:locationName ?name }",
}


@pytest.mark.parametrize("question", THESIS)
def test_the_queries_of_the_thesis_are_answered_at_once(house: House, question: str) -> None:
    page = next(row.url for row in house.catalogue.documents(DocumentFilter(language="et"), Page(limit=1))[0])
    names = {row.key.kind: row.name for row in reversed(house.catalogue.find_entities("", Page(limit=200)))} | {
        "page": page
    }

    def ask() -> tuple[float, int]:
        began = perf_counter()
        answer = house.query(THESIS[question] % names, media_type="application/sparql-results+json")
        rows = orjson.loads(b"".join(answer.chunks))["results"]["bindings"]
        return perf_counter() - began, len(rows)

    ask()  # the reader process starts with the first question
    times = [ask() for _ in range(5)]
    assert min(seconds for seconds, _ in times) < 10  # `make bench NAME=query` holds it to 0.1 s
    assert times[0][1] > 0


def test_a_page_that_changes_gets_a_version_and_says_only_what_it_says_now(tmp_path: Path) -> None:
    world = World(seed=1, small=True)
    with WorldServer(world) as server:
        page = next(d.url for d in world.documents if d.period and d.language == "et" and d.format == "html")
        source = tmp_path / "one.txt"
        source.write_text(page, encoding="utf-8")
        settings = settings_for(tmp_path, server)
        settings = settings.model_copy(
            update={"revisit": settings.revisit.model_copy(update={"shortest": 0.5, "longest": 0.5})}
        )
        before = world.truth(page)
        with House(settings) as house:
            read_in(house, enter(house, str(source)).id)
            harvest_once(house)
            first = mentioned(house, page)
            harvest_once(house)
            assert len(house.catalogue.versions(page)) == 1
            world.clock.advance(3 * 86_400)
            after = world.truth(page)
            assert before.names != after.names
            harvest_once(house)
            second = mentioned(house, page)
            assert len(house.catalogue.versions(page)) == 2
        gone = {base for _, base in before.names} - {base for _, base in after.names | after.also}
        assert gone & first
        assert not gone & second


def harvest_once(house: House) -> None:
    """Until a page is due and has been visited, and read and described if it is new."""
    with house.working() as harvest:
        counts = harvest.progress.counts
        deadline = time.monotonic() + PATIENCE
        harvest.run(
            until_idle=False,
            stopped=lambda: (
                time.monotonic() > deadline
                or (counts["visited"] >= 1 and counts["read"] == counts["new"] and harvest.settled)
            ),
        )


def mentioned(house: House, page: str) -> set[str]:
    query = (
        f"SELECT ?name WHERE {{ ?who ner:mentionedAtSite <{page}> . "
        "{ ?who foaf:name ?name } UNION { ?who ner:orgName ?name } UNION { ?who ner:locationName ?name } }"
    )
    house.graph.publish()
    answer = house.query(query, media_type="application/sparql-results+json")
    return {row["name"]["value"] for row in orjson.loads(b"".join(answer.chunks))["results"]["bindings"]}


def test_a_host_is_never_asked_twice_at_once_or_too_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "URLS_PER_LEASE", 2)  # so that a host is leased several times, with rests between
    delay = 0.25
    world = World(seed=1, small=True)
    with WorldServer(world) as server:
        by_host: dict[str, list[str]] = defaultdict(list)
        for document in world.documents:
            by_host[document.url.split("/")[2]].append(document.url)
        hosts = sorted(by_host, key=lambda host: -len(by_host[host]))[:4]
        source = tmp_path / "few.txt"
        source.write_text("\n".join(url for host in hosts for url in by_host[host][:6]), encoding="utf-8")
        fetch = settings_for(tmp_path, server).fetch.model_dump() | {"delay": delay}
        with House(load_settings(data=tmp_path / "data", fetch=fetch)) as house:
            read_in(house, enter(house, str(source)).id)
            with house.working() as harvest:
                harvest.run(until_idle=True, stopped=lambda: False)
        for host in hosts:
            times = [seen.at for seen in server.requests if seen.host == host]
            assert len(times) == 1 + len(by_host[host][:6])  # robots.txt and every page, though leases ended between
            assert min(later - sooner for sooner, later in pairwise(times)) >= delay


def test_a_graph_that_was_lost_is_written_again(practice_web: WorldServer, tmp_path: Path) -> None:
    source = tmp_path / "few.txt"
    source.write_text("\n".join(document.url for document in practice_web.world.documents[:5]), encoding="utf-8")
    settings = settings_for(tmp_path, practice_web)
    with House(settings) as house:
        read_in(house, enter(house, str(source)).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
        before = take_snapshot(house).statements
    assert len(before) > 50
    shutil.rmtree(settings.data / "graph")
    command = [sys.executable, "-m", "rehi", "--data", str(settings.data), "harvest", "--graph-anew", "--json"]
    assert subprocess.run(command, capture_output=True, timeout=5 * PATIENCE, check=False).returncode == 0
    with House(settings) as house:
        assert take_snapshot(house).statements == before


def test_a_document_that_takes_too_long_is_set_aside_and_kept(tmp_path: Path) -> None:
    world = World(seed=1, small=True)
    with WorldServer(world) as server:
        page = next(d.url for d in world.documents if d.language == "et" and d.format == "html")
        source = tmp_path / "one.txt"
        source.write_text(page, encoding="utf-8")
        settings = settings_for(tmp_path, server)
        settings = settings.model_copy(update={"work": settings.work.model_copy(update={"timeout": 0.05})})
        with House(settings) as house:
            read_in(house, enter(house, str(source)).id)
            with house.working() as harvest:
                harvest.run(until_idle=True, stopped=lambda: False)
            (problem,), _ = house.catalogue.problems(stage=None, page=Page())
            assert (problem.code, problem.subject, problem.next_step) == ("read-timeout", page, "quarantine")
            assert len(house.catalogue.versions(page)) == 1
            assert house.catalogue.totals(now=utc_now()).to_read == 0


def test_each_file_says_how_its_pages_were_visited(harvested: Harvested, house: House) -> None:
    for walk in house.archive.walks():
        first = next(walk.records())
        assert isinstance(first, WholeRecord)
        assert first.fields.kind == "warcinfo"
        lines = first.block.decode().splitlines()
        assert f"http-header-user-agent: {harvested.settings.fetch.user_agent}" in lines
        assert "robots: RFC 9309" in lines

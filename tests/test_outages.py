"""Engines go away under a running harvest, and come back: it waits, says so, and loses and doubles nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from rehi.app import House, utc_now
from rehi.errors import CatalogueAway
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Stage
from rehi.operations.sources import enter, read_in
from rehi.serve import running
from rehi.service import Service
from rehi.settings import Settings, load_settings
from rehi.testing.postgres import PostgresServer
from rehi.testing.waiting import wait_until
from tests.changing_site import ChangingSite
from tests.conftest import kill_fork_server
from tests.serve.conftest import ask_at

PAGES = 8


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite(pages=PAGES) as site:
        yield site


def settings_of(folder: Path, site: ChangingSite, catalogue: str = "", **work: object) -> Settings:
    return load_settings(
        data=folder / "data",
        catalogue=catalogue,
        fetch={"allow_private": ["127.0.0.0/8"], "ports": [site.port], "delay": 0.05, "soft_errors": False},
        work={"workers": 1, "enrich": False, **work},
    )


def add(house: House, site: ChangingSite) -> None:
    log = house.settings.data / "pages.txt"
    log.write_text("".join(f"{url}\n" for url in site.urls))
    read_in(house, enter(house, str(log)).id)


@contextmanager
def serving(house: House) -> Iterator[Service]:
    service = Service(house)
    service.start()
    try:
        yield service
    finally:
        service.stop()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process, as it were, has the database for itself."""
    with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def wait_for(service: Service, code: str) -> None:
    wait_until(lambda: code in {outage.code for outage in service.status.outages}, what=f"{code} is said")


def wait_for_the_end(house: House, service: Service) -> None:
    def done() -> bool:
        totals = house.catalogue.totals(now=utc_now())
        busy = (totals.to_read, totals.to_describe, totals.waiting)
        return totals.visits >= PAGES and busy == (0, 0, 0) and not service.status.outages

    wait_until(done, what="all is visited, read and described")


def said(house: House) -> dict[str, str]:
    """What is on the problems list about the service."""
    problems, _ = house.catalogue.problems(stage=Stage.SERVICE, page=Page(limit=100))
    return {problem.code: problem.message for problem in problems}


def assert_all_once(house: House, site: ChangingSite) -> None:
    """Every answer that the site gave is a version, and no visit is on record twice."""
    rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=100))
    kept = {
        row.url.removeprefix(site.origin): [one.digest for one in house.catalogue.versions(row.url)] for row in rows
    }
    assert {path: set(digests) for path, digests in kept.items()} == dict(site.said)
    assert sum(map(len, kept.values())) == site.requests
    assert house.catalogue.totals(now=utc_now()).visits == site.requests
    problems, _ = house.catalogue.problems(stage=None, page=Page(limit=100))
    assert {problem.stage for problem in problems} <= {Stage.SERVICE}


def test_a_database_that_is_locked_for_long_is_waited_for(tmp_path: Path, site: ChangingSite) -> None:
    path = tmp_path / "catalogue.db"
    with House(settings_of(tmp_path, site, f"sqlite:///{path}?timeout=0.05")) as house:
        add(house, site)
        with serving(house) as service:
            wait_until(lambda: site.requests, what="the first page was visited")
            with locked(path):
                wait_for(service, "catalogue-away")
            wait_for_the_end(house, service)
            wait_until(lambda: "so it was for" in said(house).get("catalogue-away", ""), what="it is on the list")
        assert service.error is None
        assert_all_once(house, site)


def test_a_harvest_waits_for_as_long_as_it_may_and_ends_with_a_sentence(tmp_path: Path, site: ChangingSite) -> None:
    path = tmp_path / "catalogue.db"
    with House(settings_of(tmp_path, site, f"sqlite:///{path}?timeout=0.05", patience=0.3)) as house:
        add(house, site)
        with house.working() as harvest, locked(path), pytest.raises(CatalogueAway, match="locked"):
            harvest.run(until_idle=True, stopped=lambda: False)
        with house.working() as harvest:  # the next one goes on
            harvest.run(until_idle=True, stopped=lambda: False)
        assert_all_once(house, site)


def test_a_harvest_that_waits_is_stopped_at_once(tmp_path: Path, site: ChangingSite) -> None:
    path = tmp_path / "catalogue.db"
    with House(settings_of(tmp_path, site, f"sqlite:///{path}?timeout=0.05")) as house:
        add(house, site)
        looks: list[int] = []
        with house.working() as harvest, locked(path):
            harvest.run(until_idle=True, stopped=lambda: bool(looks.append(1)) or len(looks) > 3)  # type: ignore[func-returns-value]
        assert len(looks) < 10


def test_a_graph_that_can_not_be_written_for_a_while_stops_nothing_else(tmp_path: Path, site: ChangingSite) -> None:
    with House(settings_of(tmp_path, site)) as house:
        store = house.settings.data / "graph" / "store"
        with serving(house) as service:
            wait_until(lambda: house.catalogue.workers(now=utc_now()), what="the harvest has begun")
            store.rename(store.with_name("elsewhere"))  # nothing is written to it now
            store.write_text("something else stands in its place, as on a disk that is mounted over it")
            add(house, site)
            wait_for(service, "graph-away")
            wait_until(lambda: house.catalogue.totals(now=utc_now()).documents == PAGES, what="all pages were read")
            store.unlink()
            store.with_name("elsewhere").rename(store)
            wait_for_the_end(house, service)
            wait_until(lambda: "so it was for" in said(house).get("graph-away", ""), what="it is on the list")
        assert_all_once(house, site)
        answer = house.query("SELECT (COUNT(DISTINCT ?d) AS ?n) { ?d a foaf:Document }", media_type="text/csv")
        assert b"".join(answer.chunks).split() == [b"n", str(PAGES).encode()]


def test_killed_fork_servers_stop_no_reading(tmp_path: Path, site: ChangingSite) -> None:
    with House(settings_of(tmp_path, site)) as house, serving(house) as service:
        add(house, site)
        for kills in range(4):
            read = lambda kills=kills: service.status.counts.get("read", 0) > kills  # noqa: E731
            wait_until(read, what="something was read since the last kill")
            kill_fork_server()
            for row in house.catalogue.documents(DocumentFilter(), Page(limit=100))[0]:
                house.catalogue.make_due(url=row.url, now=utc_now())
        wait_for_the_end(house, service)
        wait_until(lambda: "so it was for" in said(house).get("readers-away", ""), what="it is on the list")
        assert_all_once(house, site)


def test_a_server_that_is_stopped_and_started_again_is_waited_for_and_pages_say_so(
    tmp_path: Path, site: ChangingSite, postgres: PostgresServer
) -> None:
    with House(settings_of(tmp_path, site, postgres.uri("away"))) as house:
        add(house, site)
        with serving(house) as service, running(house, service, port=0) as address:
            ask = ask_at(address)
            wait_until(lambda: site.requests > 1, what="two pages were visited")
            postgres.stop()
            wait_for(service, "catalogue-away")
            status = ask("/api/status")
            told = json.loads(status.body)
            assert (status.status, told["totals"], told["service"]["running"]) == (200, None, True)
            assert [outage["code"] for outage in told["service"]["outages"]] == ["catalogue-away"]
            for path, accepted in (("/", "text/html"), ("/documents", "text/html"), ("/api/documents", "*/*")):
                away = ask(path, accept=accepted)
                assert (path, away.status, away.headers.get("retry-after")) == (path, 503, "5")
                assert b"does not answer now" in away.body
                assert str(tmp_path).encode() not in away.body
                assert b"postgresql://" not in away.body
            assert ask("/static/style.css").status == 200
            postgres.start()
            wait_for_the_end(house, service)
            wait_until(lambda: "so it was for" in said(house).get("catalogue-away", ""), what="it is on the list")
            assert ask("/").status == 200
        assert service.error is None
        assert_all_once(house, site)

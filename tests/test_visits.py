"""Visits as the pipeline makes them: what becomes of pages and hosts that are overloaded, gone or not what they say."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from rehi.app import House, utc_now
from rehi.errors import SettingsError
from rehi.model.host import HostState
from rehi.model.listing import DocumentFilter, DocumentRow, Page
from rehi.model.problem import Problem
from rehi.operations.hosts import report_hosts
from rehi.operations.sources import enter, read_in
from rehi.settings import Settings, load_settings
from rehi.testing.waiting import PATIENCE

Reply = tuple[int, dict[str, str], bytes]
HTML = {"Content-Type": "text/html; charset=utf-8"}


class Site:
    """A site whose answers a test decides on, and that remembers what it was asked."""

    def __init__(self, answer: Callable[[str], Reply]) -> None:
        self.answer = answer
        self.asked: list[tuple[float, str]] = []
        self.conditional: list[str] = []  # what was asked for only if it had changed
        self.robots: Reply = (404, {}, b"")
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append((time.monotonic(), self.path))
                if "If-None-Match" in self.headers:
                    site.conditional.append(self.path)
                status, headers, body = site.robots if self.path == "/robots.txt" else site.answer(self.path)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def pages(self) -> list[str]:
        return [path for _, path in self.asked if path != "/robots.txt" and not path.startswith("/rehi-")]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def visited(
    tmp_path: Path, answer: Callable[[str], Reply], paths: list[str], **settings: Any
) -> Iterator[tuple[House, Site]]:
    """A house that knows the pages of a site, and has not visited any."""
    site = Site(answer)
    fetch = {
        "resolve": [f"*.test=127.0.0.1:{site.port}"],
        "allow_private": ["127.0.0.0/8"],
        "delay": 0.0,
        "slow_factor": 0.0,
        "timeout": PATIENCE / 2,
    } | settings.pop("fetch", {})
    source = tmp_path / "pages.txt"
    source.write_text("\n".join(f"http://www.site.test{path}" for path in paths), encoding="utf-8")
    work = {"workers": 1, "enrich": False}
    with House(load_settings(data=tmp_path / "data", fetch=fetch, work=work, **settings)) as house:
        read_in(house, enter(house, str(source)).id)
        try:
            yield house, site
        finally:
            site.close()


def harvest(house: House) -> None:
    deadline = time.monotonic() + PATIENCE
    with house.working() as working:
        working.run(until_idle=True, stopped=lambda: time.monotonic() > deadline)
    assert time.monotonic() < deadline, "the harvest did not end"


def rows(house: House) -> dict[str, DocumentRow]:
    return {
        row.url.removeprefix("http://www.site.test"): row
        for row in house.catalogue.documents(DocumentFilter(), Page())[0]
    }


def problems(house: House) -> dict[str, Problem]:
    found = house.catalogue.problems(stage=None, page=Page())[0]
    return {problem.subject.removeprefix("http://www.site.test"): problem for problem in found}


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_obeyed_in_both_forms_and_the_host_is_visited_more_slowly(tmp_path: Path, form: str) -> None:
    def answer(path: str) -> Reply:
        if path == "/1":
            until = format_datetime(utc_now().replace(microsecond=0), usegmt=True) if form == "date" else "2"
            return 429, HTML | {"Retry-After": until}, b"slow down"
        return 200, HTML, f"<p>Page {path}".encode()

    with visited(tmp_path, answer, ["/1", "/2", "/3"], fetch={"max_delay": 0.6}) as (house, site):
        harvest(house)
        times = {path: at for at, path in site.asked}
        (refused, following) = (site.asked[1][0], sorted(at for path, at in times.items() if path in ("/2", "/3")))
        assert site.asked[1][1] == "/1"
        assert following[0] - refused >= (2.0 if form == "seconds" else 1.0)
        assert following[1] - following[0] >= 0.5  # no delay is set, but it was overloaded a moment ago
        assert problems(house)["/1"].code == "overloaded"
        assert rows(house)["/2"].versions == rows(house)["/3"].versions == 1
        (report,) = report_hosts(house, "www.site.test")
        assert 1.0 < report.facts.row.strain < 2.0


def test_a_host_that_only_fails_waits_and_says_why(tmp_path: Path) -> None:
    quick = {"fetch": {"max_delay": 0.2}}
    with visited(tmp_path, lambda _: (502, HTML, b"bad gateway"), [f"/{n}" for n in range(8)], **quick) as (
        house,
        site,
    ):
        harvest(house)
        assert len(site.asked) == 1 + 3  # robots.txt, and three answers that were no use, the probe's among them
        (report,) = report_hosts(house, "www.site.test")
        assert report.facts.row.state is HostState.WAITING
        assert report.facts.row.failures == 1
        assert "502" in report.state


def test_what_is_not_found_any_more_is_gone_after_the_grace_period_and_may_come_back(tmp_path: Path) -> None:
    there = True

    def answer(path: str) -> Reply:
        return (200, HTML, b"<p>A page that was here") if there else (404, HTML, b"not found")

    grace = {"revisit": {"gone_after": 3_600, "shortest": 0.1, "longest": 0.2}, "fetch": {"retry_after": 0.1}}
    with visited(tmp_path, answer, ["/page"], **grace) as (patient, _):
        with patient:  # and closed before the same folder is opened with a shorter grace
            harvest_for(patient, lambda: rows(patient)["/page"].versions == 1)
            there = False
            harvest_for(patient, lambda: rows(patient)["/page"].state == "failed")
            assert gone_in_graph(patient) == []
        with House(changed(patient.settings, gone_after=0.5)) as house:
            harvest_for(house, lambda: rows(house)["/page"].state == "gone")
            harvest_for(house, lambda: bool(gone_in_graph(house)))
            assert len(house.catalogue.versions("http://www.site.test/page")) == 1
            there = True
            harvest_for(house, lambda: rows(house)["/page"].state == "unchanged" and not gone_in_graph(house))


def changed(settings: Settings, **revisit: float) -> Settings:
    return settings.model_copy(update={"revisit": settings.revisit.model_copy(update=revisit)})


def harvest_for(house: House, enough: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    with house.working() as working:
        working.run(until_idle=False, stopped=lambda: time.monotonic() > deadline or (working.settled and enough()))
    assert enough()


def gone_in_graph(house: House) -> list[Any]:
    query = "SELECT ?page WHERE { ?page <http://www.w3.org/ns/prov#invalidatedAtTime> ?when }"
    answer = house.query(query, media_type="application/sparql-results+json")
    found: list[Any] = orjson.loads(b"".join(answer.chunks))["results"]["bindings"]
    return found


def test_an_error_page_that_says_all_is_well_is_no_version(tmp_path: Path) -> None:
    sorry = (
        "<html><title>Sorry</title><nav>Home News Contact</nav><h1>We could not find {}</h1><p>Try the search.</html>"
    )

    def answer(path: str) -> Reply:
        page = f"<html><title>Report {path}</title><h1>Report</h1><p>" + f"All about {path} and what followed. " * 30
        return 200, HTML, (page if path.startswith("/report/") else sorry.format(path)).encode()

    paths = ["/", *(f"/report/{n}" for n in range(4)), "/lost/a.html", "/lost/b.html"]
    with visited(tmp_path, answer, paths) as (house, _):
        harvest(house)
        found = rows(house)
        assert {path for path, row in found.items() if row.versions} == {"/", *(f"/report/{n}" for n in range(4))}
        assert problems(house)["/lost/a.html"].code == "soft-error"


def test_a_page_where_a_dataset_was_promised_is_kept_and_remarked_on(tmp_path: Path) -> None:
    with visited(tmp_path, lambda _: (200, HTML, b"<!doctype html><p>Please log in"), ["/data.csv"]) as (house, _):
        harvest(house)
        assert rows(house)["/data.csv"].versions == 1
        assert problems(house)["/data.csv"].code == "wrong-type"


def test_what_is_found_in_the_archive_after_a_kill_is_remarked_on_too(tmp_path: Path) -> None:
    with visited(tmp_path, lambda _: (200, HTML, b"<!doctype html><p>Please log in"), ["/data.csv", "/x"]) as (
        house,
        _,
    ):
        harvest(house)
        settings = house.settings
    for file in settings.data.glob("catalogue.db*"):
        file.unlink()
    with House(settings) as again:
        again.begin_catalogue()
        harvest(again)
        assert {path: row.versions for path, row in rows(again).items()} == {"/data.csv": 1, "/x": 1}
        assert {path: problem.code for path, problem in problems(again).items()} == {"/data.csv": "wrong-type"}


def test_no_more_visits_are_made_than_the_budget_allows(tmp_path: Path) -> None:
    paths = [f"/{n}" for n in range(60)]
    budget = {"revisit": {"visits_per_day": 24}}
    with visited(tmp_path, lambda path: (200, HTML, path.encode()), paths, **budget) as (house, site):
        harvest(house)
        assert 0 < len(site.pages) <= 26
        harvest(house)
        assert len(site.pages) <= 26


def test_a_host_is_left_in_peace_outside_its_hours(tmp_path: Path) -> None:
    closed = f"{(utc_now().hour + 2) % 24:02}:00-{(utc_now().hour + 3) % 24:02}:00"
    hours = {"fetch": {"hosts": [{"match": "*.test", "hours": closed}]}}
    with visited(tmp_path, lambda _: (200, HTML, b"x"), ["/1"], **hours) as (house, site):
        harvest(house)
        assert site.asked == []
        (report,) = report_hosts(house, "www.site.test")
        assert "hours" in report.state


def test_a_longer_pause_than_the_cap_is_noted_and_a_shorter_one_obeyed(tmp_path: Path) -> None:
    cap = {"fetch": {"max_delay": 0.4, "soft_errors": False}}
    with visited(tmp_path, lambda path: (200, HTML, path.encode()), ["/1", "/2"], **cap) as (house, site):
        site.robots = (200, {}, b"User-agent: *\nCrawl-delay: 30\n")
        harvest(house)
        times = [at for at, _ in site.asked]
        assert min(later - sooner for sooner, later in pairwise(times)) >= 0.4
        note = problems(house)["/robots.txt"]
        assert (note.code, note.next_step) == ("crawl-delay-capped", "skip")
        assert "30 seconds" in note.message


def test_what_robots_forbids_never_blocks_its_host(tmp_path: Path) -> None:
    with visited(tmp_path, lambda path: (200, HTML, path.encode()), ["/no/1", "/yes"], fetch={"delay": 0.3}) as (
        house,
        site,
    ):
        site.robots = (200, {}, b"User-agent: *\nDisallow: /no/\n")
        harvest(house)
        assert site.pages == ["/yes"]
        assert rows(house)["/no/1"].state == "forbidden"


def test_a_robots_file_that_cannot_be_had_is_waited_for_as_long_as_it_asks(tmp_path: Path) -> None:
    with visited(tmp_path, lambda _: (200, HTML, b"x"), ["/1"], fetch={"retry_after": 1.0}) as (house, site):
        site.robots = (503, {"Retry-After": "900"}, b"")
        harvest(house)
        assert site.pages == []
        (report,) = report_hosts(house, "www.site.test")
        assert report.facts.row.ready_at is not None
        assert report.facts.row.ready_at - utc_now() > timedelta(seconds=850)


def test_a_cdn_that_is_no_network_is_a_wrong_setting(tmp_path: Path) -> None:
    wrong = {"fetch": {"by_address": True, "cdns": ["cloud"]}}
    with (
        visited(tmp_path, lambda _: (200, HTML, b"x"), ["/1"], **wrong) as (house, _),
        pytest.raises(SettingsError, match=r"fetch\.cdns: 'cloud' is not a network"),
        house.working(),
    ):
        pass


def test_a_part_that_nobody_asked_for_is_no_version(tmp_path: Path) -> None:
    with visited(tmp_path, lambda _: (206, HTML, b"half"), ["/1"]) as (house, _):
        harvest(house)
        assert rows(house)["/1"].versions == 0
        assert problems(house)["/1"].code == "truncated"

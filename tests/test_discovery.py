"""Sources discover through the frontier: what lies at a URL is visited as politely as any page, and read when it is there."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rehi.app import House, utc_now
from rehi.errors import SourceError
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Stage
from rehi.model.source import Source, SourceState
from rehi.operations.sources import enter, order_follow, read_in
from rehi.settings import load_settings
from tests.test_visits import HTML, Reply, Site
from tests.warcs import members, response

TEXT = {"Content-Type": "text/plain"}
URIS = {"Content-Type": "text/uri-list"}
PAGE = b"<html><title>A page</title><p>Tere, maailm! See on leht.</p></html>"
LIST = b"http://a.test/one\nhttp://a.test/two\nnonsense here\nmailto:x@a.test\n"
LOG = b"20080331115022123 200 12642 http://a.test/three - - text/html #012 - - -\n"
SITEMAP = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/1</loc></url></urlset>'


@contextmanager
def on_site(tmp_path: Path, answer: Callable[[str], Reply]) -> Iterator[tuple[House, Site]]:
    site = Site(answer)
    fetch: dict[str, Any] = {
        "resolve": [f"*.test=127.0.0.1:{site.port}"], "allow_private": ["127.0.0.0/8"], "delay": 0.0,
        "slow_factor": 0.0, "timeout": 5.0, "retry_after": 3600.0,
    }  # fmt: skip
    try:
        with House(
            load_settings(data=tmp_path / "data", fetch=fetch, work={"workers": 1, "enrich": False, "graph": False})
        ) as house:
            yield house, site
    finally:
        site.close()


def harvest(house: House) -> None:
    deadline = time.monotonic() + 60
    with house.working() as wheel:
        wheel.run(until_idle=True, stopped=lambda: time.monotonic() > deadline)
    assert time.monotonic() < deadline, "the harvest did not end"


def add(house: House, given: str, **options: Any) -> Source:
    source = enter(house, given, **options)
    return house.catalogue.start_source(source.id, now=utc_now())


def urls_of(house: House, source: Source) -> list[str]:
    return [row.url for row in house.catalogue.documents(DocumentFilter(source_id=source.id), Page())[0]]


def answering(**replies: Reply) -> Callable[[str], Reply]:
    return lambda path: replies.get(path.strip("/").partition(".")[0] or "home", (200, HTML, PAGE))


@pytest.mark.parametrize(
    ("declared", "body", "given", "kind", "names"),
    [
        (URIS, LIST, "", "url-list", ["one", "two"]),
        (URIS, gzip.compress(LIST), "", "url-list", ["one", "two"]),
        (TEXT, LIST, "url-list", "url-list", ["one", "two"]),
        (TEXT, LOG, "crawl-log", "crawl-log", ["three"]),
        (TEXT, LIST, "", "page", []),
        (TEXT, LOG, "", "page", []),
        (HTML, LIST, "", "page", []),
        (TEXT, PAGE, "", "page", []),
        (TEXT, SITEMAP, "", "page", []),
    ],
    ids=["list", "packed list", "named list", "named log", "text", "log", "HTML that is none", "page", "sitemap"],
)
def test_what_lies_at_a_url_is_visited_and_read_as_what_its_type_or_a_person_says(
    tmp_path: Path, declared: dict[str, str], body: bytes, given: str, kind: str, names: list[str]
) -> None:
    """Whoever may write at that address must not decide what is visited."""
    named = ["http://a.test/list.txt", *(f"http://a.test/{name}" for name in names)]
    with on_site(tmp_path, answering(list=(200, declared, body))) as (house, site):
        source = add(house, "http://a.test/list.txt", kind=given)
        assert (source.kind, source.state, site.asked) == (given, SourceState.READING, [])
        harvest(house)
        source = house.catalogue.source(source.id)
        assert (source.kind, source.state, source.awaits, source.share) == (kind, SourceState.DONE, "", 1.0)
        assert urls_of(house, source) == named
        assert [path for _, path in site.asked][:2] == ["/robots.txt", "/list.txt"]
        assert sorted(site.pages) == sorted(url.removeprefix("http://a.test") for url in named)
        assert len(house.catalogue.versions("http://a.test/list.txt")) == 1


def test_a_source_that_waited_for_its_visit_counts_once(tmp_path: Path) -> None:
    with on_site(tmp_path, answering(list=(200, URIS, LIST))) as (house, _), house.working() as wheel:
        add(house, "http://a.test/list.txt")
        wheel.run(until_idle=True, stopped=lambda: False)
        assert wheel.progress.counts["discovered"] == 1


def test_every_line_of_a_list_at_a_url_is_accounted_for(tmp_path: Path) -> None:
    with on_site(tmp_path, answering(list=(200, URIS, LIST))) as (house, _):
        source = add(house, "http://a.test/list.txt")
        harvest(house)
        counts = house.catalogue.source(source.id).counts
        assert {what: counts[what] for what in ("lines", "accepted", "rejected:scheme", "malformed")} == {
            "lines": 4, "accepted": 2, "rejected:scheme": 1, "malformed": 1,
        }  # fmt: skip


def test_redirects_are_followed_each_at_its_turn(tmp_path: Path) -> None:
    moved = answering(
        list=(302, {"Location": "http://b.test/next"}, b""),
        next=(301, {"Location": "http://c.test/there.txt"}, b""),
        there=(200, URIS, LIST),
    )
    with on_site(tmp_path, moved) as (house, site):
        source = add(house, "http://a.test/list.txt")
        harvest(house)
        source = house.catalogue.source(source.id)
        assert (source.kind, source.state) == ("url-list", SourceState.DONE)
        assert sum(path == "/robots.txt" for _, path in site.asked) == 3
        assert urls_of(house, source) == [
            "http://a.test/list.txt", "http://a.test/one", "http://a.test/two", "http://b.test/next",
            "http://c.test/there.txt",
        ]  # fmt: skip


def test_what_robots_txt_forbids_is_not_read(tmp_path: Path) -> None:
    with on_site(tmp_path, answering(list=(200, TEXT, LIST))) as (house, site):
        site.robots = (200, TEXT, b"User-agent: *\nDisallow: /list.txt\n")
        source = add(house, "http://a.test/list.txt")
        harvest(house)
        assert house.catalogue.source(source.id).state is SourceState.FAILED
        assert site.pages == []
        (problem,), _ = house.catalogue.problems(stage=Stage.SOURCES, page=Page())
        assert "can't be had: it may not be visited; add a copy of it as a file" in problem.message


def test_what_is_not_there_fails_and_what_is_busy_is_waited_for(tmp_path: Path) -> None:
    replies: dict[str, Reply] = {"gone": (404, HTML, b"no"), "busy": (503, HTML, b"later")}
    with on_site(tmp_path, lambda path: replies.get(path.strip("/"), (200, HTML, PAGE))) as (house, _):
        gone, busy = add(house, "http://a.test/gone"), add(house, "http://a.test/busy")
        harvest(house)
        assert house.catalogue.source(gone.id).state is SourceState.FAILED
        waiting = house.catalogue.source(busy.id)
        assert (waiting.state, waiting.awaits) == (SourceState.READING, "http://a.test/busy")
        replies["busy"] = (200, URIS, LIST)
        house.catalogue.make_due(url="http://a.test/busy", now=utc_now())
        harvest(house)
        done = house.catalogue.source(busy.id)
        assert (done.state, done.kind, done.awaits) == (SourceState.DONE, "url-list", "")


def test_a_page_that_is_known_is_visited_again_before_it_is_read_as_a_source(tmp_path: Path) -> None:
    replies: dict[str, Reply] = {}
    with on_site(tmp_path, lambda path: replies.get(path, (200, URIS, b"http://a.test/one\n"))) as (house, site):
        first = add(house, "http://a.test/list.txt")
        harvest(house)
        replies["/list.txt"] = (200, URIS, b"http://a.test/new\n")
        again = add(house, "http://a.test/list.txt", again=True)
        assert again.id != first.id
        harvest(house)
        assert site.pages.count("/list.txt") == 2
        assert urls_of(house, again) == ["http://a.test/list.txt", "http://a.test/new"]
        assert urls_of(house, first) == ["http://a.test/list.txt", "http://a.test/one"]


def test_a_crawl_at_a_url_is_taken_in_too(tmp_path: Path) -> None:
    crawl = members([response("http://b.ee/", b"<p>Tere</p>", "Content-Type: text/html")])
    with on_site(tmp_path, answering(crawl=(200, {"Content-Type": "application/warc"}, crawl))) as (house, _):
        source = add(house, "http://a.test/crawl.warc.gz")
        harvest(house)
        source = house.catalogue.source(source.id)
        assert (source.kind, source.state, source.counts["kept"]) == ("warc", SourceState.DONE, 1)
        assert len(house.catalogue.versions("http://b.ee/")) == 1


def test_a_local_file_is_read_by_a_harvest_as_well(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(LIST)
    with on_site(tmp_path, answering()) as (house, site):
        source = add(house, str(path))
        assert (source.worker, source.state) == (house.worker, SourceState.READING)
        harvest(house)
        assert house.catalogue.source(source.id).state is SourceState.DONE
        assert sorted(site.pages) == ["/one", "/two"]
        assert read_in(house, source.id).counts["lines"] == 4


def test_a_file_that_has_gone_fails_its_source(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(LIST)
    with on_site(tmp_path, answering()) as (house, _):
        source = enter(house, str(path))
        path.unlink()
        with pytest.raises(SourceError, match="there is no file"):
            read_in(house, source.id)
        assert house.catalogue.source(source.id).state is SourceState.FAILED
        path.write_bytes(LIST)
        assert read_in(house, source.id).state is SourceState.DONE


def test_links_are_followed_by_rule_as_far_as_it_reaches(tmp_path: Path) -> None:
    def page(path: str) -> Reply:
        number = int(path.strip("/") or 0)
        links = f'<a href="/{number + 1}">on</a> <a href="http://b.test/{number}">away</a>'
        return 200, HTML, f"<html><body><p>Leht number {number} on siin.</p>{links}</body></html>".encode()

    with on_site(tmp_path, page) as (house, site):
        source = add(house, "http://a.test/0")
        harvest(house)
        assert site.pages == ["/0"]
        order_follow(house, source.id, "same host, depth 2")
        harvest(house)
        assert site.pages == ["/0", "/1", "/2"]
        assert urls_of(house, source) == ["http://a.test/0", "http://a.test/1", "http://a.test/2"]
        assert house.catalogue.source(source.id).counts["followed"] == 2
        order_follow(house, source.id, "host b.test, depth 1")
        harvest(house)
        assert sorted(site.pages[3:]) == ["/0"]
        order_follow(house, source.id, "")
        harvest(house)
        assert len(site.pages) == 4


def test_links_are_followed_where_the_text_lies_elsewhere_but_the_page_does_not(tmp_path: Path) -> None:
    def page(path: str) -> Reply:
        return 200, HTML, b'<html><body><p>Leht on siin.</p><a href="/edasi">on</a></body></html>'

    with on_site(tmp_path, page) as (house, site):
        source = add(house, "http://a.test/0")
        harvest(house)
        for file in (house.settings.data / "derived").rglob("*"):
            if file.is_file():
                file.unlink()
        order_follow(house, source.id, "same host, depth 1")
        harvest(house)
        assert site.pages == ["/0", "/edasi"]

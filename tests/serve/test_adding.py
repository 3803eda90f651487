"""Adding addresses over HTTP: each is visited with the manners of any visit, however many are added at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from rehi.app import House
from rehi.model.source import SourceState
from rehi.operations.sources import enter
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from rehi.testing.waiting import wait_until
from tests.serve.conftest import Ask, Reply, ask_at
from tests.test_visits import HTML, Site

DELAY = 0.05
MANY = 20


@contextmanager
def serving(folder: Path, site: Site) -> Iterator[tuple[House, Ask]]:
    """A service that harvests a site, one host of which is to be left alone; both end with it."""
    fetch = {
        "resolve": [f"*.test=127.0.0.1:{site.port}"], "allow_private": ["127.0.0.0/8"], "delay": DELAY,
        "slow_factor": 0.0, "soft_errors": False, "hosts": [{"match": "quiet.test", "leave_alone": True}],
    }  # fmt: skip
    work = {"workers": 1, "enrich": False, "graph": False}
    with House(load_settings(data=folder / "data", fetch=fetch, work=work)) as house:
        service = Service(house)
        service.start()
        try:
            with running(house, service, port=0) as address:
                yield house, ask_at(address)
        finally:
            service.stop()
            site.close()


def add(ask: Ask, **source: str) -> Reply:
    return ask("/api/sources", body=orjson.dumps(source), Content_Type="application/json")


def test_added_addresses_are_visited_as_any_page_is(tmp_path: Path) -> None:
    site = Site(lambda path: (200, HTML, b"<p>Tere!</p>"))
    site.robots = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /closed\n")
    with serving(tmp_path, site) as (house, ask):
        paths = [f"/{number}" for number in range(MANY)]
        closed = add(ask, source="http://a.test/closed").json["id"]
        quiet = add(ask, source="http://quiet.test/quiet").json["id"]
        for path in paths:
            assert add(ask, source=f"http://a.test{path}").status == 201
        entered = house.catalogue.sources()
        wait_until(
            lambda: all(
                house.catalogue.source(one.id).state in (SourceState.DONE, SourceState.FAILED)
                for one in entered
                if one.id != quiet
            ),
            what="all sources are done but the one on the quiet host",
        )
        assert house.catalogue.source(closed).state is SourceState.FAILED
        assert house.catalogue.source(quiet).state is SourceState.READING
    assert sorted(site.pages) == sorted(paths), "the closed page, the quiet host, or one of them twice"
    assert site.asked[0][1] == "/robots.txt"
    assert site.asked[-1][0] - site.asked[0][0] > (MANY - 1) * DELAY * 0.9, "they came in a burst"


def test_a_kind_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with House(load_settings(data=tmp_path / "data")) as house, running(house, Service(house), port=0) as address:
        answer = add(ask_at(address), source="http://a.test/", kind="warc-in-place")
        assert (answer.status, answer.json["code"]) == (422, "bad-content")
        assert [one["name"] for one in answer.json["parameters"]] == ["kind"]
        assert answer.json["detail"] == (
            "'warc-in-place' is no kind of source; there are crawl-log, page, url-list, warc"
        )
        assert enter(house, "http://a.test/list", kind="url-list").kind == "url-list"

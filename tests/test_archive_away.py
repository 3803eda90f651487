"""The bucket goes away under a running harvest, and comes back: what needs it waits, all else goes on, and nothing is lost."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehi.app import House, utc_now
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Stage
from rehi.serve import running
from rehi.service import Service
from rehi.settings import Settings, load_settings
from rehi.testing.s3 import BUCKET, S3Server
from rehi.testing.waiting import wait_until
from tests.changing_site import ChangingSite
from tests.conftest import end_fork_server
from tests.serve.conftest import ask_at
from tests.test_outages import PAGES, add, assert_all_once, said, serving, wait_for, wait_for_the_end


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite(pages=PAGES) as site:
        yield site


@pytest.fixture
def bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server of one test's own, which may be stopped."""
    with S3Server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        end_fork_server()  # an earlier test's has no credentials in its environment
        yield server


def settings_of(folder: Path, site: ChangingSite, bucket: S3Server, *, enrich: bool, uri: str = "") -> Settings:
    return load_settings(
        data=folder / "data",
        fetch={"allow_private": ["127.0.0.0/8"], "ports": [site.port], "delay": 0.02, "soft_errors": False},
        work={"workers": 1, "enrich": enrich},
        archive={
            "uri": uri or f"s3://{BUCKET}/{folder.name}", "endpoint": bucket.endpoint, "file_bytes": 12_000,
            "local_bytes": 0,
        },
    )  # fmt: skip


def harvest(settings: Settings, site: ChangingSite) -> None:
    """Visit all pages once; everything is in the bucket afterwards, and in the folder no more."""
    with House(settings) as house:
        add(house, site)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
    with House(settings) as house:
        assert house.catalogue.totals(now=utc_now()).documents == PAGES
    wait_until(lambda: not list((settings.data / "archive").glob("*.warc.gz")), what="all is in the bucket")


def read_again(house: House) -> None:
    """Have every version read by today's recipe."""
    rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=100))
    house.catalogue.put("read", [one.id for row in rows for one in house.catalogue.versions(row.url)])


def visit_again(house: House) -> None:
    for row in house.catalogue.documents(DocumentFilter(), Page(limit=100))[0]:
        house.catalogue.make_due(url=row.url, now=utc_now())


def test_a_bucket_that_is_away_is_waited_for_and_stops_no_visit(
    tmp_path: Path, site: ChangingSite, bucket: S3Server
) -> None:
    harvest(settings_of(tmp_path, site, bucket, enrich=False), site)
    with House(settings_of(tmp_path, site, bucket, enrich=True)) as house, serving(house) as service:
        wait_until(lambda: "describe" in service.status.seconds, what="the wheel has turned once")
        bucket.stop()
        read_again(house)
        wait_for(service, "archive-away")
        before = house.catalogue.totals(now=utc_now()).visits
        visit_again(house)
        wait_until(
            lambda: house.catalogue.totals(now=utc_now()).visits == before + PAGES, what="all is visited meanwhile"
        )
        with running(house, service, port=0) as address:
            check_pages(house, address, site)
        assert said(house)["archive-away"].startswith("The archive's bucket does not answer now, since")
        bucket.start()
        wait_for_the_end(house, service)
        wait_until(lambda: "so it was for" in said(house).get("archive-away", ""), what="it is on the list")
        wait_until(lambda: not problems_of(house, Stage.ARCHIVE), what="what waited to be brought was brought")
        assert service.error is None
        assert_all_once(house, site)
        recipes = house.catalogue.totals(now=utc_now()).recipes
        assert sum(recipes.values()) == PAGES
        assert len(recipes) == 1


def problems_of(house: House, stage: Stage) -> list[str]:
    problems, _ = house.catalogue.problems(stage=stage, page=Page(limit=100))
    return [problem.code for problem in problems]


def check_pages(house: House, address: str, site: ChangingSite) -> None:
    """The overview and the status say what is away, what needs the bucket is 503, and all else is shown."""
    ask = ask_at(address)
    told = json.loads(ask("/api/status").body)
    assert [outage["code"] for outage in told["service"]["outages"]] == ["archive-away"]
    overview = ask("/", accept="text/html")
    assert overview.status == 200
    assert b"bucket does not answer now" in overview.body
    first = min(house.catalogue.versions(site.urls[0]), key=lambda one: one.number)
    away = ask(f"/web/{first.taken_at:%Y%m%d%H%M%S}id_/{site.urls[0]}")
    assert (away.status, away.headers.get("retry-after")) == (503, "5")
    assert b"s3://" not in away.body
    assert ask("/documents", accept="text/html").status == 200


def test_a_harvest_begins_when_the_bucket_is_back(tmp_path: Path, site: ChangingSite, bucket: S3Server) -> None:
    settings = settings_of(tmp_path, site, bucket, enrich=False)
    with House(settings) as house:
        add(house, site)
        bucket.stop()
        with serving(house) as service, running(house, service, port=0) as address:
            wait_for(service, "archive-away")
            assert b"bucket does not answer now" in ask_at(address)("/", accept="text/html").body
            bucket.start()
            wait_for_the_end(house, service)
            wait_until(lambda: "so it was for" in said(house).get("archive-away", ""), what="it is on the list")
        assert_all_once(house, site)


@pytest.mark.parametrize("wrong", ["bucket", "credentials", "name"])
def test_a_bucket_that_can_not_be_used_is_an_error_at_once(
    tmp_path: Path, site: ChangingSite, s3: S3Server, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f"s3://no-such-bucket/{secrets.token_hex(4)}" if wrong == "bucket" else ""
    settings = settings_of(tmp_path, site, s3, enrich=False, uri=uri)
    if wrong == "credentials":
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    if wrong == "name":
        archive = settings.archive.model_copy(update={"endpoint": "http://nobody.invalid:9000"})
        settings = settings.model_copy(update={"archive": archive})
    told = {"bucket": "no such bucket", "credentials": "refuses the credentials", "name": "nobody knows a machine"}
    from rehi.errors import EngineAway, EngineError

    with House(settings) as house, pytest.raises(EngineError, match=told[wrong]) as caught:
        Service(house).start()
    assert not isinstance(caught.value, EngineAway)

"""What hosts ask of us and pretend to be: rules that can't be had, notes that hold no longer, applications' shells."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from rehi.app import House, utc_now
from rehi.frontier import VISIT_RULES
from rehi.model.host import HostOrders
from rehi.model.visit import Robots
from rehi.model.work import HostProfile
from rehi.operations.hosts import order_host, report_hosts
from rehi.operations.sources import enter, read_in
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE
from rehi.testing.world import World, WorldServer
from rehi.testing.world.hosts import Host
from rehi.testing.world.replies import Reply as WorldReply
from tests.conftest import settings_for
from tests.test_visits import HTML, Reply, Site, harvest, problems, rows, visited

HOST = "www.site.test"
APPLICATION = "rakendus.rehemaa.test"


def page(path: str) -> Reply:
    return 200, HTML, f"<p>Page {path}".encode()


def make_due(house: House) -> None:
    house.catalogue.make_due(now=utc_now())


def pretend(house: House, robots: Robots) -> None:
    """Let the catalogue remember another robots.txt."""
    (report,) = report_hosts(house, HOST)
    profile = HostProfile(host_id=report.facts.row.host_id, robots=robots)
    house.catalogue.record([], [], profiles=[profile], rules=VISIT_RULES, worker="test", now=utc_now())


def test_a_robots_txt_that_can_not_be_had_is_waited_for_and_then_there_is_none(tmp_path: Path) -> None:
    waiting = {"fetch": {"retry_after": 0.3, "robots_unreachable": 1.2}}
    with visited(tmp_path, page, ["/1", "/2"], **waiting) as (house, site):
        site.robots = (503, {}, b"")
        harvest(house)
        asked = [path for _, path in site.asked]
        first_page = asked.index(site.pages[0])
        assert asked[:first_page] == ["/robots.txt"] * first_page
        assert first_page >= 3  # at once, after 0.3 s, after another 0.6 s, and when it need not be waited for any more
        assert site.asked[first_page][0] - site.asked[0][0] >= 1.2
        assert sorted(site.pages) == ["/1", "/2"]
        assert problems(house) == {}
        (report,) = report_hosts(house, HOST)
        assert report.robots.startswith("status 503, ")
        assert "it can't be had since" in report.robots
        assert "visited as if there were none since" in report.robots
        assert report.robots_waits_until is None
        site.robots = (200, {}, b"User-agent: *\nDisallow: /2\n")
        pretend(house, Robots(status=503, text="", fetched_at=utc_now() - timedelta(days=2)))
        make_due(house)
        harvest(house)
        assert rows(house)["/2"].state == "forbidden"
        (report,) = report_hosts(house, HOST)
        assert report.robots.startswith("status 200, ")
        assert "can't be had" not in report.robots


def test_after_a_month_the_rules_hold_that_the_host_had_before(tmp_path: Path) -> None:
    with visited(tmp_path, page, ["/no", "/yes"]) as (house, site):
        site.robots = (500, {}, b"")
        since = utc_now() - timedelta(days=30)
        text = "User-agent: *\nDisallow: /no\n"
        pretend(house, Robots(status=500, text=text, fetched_at=since + timedelta(days=20), failing_since=since))
        harvest(house)
        assert site.pages == ["/yes"]
        (report,) = report_hosts(house, HOST)
        assert "by the rules that it had before" in report.robots
        assert report.rules == text.strip()


def test_a_host_says_since_when_its_robots_txt_can_not_be_had_and_until_when_it_waits(tmp_path: Path) -> None:
    with visited(tmp_path, page, ["/1", "/2"], fetch={"retry_after": 86_400.0 * 20}) as (house, site):
        site.robots = (500, {}, b"")
        since = (utc_now() - timedelta(days=29, hours=12)).replace(microsecond=0)
        pretend(house, Robots(status=0, text="", fetched_at=since + timedelta(days=9), failing_since=since))
        harvest(house)
        assert site.pages == []
        assert problems(house)["/1"].code == "host-deferred"
        (report,) = report_hosts(house, HOST)
        until = since + timedelta(days=30)
        assert report.robots_waits_until == until
        assert report.facts.row.ready_at == until  # and not twenty days later, as its failures alone would have it
        said = (
            f"it can't be had since {since:%Y-%m-%d %H:%M:%S} UTC, and until it can, or until {until:%Y-%m-%d %H:%M:%S}"
        )
        assert said in report.robots
        command = [sys.executable, "-m", "rehi", "--data", str(house.settings.data), "host", HOST]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        assert said in " ".join(shown.split())


@contextmanager
def capped(tmp_path: Path, seconds: int) -> Iterator[tuple[House, Site]]:
    """A host with a note that it asks for too long a pause."""
    cap = {"fetch": {"max_delay": 0.2, "soft_errors": False, "robots_ttl": 0.01}}
    with visited(tmp_path, page, ["/1"], **cap) as (house, site):
        site.robots = (200, {}, f"User-agent: *\nCrawl-delay: {seconds}\n".encode())
        harvest(house)
        assert problems(house)["/robots.txt"].code == "crawl-delay-capped"
        make_due(house)
        yield house, site


@pytest.mark.parametrize(
    "robots", [(200, {}, b"User-agent: *\nCrawl-delay: 0.1\n"), (404, {}, b"")], ids=["less", "none"]
)
def test_a_note_is_struck_out_when_a_host_asks_for_less(tmp_path: Path, robots: Reply) -> None:
    with capped(tmp_path, 30) as (house, site):
        harvest(house)
        assert problems(house)["/robots.txt"].count == 2
        make_due(house)
        site.robots = robots
        harvest(house)
        assert problems(house) == {}


def test_a_note_is_struck_out_when_the_cap_is_raised_though_robots_txt_is_not_asked_again(tmp_path: Path) -> None:
    with capped(tmp_path, 1) as (house, site):
        settings = house.settings
        fetch = settings.fetch.model_dump() | {"max_delay": 1.0, "robots_ttl": 86_400.0}
        with House(load_settings(data=settings.data, fetch=fetch, work=settings.work.model_dump())) as other:
            harvest(other)
            assert problems(other) == {}
        assert [path for _, path in site.asked].count("/robots.txt") == 1


def test_a_note_is_struck_out_when_the_host_gets_its_pause_by_order(tmp_path: Path) -> None:
    with capped(tmp_path, 1) as (house, site):
        (report,) = report_hosts(house, HOST)
        order_host(house, report.facts.row.host_id, HostOrders(), delay=1.0)
        harvest(house)
        assert problems(house) == {}
        times = [at for at, _ in site.asked][-2:]
        assert min(later - sooner for sooner, later in pairwise(times)) >= 1.0


def application(*, scripts: bool) -> Host:
    """A site that answers every address alike, as applications do that make their pages in the browser."""
    words = " ".join(f"menu{chr(97 + at)}" for at in range(20))
    script = "<script src=/app.js></script>" if scripts else ""
    body = f"<!doctype html><html><title>Andmed</title>{script}<nav>{words}</nav><div id=root>Laen…</div></html>"
    reply = WorldReply(status=200, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body.encode())
    return Host(name=APPLICATION, owner="Rehemaa", robots=None, robots_status=404, otherwise=lambda _: reply)


@pytest.mark.parametrize("scripts", [True, False], ids=["application", "front page for everything"])
def test_the_shell_of_an_application_is_no_error_page(tmp_path: Path, scripts: bool) -> None:
    world = World(seed=1, small=True)
    world.hosts[APPLICATION] = application(scripts=scripts)
    with WorldServer(world) as server:
        source = tmp_path / "pages.txt"
        urls = [f"http://{APPLICATION}/{path}" for path in ("", *(f"andmed/{n}" for n in range(6)))]
        source.write_text("\n".join(urls), encoding="utf-8")
        settings = settings_for(tmp_path, server)
        with House(settings.model_copy(update={"work": settings.work.model_copy(update={"enrich": False})})) as house:
            read_in(house, enter(house, str(source)).id)
            harvest(house)
            codes = {problem.code for problem in problems(house).values()}
            kept = {url for url, row in rows(house).items() if row.versions}
            assert kept == set(urls if scripts else urls[:1])
            assert codes == (set() if scripts else {"soft-error"})
        asked = [seen.path for seen in server.requests if seen.host == APPLICATION]
        assert asked[0] == "/robots.txt"
        assert asked[1].startswith("/rehi-")
        assert asked[2] == "/"  # asked for once more, since what can't exist looked like a page
        assert len(asked) == 3 + len(urls)


def test_an_honest_host_is_not_asked_for_its_front_page(tmp_path: Path) -> None:
    def answer(path: str) -> Reply:
        return (404, HTML, b"<p>There is no such page") if path.startswith("/rehi-") else page(path)

    with visited(tmp_path, answer, [f"/{n}" for n in range(6)]) as (house, site):
        harvest(house)
        assert "/" not in site.pages
        assert len(site.pages) == 6

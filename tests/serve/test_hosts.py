"""Hosts over HTTP: how they fare, and orders that hold at once."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from rehi.app import House
from rehi.model.listing import DocumentFilter
from rehi.model.listing import Page as Part
from rehi.serve import running
from rehi.service import Service
from rehi.testing.waiting import PATIENCE, wait_until
from tests.cli.command_line import rehi
from tests.serve.conftest import Ask
from tests.serve.slow_web import PACE, SLOW, at_pace, slow_settings, slow_urls, slow_web, wait_for_peace

SLOWLY = 0.8  # seconds that each page takes while orders are given
A_WHILE = 2.0  # seconds in which the slow host would be asked twice
HOST = "www.rehemaa.test"


def send(ask: Ask, path: str, value: object) -> tuple[int, str]:
    answer = ask(path, body=json.dumps(value).encode(), Content_Type="application/json")
    return answer.status, answer.text


def test_hosts_are_listed_and_narrowed_down(ask: Ask) -> None:
    everything = ask("/api/hosts?limit=1000").json
    assert everything["total"] == len(everything["hosts"]) > 10
    troubled = [row["failures"] > 0 or row["strain"] > 1 for row in everything["hosts"]]
    assert troubled == sorted(troubled, reverse=True)
    few = ask("/api/hosts?like=rehemaa.test&limit=2&offset=1").json
    assert len(few["hosts"]) == 2
    assert all("rehemaa.test" in row["origin"] for row in few["hosts"])


@pytest.mark.parametrize("like", ["%", "_", "<script>alert(1)</script>", "'; DROP TABLE host; --", "x" * 300])
def test_a_filter_is_a_part_of_a_name_and_nothing_else(ask: Ask, like: str) -> None:
    assert ask(f"/api/hosts?like={quote(like)}").json == {"total": 0, "hosts": []}
    text = ask(f"/hosts?like={quote(like)}").text
    assert "No host has that in its name." in text
    assert "<script>alert" not in text


def test_a_filter_that_no_name_can_hold_is_refused(ask: Ask) -> None:
    answer = ask(f"/api/hosts?like={'x' * 301}")
    assert (answer.status, answer.json["detail"]) == (400, "like has at most 300 characters")


def test_all_that_is_known_of_a_host(ask: Ask) -> None:
    (report,) = ask(f"/api/hosts/{HOST}").json
    assert report["facts"]["row"]["origin"] == f"http://{HOST}"
    assert "Disallow: /sisemine/" in report["rules"]
    assert report["facts"]["visits"]
    assert report["facts"]["row"]["address"] == "127.0.0.1"
    assert report["state"]


@pytest.mark.parametrize("name", ["nowhere.test", "<script>", "a b", "%00", "x" * 3000, "..", "[::1"])
def test_a_host_that_is_not_known_gets_a_sentence(ask: Ask, name: str) -> None:
    for path in ("/api/hosts/", "/hosts/"):
        answer = ask(path + quote(name, safe="%"))
        assert answer.status == 404
        assert len(answer.json["detail"]) > 5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"hours": "whenever"}, "no hours"),
        ({"hours": "25:00-26:00"}, "no hours"),
        ({"delay": -1}, "delay is 0 to 86400"),
        ({"delay": 1e9}, "delay is 0 to 86400"),
        ({"delay": "soon"}, "delay: "),
        ({"connections": 1000}, "connections is 0 to 32"),
        ({"connections": 1.5}, "connections is a whole number"),
        ({"left_alone": "perhaps"}, "left_alone: "),
        ({"why": "x" * 201}, "why has at most 200 characters"),
        ({"pace": 3}, "there are delay, connections, hours, left_alone, why"),
        ([], "object"),
    ],
)
def test_orders_that_can_not_be_understood(ask: Ask, given: object, says: str) -> None:
    (report,) = ask(f"/api/hosts/{HOST}").json
    status, text = send(ask, f"/api/hosts/{report['facts']['row']['host_id']}/orders", given)
    assert status == 422
    assert says in text
    (after,) = ask(f"/api/hosts/{HOST}").json
    assert after["facts"]["orders"] == report["facts"]["orders"]


def test_orders_for_nobody_or_without_sense(ask: Ask) -> None:
    assert send(ask, "/api/hosts/99999999/orders", {"delay": 2})[0] == 404
    assert send(ask, "/api/hosts/x/orders", {"delay": 2})[0] == 404
    assert ask("/api/hosts/1/orders", body=b"{not json", Content_Type="application/json").status == 400
    assert ask("/api/hosts/1/orders", body=b" " * 100_000, Content_Type="application/json").status == 413
    assert ask("/api/hosts/1/orders", body=b"{}", Origin="http://evil.test").status == 403


def test_an_order_holds_and_is_taken_back(ask: Ask) -> None:
    (report,) = ask("/api/hosts/www.lepaoja.test").json
    path = f"/api/hosts/{report['facts']['row']['host_id']}/orders"
    status, text = send(ask, path, {"delay": 2.5, "connections": 3, "hours": "20:00-06:00"})
    assert status == 200
    assert json.loads(text)["delay"] == 2.5
    (changed,) = ask("/api/hosts/www.lepaoja.test").json
    assert (changed["delay"], changed["connections"], changed["hours"]) == (2.5, 3, "20:00-06:00")
    assert send(ask, path, {"delay": 0, "connections": 0, "hours": ""})[0] == 200
    (again,) = ask("/api/hosts/www.lepaoja.test").json
    assert (again["delay"], again["connections"], again["hours"]) == (report["delay"], 1, "")


def test_on_a_public_address_orders_need_the_token(guarded: Ask) -> None:
    for path in ("/api/hosts/1/orders", "/hosts/a.test/orders", "/api/updates", "/updates", "/api/sources/1/policy"):
        assert guarded(path, body=b"{}").status == 401
    assert guarded("/api/hosts/1/orders", body=b"{}", Authorization="Bearer sesam").status == 404
    assert "<button>Update everything" not in guarded("/updates").text


def test_the_list_leads_to_a_host_and_its_rules(page: Page) -> None:
    page.goto("/hosts")
    page.get_by_label("In the name").fill("lepaoja")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#hosts tbody tr")).to_have_count(1)
    page.get_by_role("link", name="http://www.lepaoja.test").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("www.lepaoja.test")
    expect(page.locator("pre")).to_contain_text("Disallow: /otsi")
    assert page.locator("[id^=visits-] tbody tr").count() > 3
    page.locator("[id^=visits-] tbody a").first.click()
    page.get_by_role("link", name="www.lepaoja.test", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("www.lepaoja.test")


def test_a_host_whose_robots_txt_can_not_be_had_says_since_when_and_until_when(ask: Ask, page: Page) -> None:
    rows = ask("/api/hosts?limit=1000").json["hosts"]
    reports = [ask(f"/api/hosts/{row['origin'].partition('://')[2]}").json[0] for row in rows if row["failures"]]
    report = next(found for found in reports if found["robots_waits_until"])
    since = report["facts"]["robots_failing_since"]
    page.goto(f"/hosts/{report['facts']['row']['origin'].partition('://')[2]}")
    shown = page.locator("[id^=robots-]")
    expect(shown).to_contain_text(f"can't be had since {since[:10]} {since[11:19]} UTC")
    expect(shown).to_contain_text(f"or until {report['robots_waits_until'][:10]}")


def test_wrong_hours_are_explained_on_a_page(page: Page) -> None:
    page.goto(f"/hosts/{HOST}")
    page.get_by_label("Hours, as in 20:00-06:00").fill("<b>never</b>")
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_role("alert")).to_contain_text("'<b>never</b>' are no hours")


def test_a_host_is_left_alone_at_once_and_visited_again(browser: Browser, tmp_path: Path) -> None:
    """Ordered on the page, on the command line and by REST, measured at the host."""
    with slow_web(pages=24) as server, at_pace(SLOWLY):
        settings = slow_settings(tmp_path, server, slow_urls(server))
        with House(settings) as house:
            service = Service(house)
            service.start()
            with running(house, service, port=0) as address, browser.new_context(base_url=address) as context:
                wait_until(lambda: server.counts[SLOW] >= 5, what="a few pages are visited")
                page = context.new_page()
                page.goto(f"/hosts/{SLOW}")
                page.get_by_label("Reason").fill("<i>they asked</i>")
                page.get_by_role("button", name="Leave it alone").click()
                left_at = time.monotonic()
                expect(page.locator("[id^=state-]")).to_contain_text("Left alone by order: <i>they asked</i>")
                expect(page.locator("pre")).to_contain_text("Disallow: /<script>alert(1)</script>")
                assert wait_for_peace(server, A_WHILE) - left_at < PATIENCE / 4

                seen = server.counts[SLOW]
                again = rehi("host", SLOW, "--visit-again", data=settings.data)
                assert again.returncode == 0, again.stderr
                wait_until(lambda: server.counts[SLOW] >= seen + 3, what="it is visited again")

                left = rehi("host", f"http://{SLOW}/leht/1", "--leave-alone", "--why", "rahu", data=settings.data)
                left_at = time.monotonic()
                assert "left alone by order: rahu" in left.stdout
                assert "\x1b" not in left.stdout
                assert wait_for_peace(server, A_WHILE) - left_at < PATIENCE / 4
                rows, _ = house.catalogue.documents(DocumentFilter(), Part(limit=100))
                assert any(row.state == "waiting" for row in rows), "it was over before it could be tried"

                PACE.seconds = 0.05
                page.reload()
                page.get_by_role("button", name="Visit it again").click()
                expect(page.get_by_role("button", name="Leave it alone")).to_be_visible()
                wait_until(
                    lambda: house.catalogue.totals(now=service.house.catalogue.clock()).documents == 24,
                    what="all pages are read",
                )
                expect(page.locator("[id^=visits-] tbody tr")).to_have_count(20)  # by itself
            service.stop()
            rows, _ = house.catalogue.documents(DocumentFilter(), Part(limit=100))
            assert [row.state for row in rows] == ["new"] * 24

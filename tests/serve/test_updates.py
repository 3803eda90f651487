"""Updates over HTTP: the button, the row that it leaves, and a source's policy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rehi.app import House
from rehi.model.update import Update, UpdateKind, UpdateState
from rehi.serve import running
from rehi.serve.updates_chart import HEIGHT, draw_columns
from rehi.service import Service
from rehi.testing.waiting import wait_until
from rehi.testing.world import WorldServer
from tests.serve.conftest import Ask, ask_at
from tests.serve.slow_web import slow_settings, slow_web

CHANGING = 6


@pytest.fixture(scope="module")
def web() -> Iterator[WorldServer]:
    with slow_web(pages=1) as server:
        yield server


@pytest.fixture(scope="module")
def changing(web: WorldServer) -> list[str]:
    """Pages that change from hour to hour or from day to day."""
    return [found.url for found in web.world.documents if found.period and not found.late][:CHANGING]


@pytest.fixture(scope="module")
def own_address(web: WorldServer, changing: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = slow_settings(tmp_path_factory.mktemp("updates"), web, changing)
    with House(settings) as house:
        service = Service(house)
        service.start()
        with running(house, service, port=0) as at:
            yield at
        service.stop()


@pytest.fixture
def own(own_address: str) -> Ask:
    return ask_at(own_address)


def until_done(ask: Ask, update_id: int) -> dict[str, object]:
    def ended() -> dict[str, object] | None:
        (row,) = [row for row in ask("/api/updates").json["updates"] if row["id"] == update_id]
        return dict(row) if row["state"] != "running" else None

    return wait_until(ended, what="the update has ended", pause=0.1) or {}


def until_visited(ask: Ask, number: int) -> None:
    wait_until(lambda: ask("/api/status").json["totals"]["visits"] >= number, what="the pages are visited", pause=0.1)


def order(ask: Ask, given: object) -> tuple[int, dict[str, object]]:
    answer = ask("/api/updates", body=json.dumps(given).encode(), Content_Type="application/json")
    return answer.status, answer.json


def test_an_update_of_everything_counts_what_came_of_it(own: Ask, web: WorldServer) -> None:
    until_visited(own, CHANGING)
    status, row = order(own, {})
    assert status == 202
    assert (row["kind"], row["state"], row["due"]) == ("ordered", "running", CHANGING)
    unchanged = until_done(own, int(str(row["id"])))
    counts = unchanged["counts"]
    assert isinstance(counts, dict)
    assert (counts["visited"], counts["unchanged"], counts["changed"]) == (CHANGING, CHANGING, 0)
    web.world.clock.advance(400 * 86_400)
    _, row = order(own, {})
    changed = until_done(own, int(str(row["id"])))
    counts = changed["counts"]
    assert isinstance(counts, dict)
    assert (counts["visited"], counts["changed"]) == (CHANGING, CHANGING)
    assert changed["state"] == "done"


def test_an_update_of_one_page_or_one_host(own: Ask, changing: list[str]) -> None:
    until_visited(own, CHANGING)
    status, row = order(own, {"url": changing[0]})
    assert (status, row["due"]) == (202, 1)
    assert until_done(own, int(str(row["id"])))["state"] == "done"
    host = changing[0].split("/")[2]
    status, row = order(own, {"host": host})
    assert (status, row["due"]) == (202, sum(url.split("/")[2] == host for url in changing))
    assert until_done(own, int(str(row["id"])))["state"] == "done"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"host": "nowhere.test"}, 404),
        ({"url": "http://nowhere.test/"}, 404),
        ({"source": 77}, 404),
        ({"source": 0}, 422),
        ({"source": 10**30}, 422),
        ({"source": "x"}, 422),
        ({"source": 1, "host": "a.test"}, 422),
        ({"everything": True}, 422),
    ],
)
def test_an_update_of_nothing_is_refused(own: Ask, given: object, status: int) -> None:
    before = own("/api/updates").json["total"]
    said, answer = order(own, given)
    assert said == status
    assert len(str(answer["detail"])) > 5
    assert own("/api/updates").json["total"] == before


def test_the_button_and_the_numbers_that_come_alive(browser: Browser, own_address: str) -> None:
    with browser.new_context(base_url=own_address) as context:
        page = context.new_page()
        page.goto("/updates")
        rows = page.locator("table.updates tbody tr")
        before = rows.count()
        page.get_by_role("button", name="Update everything now").click()
        expect(rows).to_have_count(before + 1)
        expect(rows.first).to_contain_text("ordered")
        expect(rows.first).to_contain_text("done")  # without a reload
        expect(page.locator(".picture rect.unchanged").first).to_be_attached()
        assert page.evaluate("getComputedStyle(document.querySelector('.picture rect')).fill") != "rgb(0, 0, 0)"


def test_a_source_gets_a_policy_and_a_priority_on_its_page(browser: Browser, own_address: str) -> None:
    with browser.new_context(base_url=own_address) as context:
        page = context.new_page()
        page.goto("/sources/1")
        expect(page.get_by_text("By the policy adaptive, which is the setting")).to_be_visible()
        page.get_by_label("Policy").fill("fixed 0 1 1 * *")
        page.get_by_label("Priority").select_option("high")
        page.get_by_role("button", name="Set", exact=True).click()
        expect(page.get_by_text("By the policy fixed 0 1 1 * *, with high priority")).to_be_visible()
        page.get_by_label("Policy").fill("fixed <b>now</b>")
        page.get_by_role("button", name="Set", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("<b>now</b>")
        page.goto("/sources/1")
        page.get_by_label("Policy").fill("")
        page.get_by_role("button", name="Set", exact=True).click()
        expect(page.get_by_text("By the policy adaptive, which is the setting, with high priority")).to_be_visible()


@pytest.mark.parametrize(
    ("given", "status"),
    [({"policy": "sometimes"}, 422), ({"policy": "fixed 99 99 * * *"}, 422), ({"priority": "utmost"}, 422), ({}, 200)],
)
def test_a_policy_that_can_not_be_understood(own: Ask, given: object, status: int) -> None:
    before = own("/api/sources/1").json
    answer = own("/api/sources/1/policy", body=json.dumps(given).encode(), Content_Type="application/json")
    assert answer.status == status, answer.text
    after = own("/api/sources/1").json
    assert (after["policy"], after["weight"]) == (before["policy"], before["weight"])
    assert own("/api/sources/77/policy", body=b"{}").status == 404


def test_the_picture_stacks_what_came_of_each_update() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)

    def row(number: int, **counts: int) -> Update:
        return Update(
            id=number, kind=UpdateKind.ORDERED, state=UpdateState.DONE, started_at=at, ended_at=at, due=0, workers=1,
            counts=counts, seconds={},
        )  # fmt: skip

    newest_first = [row(3, first=5, problems=5), row(2), row(1, unchanged=20)]
    old, new = draw_columns(newest_first)
    assert (old.update_id, new.update_id) == (1, 3)
    assert old.x < new.x
    (whole,) = old.blocks
    assert (whole.y, whole.height) == (0.0, HEIGHT)
    below, above = new.blocks
    assert (below.part, below.height, below.y) == ("first", 25.0, 75.0)
    assert (above.part, above.height, above.y) == ("problems", 25.0, 50.0)


def test_pages_work_without_scripts(browser: Browser, own_address: str) -> None:
    with browser.new_context(base_url=own_address, java_script_enabled=False) as context:
        page: Page = context.new_page()
        page.goto("/updates")
        before = page.locator("table.updates tbody tr").count()
        page.get_by_role("button", name="Update everything now").click()
        assert page.locator("table.updates tbody tr").count() == before + 1


def test_only_our_own_scripts_are_on_the_pages(own: Ask, tmp_path: Path) -> None:
    for path in ("/hosts", "/updates", "/sources/1"):
        text = own(path, accept="text/html").text
        assert text.count("<script") == 1
        assert " style=" not in text
        assert " onclick" not in text

"""Differences over HTTP: the page with and without scripts, and JSON."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from rehi.app import House
from rehi.operations.diff import turns
from rehi.serve import running
from rehi.service import Service
from tests.compare.history import BINARY, EVIL, FEED, JSON, MARKUP, ONCE, PAGE, PLAIN, TABLE, past_in
from tests.serve.conftest import Ask, ask_at


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = past_in(tmp_path_factory.mktemp("diff") / "data")
    with House(settings) as house, running(house, Service(house), port=0) as address:
        yield address


@pytest.fixture
def ask_past(at: str) -> Ask:
    return ask_at(at)


@pytest.fixture
def here(browser: Browser, at: str) -> Iterator[Page]:
    with browser.new_context(base_url=at, viewport={"width": 1200, "height": 900}) as context:
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        yield page
    assert faults == []


def path(url: str, **more: str) -> str:
    return f"/diff?url={quote(url, safe='')}" + "".join(f"&{name}={quote(value)}" for name, value in more.items())


def test_json_has_what_the_command_has(ask_past: Ask) -> None:
    found = ask_past("/api" + path(TABLE, key="kood", blame="yes")).json
    assert found["table"]["key"] == {"columns": ["kood"], "why": "given"}
    assert [row["cells"][1] for row in found["table"]["added"]] == ["Võru vald"]
    assert [row["version"] for row in found["blame"]] == [3, 3, 3]
    assert found["names"] is None
    few = ask_past("/api" + path(TABLE, limit="1", blame="yes")).json
    assert (len(few["blame"]), few["complete"]) == (1, False)


def test_json_has_names_when_they_are_asked_for(ask_past: Ask) -> None:
    names = ask_past("/api" + path(PAGE, **{"from": "1", "names": "yes"})).json["names"]
    assert [one["name"] for one in names["vanished"]] == ["Katrin Paio"]


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("/api/diff", 400, "say which"),
        ("/api/diff?url=", 400, "say which"),
        ("/diff/names", 400, "say which"),
        ("/api" + path("http://nowhere.test/"), 404, "nothing is kept"),
        ("/api" + path(ONCE), 404, "only one version"),
        ("/api" + path(PAGE, to="99"), 404, "no version 99"),
        ("/api" + path(PAGE, to="<b>"), 400, "neither the number"),
        ("/api" + path(PAGE, blame="yes"), 422, "are for tables"),
        ("/api" + path(TABLE, key="puudub"), 422, "there is no column"),
        ("/api" + path(TABLE, limit="many"), 400, "whole number"),
        ("/api" + path(TABLE, limit="0"), 400, "limit is 1 to"),
        ("/api" + path(TABLE, limit="999999999"), 400, "limit is 1 to"),
        (path("\x00"), 400, "url holds control characters"),
        ("/api" + path("http://nowhere.test/", **{"from": "zz"}), 400, "neither the number"),
    ],
)
def test_what_can_not_be_answered_is_explained(ask_past: Ask, address: str, status: int, says: str) -> None:
    answer = ask_past(address)
    assert answer.status == status
    assert says in answer.json["detail"]


def test_many_comparisons_at_once_leave_the_other_pages_alone(ask_past: Ask) -> None:
    held = 0
    while turns.acquire(blocking=False):
        held += 1
    try:
        busy = ask_past("/api" + path(PLAIN))
        assert (busy.status, busy.headers["retry-after"]) == (503, "5")
        assert ask_past("/problems").status == 200
    finally:
        for _ in range(held):
            turns.release()
    assert ask_past("/api" + path(PLAIN)).status == 200


def test_the_page_needs_no_script(browser: Browser, at: str) -> None:
    with browser.new_context(base_url=at, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(path(PAGE, **{"from": "1"}))
        expect(page.locator("tr.line.changed del").first).to_have_text("Katrin Paio")
        expect(page.locator("tr.line.added")).to_have_count(1)
        page.get_by_label("From").select_option("2")
        page.get_by_role("button", name="Compare").click()
        expect(page.locator("tr.line.changed")).to_have_count(0)
        expect(page.locator("tr.line.added")).to_have_count(1)
        page.get_by_role("link", name="Which names appeared or vanished?").click()
        expect(page.get_by_role("link", name="Mari Maasikas")).to_be_visible()


def test_names_come_by_themselves_and_versions_can_be_opened(here: Page) -> None:
    here.goto(path(PAGE, **{"from": "1"}))
    expect(here.locator("#names")).to_contain_text("Katrin Paio")
    expect(here.locator("#bar rect")).to_have_count(2)
    targets = [link.get_attribute("href") for link in here.locator(".sides a").all()]
    answers = [here.request.get(target or "") for target in targets]
    assert [answer.status for answer in answers] == [200, 200]
    assert "Katrin Paio" in answers[0].text()
    assert "Mari Maasikas" in answers[1].text()
    assert [answer.url.partition("/web/")[2][:14] for answer in answers] == ["20260301120000", "20260321120000"]


def test_a_table_is_shown_with_its_key_and_since_when(here: Page) -> None:
    here.goto(path(TABLE))
    expect(here.locator("section[aria-labelledby=table-heading]")).to_contain_text("Rows are known by kood")
    expect(here.locator("table.cells tbody tr")).to_have_count(1)
    expect(here.locator("table.cells ins")).to_have_text("Antsla vald")
    expect(here.locator(".schema")).to_contain_text("pindala")
    here.get_by_label("since when each row is so").check()
    here.get_by_role("button", name="Compare").click()
    expect(here.locator("table.blame tbody tr")).to_have_count(3)


@pytest.mark.parametrize("url", [JSON, FEED, PLAIN, BINARY, MARKUP], ids=["json", "feed", "plain", "binary", "markup"])
def test_every_kind_has_a_page(ask_past: Ask, url: str) -> None:
    answer = ask_past(path(url))
    assert answer.status == 200
    assert "What changed" in answer.text
    link = re.search(r'href="(/api/diff[^"]*)">This as JSON', answer.text)
    assert link is not None
    assert ask_past(html.unescape(link[1])).status == 200


def test_markup_in_a_table_is_text(here: Page) -> None:
    here.goto(path(EVIL, blame="yes"))
    expect(here.locator("table.cells ins")).to_have_text("x1")
    expect(here.locator("table.blame tbody tr")).to_have_count(500)
    expect(here.get_by_text("There is more than is shown here.")).to_be_visible()
    assert "What changed" in here.title()
    assert here.locator("main script").count() == 1
    assert "<script>document" in here.locator("table.blame").inner_text()


@pytest.mark.parametrize("url", [PAGE, TABLE, JSON, EVIL], ids=["page", "table", "json", "evil"])
def test_nothing_sticks_out_on_a_phone(browser: Browser, at: str, url: str) -> None:
    with browser.new_context(base_url=at, viewport={"width": 360, "height": 740}, is_mobile=True) as context:
        page = context.new_page()
        page.goto(path(url))
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_an_address_there_is_a_form(here: Page) -> None:
    here.goto("/diff")
    here.get_by_label("The address of a page or a file").fill(PLAIN)
    here.get_by_role("button", name="Compare its versions").click()
    expect(here.locator("tr.line.added").first).to_be_visible()

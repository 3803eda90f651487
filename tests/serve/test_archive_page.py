"""The archive over HTTP: numbers, pictures, and the form for what is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rehi.app import House
from rehi.model.holdings import Holding
from rehi.serve import running
from rehi.serve.holdings_chart import draw_bars
from rehi.service import Service
from rehi.settings import load_settings
from tests.keeper import Keeper, at
from tests.serve.conftest import Ask, ask_at


def test_programs_get_the_numbers(ask: Ask) -> None:
    said = ask("/api/archive").json
    held = said["holdings"]
    assert held["versions"] == ask("/api/status").json["totals"]["versions"] > 50
    assert held["logical"] == held["distinct"] + held["duplicate"]
    assert 0 < held["stored"] < said["file_bytes"]
    assert said["files"] >= 1
    assert sum(row["versions"] for row in held["by_type"]) <= held["versions"]
    assert said["sample"]["missing"] == 0
    assert len(ask("/api/archive?limit=1").json["holdings"]["by_host"]) == 1
    assert ask("/api/archive?limit=0").status == 400


def test_the_page_shows_bars_by_type_and_host(page: Page) -> None:
    page.goto("/archive")
    expect(page.get_by_role("heading", level=1)).to_have_text("The archive")
    expect(page.get_by_role("link", name="Archive", exact=True)).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("heading", name="By type")).to_be_visible()
    first = page.get_by_role("img", name="text/html: ")
    expect(first).to_be_visible()
    box = first.bounding_box()
    assert box is not None
    assert box["width"] > 100
    assert page.locator("svg rect.stored").count() > 3
    assert page.locator(".holdings tbody tr").count() > 10
    expect(page.get_by_text("are stored whole")).to_be_visible()


def test_a_rule_is_set_on_the_sources_page_and_shown_on_the_archives(page: Page) -> None:
    page.goto("/sources/1")
    page.get_by_label("Keep").fill("last 9 and one per year")
    page.get_by_role("button", name="Set what is kept").click()
    expect(page.get_by_text("last 9 and one per year.", exact=False)).to_be_visible()
    page.goto("/archive")
    expect(page.get_by_text(": last 9 and one per year")).to_be_visible()
    page.goto("/sources/1")
    page.get_by_label("Keep").fill("<b>some</b>")
    page.get_by_role("button", name="Set what is kept").click()
    expect(page.get_by_role("alert")).to_contain_text("'<b>some</b>' is no rule")
    page.goto("/sources/1")
    page.get_by_label("Keep").fill("")
    page.get_by_role("button", name="Set what is kept").click()
    page.goto("/archive")
    expect(page.get_by_text("Every version of everything.")).to_be_visible()


def test_a_rule_is_set_by_rest(ask: Ask) -> None:
    def send(path: str, value: object) -> tuple[int, str]:
        answer = ask(path, body=json.dumps(value).encode(), Content_Type="application/json")
        return answer.status, answer.text

    status, text = send("/api/sources/1/keep", {"keep": "references"})
    assert (status, json.loads(text)["keep"]) == (200, "references")
    assert send("/api/sources/1/keep", {"keep": "all"})[0] == 200
    assert ask("/api/sources/1").json["keep"] == ""
    for wrong in ({"keep": "none"}, {}, {"keep": 5}, {"keep": "last 1", "more": 1}, {"keep": "x" * 300}):
        assert send("/api/sources/1/keep", wrong)[0] == 422, wrong
    assert send("/api/sources/999/keep", {"keep": "last 1"})[0] == 404


def test_on_a_public_address_a_rule_needs_the_token(guarded: Ask) -> None:
    assert guarded("/api/sources/1/keep", body=b'{"keep":"last 1"}').status == 401
    assert guarded("/sources/1/keep", body=b"keep=last+1").status == 401
    assert guarded("/archive").status == 200


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[Ask]:
    with House(load_settings(data=tmp_path / "data")) as house:
        keeper = Keeper(house)
        keeper.new("http://a.test/", b"x" * 500, at(0), media_type='"><script>alert(1)</script>')
        keeper.new("http://a.test/none", b"", at(0), media_type="")
        keeper.close()
        service = Service(house)
        service.start()
        with running(house, service, port=0) as address:
            yield ask_at(address)
        service.stop()


def test_a_type_from_outside_is_only_text(strange: Ask) -> None:
    text = strange("/archive").text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "none said" in text


def test_an_empty_archive_says_so(guarded: Ask) -> None:
    assert "Nothing is kept yet" in guarded("/archive").text
    assert guarded("/api/archive").json["holdings"]["by_type"] == []


def test_a_bar_is_as_long_as_its_bytes_and_never_longer() -> None:
    rows = [
        Holding(name="a", versions=3, bodies=2, logical=200, distinct=150, stored=30),
        Holding(name="b", versions=1, bodies=1, logical=100, distinct=100, stored=400),
        Holding(name="c", versions=1, bodies=1, logical=0, distinct=0, stored=90),
    ]
    first, second, third = draw_bars(rows)
    assert [(part.part, part.x, part.width) for part in first.segments] == [
        ("stored", 0.0, 15.0),
        ("packed", 15.0, 60.0),
        ("duplicate", 75.0, 25.0),
    ]
    assert [(part.part, part.width) for part in second.segments] == [("stored", 50.0)]
    assert third.segments == ()
    assert draw_bars([]) == []

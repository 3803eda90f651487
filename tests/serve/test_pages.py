"""The pages in a real browser, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import Harvested


def test_a_log_is_uploaded_started_and_its_numbers_come_alive(page: Page, harvested: Harvested, tmp_path: Path) -> None:
    urls = "\n".join(document.url for document in harvested.world.documents[:5])
    log = tmp_path / "brauserist.txt"
    log.write_text(urls, encoding="utf-8")
    page.goto("/")
    page.get_by_label("A crawl log or a list of URLs").set_input_files(log)
    page.get_by_label("start at once").uncheck()
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="brauserist.txt")).to_be_visible()
    expect(page.locator("[data-value=state]")).to_have_text("waiting")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("[data-value=state]")).to_have_text("done")
    expect(page.locator("[data-value='counts.accepted']")).to_have_text("5")


def test_a_document_shows_its_names_and_marks_them_in_its_text(page: Page) -> None:
    page.goto("/documents?language=et&type=text/html")
    page.locator("ul.documents a.title").nth(3).click()
    expect(page.get_by_role("heading", name="Versions")).to_be_visible()
    name = page.locator("ul.names a").first
    spelled = name.inner_text()
    assert page.locator(".text a.kind-person, .text a.kind-organisation, .text a.kind-place").count() > 0
    name.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(spelled)
    assert page.locator("ul.documents li").count() > 0


def test_names_are_found_by_their_beginning(page: Page) -> None:
    page.goto("/names")
    page.get_by_label("A name begins with").fill("tal")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("link", name="Tallinn", exact=True)).to_be_visible()


def test_the_graph_is_asked_and_answers_in_a_table(page: Page) -> None:
    page.goto("/sparql")
    page.get_by_role("link", name="People, most mentioned first").click()
    expect(page.get_by_role("columnheader", name="pages")).to_be_visible()
    assert page.locator("tbody tr").count() > 10


def test_a_wrong_query_is_explained(page: Page) -> None:
    page.goto("/sparql?query=ASK%20%7B%20%3Fs%20%7D")
    assert page.get_by_role("alert").inner_text()


def test_problems_are_read_by_stage(page: Page) -> None:
    page.goto("/problems")
    page.get_by_role("link", name="fetch").click()
    assert page.locator("ul.problems li").count() > 10
    expect(page.locator("ul.problems li").first).to_contain_text("next:")
    expect(page.locator("ul.problems li").first).to_contain_text("first 20")


def test_problems_are_counted_by_class_and_read_by_it(page: Page) -> None:
    page.goto("/problems")
    classes = page.get_by_role("group", name="Classes")
    assert classes.get_by_role("link").count() > 8
    slow = classes.get_by_role("link", name="timed-out")
    many = int(slow.locator("b").inner_text())
    slow.click()
    expect(page.locator("ul.problems li")).to_have_count(many)
    expect(slow).to_have_attribute("aria-current", "page")
    first = page.locator("ul.problems li").first
    for words in ("timed-out", "time", "first 20", "last 20", "next: retry", "Raise fetch.timeout"):
        expect(first).to_contain_text(words)
    page.goto("/problems?code=%3Ci%3Enone")
    expect(page.get_by_role("main")).to_contain_text("No problems of the class <i>none; there are ")


def test_pages_that_are_not_there_say_so_politely(page: Page) -> None:
    answer = page.request.get("/documents/987654321", headers={"accept": "text/html"})
    assert answer.status == 404
    assert "Back to the overview" in answer.text()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/documents",
        "/names",
        "/sparql",
        "/problems",
        "/sources/1",
        "/documents/1",
        "/hosts",
        "/hosts/www.rehemaa.test",
        "/updates",
    ],
)
def test_nothing_sticks_out_on_a_phone(browser: Browser, address: str, path: str) -> None:
    with browser.new_context(base_url=address, viewport={"width": 360, "height": 740}, is_mobile=True) as context:
        page = context.new_page()
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_page_full_of_markup_is_shown_as_text(page: Page, harvested: Harvested) -> None:
    page.goto("/names?name=%3Cscript%3Ealert(1)%3C/script%3E")
    expect(page.get_by_label("A name begins with")).to_have_value("<script>alert(1)</script>")

"""The API describes itself: as an OpenAPI document, and as a page that people can read and try."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from rehi.operations.table import OPERATIONS
from rehi.serve.problem_details import KINDS, STATUS
from tests.serve.conftest import Ask


def test_the_document_names_every_operation_once(ask: Ask) -> None:
    document = ask("/openapi.json").json
    described = [item["operationId"] for path in document["paths"].values() for item in path.values()]
    assert document["openapi"].startswith("3.1")
    assert sorted(described) == sorted(operation.name for operation in OPERATIONS)
    assert len(set(described)) == len(described)


def test_every_reference_in_the_document_leads_somewhere(ask: Ask) -> None:
    answer = ask("/openapi.json")
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', answer.text))
    assert names <= answer.json["components"]["schemas"].keys()
    assert not [name for name in answer.json["components"]["schemas"] if "__" in name]  # two classes of one name


def test_limits_are_in_the_document(ask: Ask) -> None:
    (limit,) = [
        one
        for one in ask("/openapi.json").json["paths"]["/api/documents"]["get"]["parameters"]
        if one["name"] == "limit"
    ]
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50}


def test_what_changes_something_is_what_needs_the_token() -> None:
    assert {operation.name for operation in OPERATIONS if operation.changes} == {
        operation.name for operation in OPERATIONS if operation.method != "GET" and operation.path != "/sparql"
    }


def test_the_page_shows_every_operation_every_type_and_every_problem(ask: Ask) -> None:
    page = ask("/docs").text
    for operation in OPERATIONS:
        assert f'id="{operation.name}"' in page
    for name in ask("/openapi.json").json["components"]["schemas"]:
        assert f'id="type-{name}"' in page
    for code in [*(kind.code for kind in STATUS), *(code for code, _ in KINDS.values())]:
        assert f'id="problem-{code}"' in page


def test_an_operation_can_be_tried_on_the_page(page: Page) -> None:
    page.goto("/docs")
    form = page.locator("#list_documents form")
    form.get_by_label("limit").fill("1")
    form.get_by_role("button", name="Ask").click()
    expect(page).to_have_url(re.compile(r"/api/documents\?limit=1&offset=0"))
    assert '"documents":[' in page.content()


@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_sticks_out(browser: Browser, address: str, width: int) -> None:
    with browser.new_context(base_url=address, viewport={"width": width, "height": 740}) as context:
        page = context.new_page()
        page.goto("/docs")
        assert page.evaluate("document.documentElement.scrollWidth") <= width

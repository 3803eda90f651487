"""Nothing that is asked is ignored: what is unknown, malformed or given twice is refused, in the same words everywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rehi.operations.table import OPERATIONS
from rehi.serve.page_table import PAGES
from tests.serve.conftest import Ask, Reply

PLACES = {
    "source_id": "1", "document_id": "1", "host_id": "1", "kind": "person", "slug": "nobody", "name": "nowhere.test",
}  # fmt: skip
ADDRESSES = [one.address for one in OPERATIONS] + [one.address for one in PAGES]
READ = sorted({path for method, path in map(str.split, ADDRESSES) if method == "GET" and not path.startswith("/web/")})
CHANGED = sorted({operation.path for operation in OPERATIONS if operation.changes})


def fill(path: str) -> str:
    for name, value in PLACES.items():
        path = path.replace("{" + name + "}", value).replace("{" + name + ":path}", value)
    return path


def is_problem(answer: Reply, status: int) -> bool:
    problem = answer.json
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "instance", "code", "advice"} <= problem.keys()
    assert problem["status"] == answer.status
    return answer.status == status


@pytest.mark.parametrize("path", READ)
def test_an_unknown_parameter_is_refused_everywhere(ask: Ask, path: str) -> None:
    answer = ask(f"{fill(path)}?nonsense=1")
    assert is_problem(answer, 400)
    assert "'nonsense' is not known here" in [one["detail"].partition(";")[0] for one in answer.json["parameters"]]


@pytest.mark.parametrize("path", CHANGED)
def test_what_changes_something_takes_nothing_from_the_query(ask: Ask, path: str) -> None:
    assert is_problem(ask(f"{fill(path)}?start=1", body=b"{}", Content_Type="application/json"), 400)


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/api/documents?limit=0", "limit is 1 to 1000"),
        ("/api/documents?limit=1001", "limit is 1 to 1000"),
        ("/api/documents?limit=5.0", "limit is a whole number"),
        ("/api/documents?limit=%205", "limit is a whole number"),
        ("/api/documents?limit=1_0", "limit is a whole number"),
        ("/api/documents?limit=", "limit is a whole number"),
        ("/api/documents?offset=-1", "offset is 0 to 1000000000000"),
        ("/api/documents?limit=1&limit=2", "limit is given twice"),
        ("/api/documents?source=x", "source is a whole number"),
        ("/api/documents?entity=katrin", "'katrin' is no entity"),
        ("/api/documents?since=2026-01-01", "'since' is not known here; there are q, host, type, language"),
        ("/api/entities?kind=dog", "kind is one of 'person', 'organisation' or 'place'"),
        ("/api/problems?stage=kitchen", "stage is one of 'sources', 'fetch'"),
        ("/api/versions", "say which: url is missing"),
        ("/api/versions?url=", "say which: url is empty"),
        ("/api/diff?url=x&names=perhaps", "names: input should be a valid boolean"),
        ("/download.zip?all=perhaps", "all: input should be a valid boolean"),
        ("/sparql?query=ASK%7B%7D&format=word", "format is one of"),
        ("/cdx?url=x&limit=1e3", "limit is a whole number"),
        ("/cdx?url=x&gzip=false", "'gzip' is not known here"),
        ("/documents?limit=many", "limit is a whole number"),
        ("/names?kind=dog", "kind is one of"),
    ],
)
def test_a_malformed_parameter_is_refused_with_a_sentence(ask: Ask, path: str, detail: str) -> None:
    answer = ask(path)
    assert is_problem(answer, 400)
    assert detail in answer.json["detail"]


def test_people_get_the_same_words_as_a_page(ask: Ask) -> None:
    page = ask("/documents?limit=many", Accept="text/html")
    assert page.status == 400
    assert page.headers["content-type"].startswith("text/html")
    assert "Limit is a whole number." in page.text
    assert "/docs#problem-bad-request" in page.text


def test_empty_fields_of_a_form_on_a_page_are_not_given(ask: Ask) -> None:
    assert ask("/documents?q=&host=&type=&language=&source=&limit=").status == 200
    assert ask("/problems?stage=&code=").status == 200


def test_entities_can_be_had_by_kind(ask: Ask) -> None:
    everybody = ask("/api/entities?limit=1000").json
    for kind in ("person", "organisation", "place"):
        wanted = [row for row in everybody if row["key"]["kind"] == kind]
        assert wanted
        assert ask(f"/api/entities?kind={kind}&limit=1000").json == wanted
        assert ask(f"/api/entities?kind={kind}&limit=2&offset=1").json == wanted[1:3]
    assert ask("/names?kind=place").status == 200


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/api/updates", b"{not json", {}, 400),
        ("/api/updates", b'{"source": "1"}', {}, 422),
        ("/api/updates", b'{"source": 1.5}', {}, 422),
        ("/api/updates", b'{"sauce": 1}', {}, 422),
        ("/api/updates", b"[]", {}, 422),
        ("/api/updates", b"<x/>", {"Content_Type": "text/xml"}, 415),
        ("/api/updates", b" " * 70_000, {}, 413),
        ("/api/sources", b"hello", {"Content_Type": "text/plain"}, 415),
        ("/api/sources", b"{}", {"Content_Type": "application/json"}, 422),
        ("/api/sources", b'{"source": "ftp://a.test/"}', {"Content_Type": "application/json"}, 422),
        ("/api/sources", b"no form", {"Content_Type": "multipart/form-data; boundary=x"}, 400),
        ("/api/sources/1/keep", b"{}", {}, 422),
        ("/api/sources/x/keep", b'{"keep": "all"}', {}, 404),
        ("/api/sources/1/policy", b'{"priority": "utmost"}', {}, 422),
        ("/api/hosts/1/orders", b'{"delay": NaN}', {}, 422),
    ],
)
def test_a_body_that_is_wrong_is_refused(
    ask: Ask, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert is_problem(ask(path, body=body, **headers), status)


def test_what_curl_sends_without_being_told_is_taken_for_json(ask: Ask) -> None:
    (source,) = [row for row in ask("/api/sources").json if row["name"] == "world.log"]
    answer = ask(
        f"/api/sources/{source['id']}/policy",
        body=json.dumps({"priority": "normal"}).encode(),
        Content_Type="application/x-www-form-urlencoded",
    )
    assert (answer.status, answer.json["id"]) == (200, source["id"])


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/api/sources", "GET, HEAD, OPTIONS, POST"),
        ("/api/status", "GET, HEAD, OPTIONS"),
        ("/api/sources/1/start", "OPTIONS, POST"),
        ("/updates", "GET, HEAD, OPTIONS, POST"),
        ("/sparql", "GET, HEAD, OPTIONS, POST"),
        ("/web/http://a.test/", "GET, HEAD, OPTIONS"),
    ],
)
def test_an_address_says_which_methods_it_has(ask: Ask, path: str, allow: str) -> None:
    asked = ask(path, method="OPTIONS")
    assert (asked.status, asked.headers["allow"], asked.body) == (204, allow, b"")
    refused = ask(path, method="DELETE")
    assert is_problem(refused, 405)
    assert refused.headers["allow"] == allow


@pytest.mark.parametrize(
    "path", ["/api/status", "/api/documents?limit=3", "/documents", "/download.zip", "/openapi.json"]
)
def test_head_has_the_headers_of_get_and_no_body(ask: Ask, path: str) -> None:
    head, get = ask(path, method="HEAD"), ask(path)
    assert (head.status, head.headers["content-type"], head.body) == (200, get.headers["content-type"], b"")


@pytest.mark.parametrize(
    ("accept", "status"),
    [("application/json", 200), ("application/*", 200), ("*/*", 200), ("text/html,*/*;q=0.1", 200), ("text/csv", 406)],
)
def test_json_is_not_forced_on_who_does_not_take_it(ask: Ask, accept: str, status: int) -> None:
    assert ask("/api/status", Accept=accept).status == status


def test_problems_keep_their_codes_and_their_advice(ask: Ask, guarded: Ask) -> None:
    missing = ask("/api/documents/999999999").json
    assert (missing["code"], missing["title"]) == ("not-found", "There is nothing under this name")
    assert missing["type"] == "/docs#problem-not-found"
    assert missing["instance"] == "/api/documents/999999999"
    refused: Any = guarded("/api/updates", body=b"{}")
    assert is_problem(refused, 401)
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "serve.token" in refused.json["advice"]
    assert is_problem(ask("/api/status", Host="evil.test"), 421)
    assert is_problem(ask("/api/nowhere"), 404)

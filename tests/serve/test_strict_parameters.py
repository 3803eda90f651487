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
POSTED = sorted({page.address.split()[1] for page in PAGES if page.address.startswith("POST")})
CHANGED = sorted({operation.path for operation in OPERATIONS if operation.changes})


def fill(path: str) -> str:
    for name, value in PLACES.items():
        path = path.replace("{" + name + "}", value).replace("{" + name + ":path}", value)
    return path


def is_refusal(answer: Reply, status: int) -> bool:
    """Whether this is a problem that names what is wrong, and says why of each."""
    parameters = answer.json["parameters"]
    assert parameters
    assert all(one["detail"] for one in parameters)
    assert answer.json["code"] == {400: "bad-request", 404: "not-found", 422: "bad-content"}[status]
    return is_problem(answer, status)


def named(answer: Reply) -> list[str]:
    return [one["name"] for one in answer.json["parameters"]]


def is_problem(answer: Reply, status: int) -> bool:
    problem = answer.json
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "instance", "code", "advice"} <= problem.keys()
    assert problem["status"] == answer.status
    return answer.status == status


@pytest.mark.parametrize("given", ["nonsense=1", "nonsense=", "nonsense"])
@pytest.mark.parametrize("path", READ)
def test_an_unknown_parameter_is_refused_everywhere(ask: Ask, path: str, given: str) -> None:
    answer = ask(f"{fill(path)}?{given}")
    assert is_refusal(answer, 400)
    assert "'nonsense' is not known here" in [one["detail"].partition(";")[0] for one in answer.json["parameters"]]


@pytest.mark.parametrize("path", CHANGED)
def test_what_changes_something_takes_nothing_from_the_query(ask: Ask, path: str) -> None:
    assert is_refusal(ask(f"{fill(path)}?start=1", body=b"{}", Content_Type="application/json"), 400)


@pytest.mark.parametrize("field", ["nonsense=1", "nonsense="])
@pytest.mark.parametrize("path", POSTED)
def test_an_unknown_field_of_a_form_is_refused_everywhere(ask: Ask, path: str, field: str) -> None:
    if path == "/sources":
        body = b'--x\r\nContent-Disposition: form-data; name="nonsense"\r\n\r\n1\r\n--x--\r\n'
        answer = ask(path, body=body, Content_Type="multipart/form-data; boundary=x")
    else:
        answer = ask(fill(path), body=field.encode(), Content_Type="application/x-www-form-urlencoded")
    assert is_refusal(answer, 422)
    assert "nonsense" in named(answer)


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
        ("/api/documents?term=foo", "'foo' is no term"),
        ("/api/documents?q=", "say which: q is empty"),
        ("/api/documents?type=", "say which: type is empty"),
        ("/api/documents?language=", "say which: language is empty"),
        ("/api/documents?host=", "say which: host is empty"),
        ("/api/documents?entity=", "say which: entity is empty"),
        ("/api/documents?term=", "say which: term is empty"),
        ("/api/documents?host=%20", "say which: host is empty"),
        ("/api/problems?code=%20", "say which: code is empty"),
        ("/api/documents?q=%00", "q holds control characters"),
        ("/api/documents?q=a%0Ab", "q holds control characters"),
        ("/api/documents?host=%00", "host holds control characters"),
        ("/api/documents?term=a:b&term=a:%7F", "term holds control characters"),
        ("/api/entities?name=%00", "name holds control characters"),
        ("/api/hosts?like=%00", "like holds control characters"),
        ("/documents?q=%00", "q holds control characters"),
        ("/hosts?like=%00", "like holds control characters"),
        ("/sparql?query=ASK%7B%7D%00", "query holds control characters"),
        ("/api/documents?q=%ff", "q is not in UTF-8"),
        ("/api/documents?q=%ed%a0%80", "q is not in UTF-8"),
        ("/documents?q=%ff", "q is not in UTF-8"),
        ("/api/documents?%ff=1", "'?' is not known here"),
        ("/documents?q=&q=a", "q is given twice"),
        ("/api/text?url=x&at=zz", "'zz' is no moment"),
        ("/api/text?url=x&at=", "say which: at is empty"),
        ("/api/text?url=x&at=2026&version=1", "give either the number of a version or a moment"),
        ("/api/diff?url=http://nowhere.test/&from=zz", "'zz' is neither the number of a version nor a moment"),
        ("/diff?url=http://nowhere.test/&to=zz", "'zz' is neither the number of a version nor a moment"),
        ("/download.zip?since=zz", "'zz' is no moment"),
        ("/download.zip?until=zz", "'zz' is no moment"),
        ("/download.zip?host=a%20b", "'a b' is no host's name"),
        ("/api/documents?since=2026-01-01", "'since' is not known here; there are q, host, type, language"),
        ("/api/entities?kind=dog", "kind is one of 'person', 'organisation' or 'place'"),
        ("/api/problems?stage=kitchen", "stage is one of 'sources', 'fetch'"),
        ("/api/versions", "say which: url is missing"),
        ("/api/versions?url=", "say which: url is empty"),
        ("/api/diff?url=x&names=perhaps", "names: input should be a valid boolean"),
        ("/download.zip?all=perhaps", "all: input should be a valid boolean"),
        ("/sparql?query=ASK%7B%7D&format=word", "format is one of"),
        ("/cdx?url=x&limit=1e3", "limit is a whole number"),
        ("/cdx?url=x&limit=%205", "limit is a whole number"),
        ("/cdx?url=x&from=zz", "'zz' is no moment"),
        ("/cdx?url=x&to=zz", "'zz' is no moment"),
        ("/cdx?url=x&fl=zz", "there is no field 'zz'"),
        ("/cdx?url=x&fl=", "say which: fl is empty"),
        ("/cdx?url=x&collapse=zz", "there is no field 'zz'"),
        ("/cdx?url=x&collapse=digest:zz", "the length in collapse is a whole number"),
        ("/cdx?url=x&filter=(((", "'(((' is no filter"),
        ("/cdx?url=x&filter=status:(((", "the pattern '(((' can't be used"),
        ("/cdx?url=x&resumeKey=zz", "the resumeKey is not one that was given here"),
        ("/cdx?url=a%20b&matchType=host", "'a b' is no host's name"),
        ("/web/99999999999999/http://a.test/", "99999999999999 is no moment"),
        ("/sparql?query=", "there is no query"),
        ("/cdx?url=x&gzip=false", "'gzip' is not known here"),
        ("/documents?limit=many", "limit is a whole number"),
        ("/names?kind=dog", "kind is one of"),
    ],
)
def test_a_malformed_parameter_is_refused_with_a_sentence(ask: Ask, path: str, detail: str) -> None:
    answer = ask(path)
    assert is_refusal(answer, 400)
    assert detail in answer.json["detail"]
    query = path.partition("?")[2]
    assert all(name in query or name == "digits" or "missing" in detail for name in named(answer) if name != "?")


def test_people_get_the_same_words_as_a_page(ask: Ask) -> None:
    page = ask("/documents?limit=many", Accept="text/html")
    assert page.status == 400
    assert page.headers["content-type"].startswith("text/html")
    assert "Limit is a whole number." in page.text
    assert "/docs#problem-bad-request" in page.text


def test_empty_fields_of_a_form_on_a_page_are_not_given(ask: Ask) -> None:
    assert ask("/documents?q=&host=&type=&language=&source=&limit=").status == 200
    assert ask("/problems?stage=&code=").status == 200
    assert ask("/documents?q=%20&term=&term=a:b").status == 200


def test_a_query_may_have_lines_and_letters_of_any_kind(ask: Ask) -> None:
    lines = "ASK%20%7B%0D%0A%09%3Fs%20%3Fp%20%22%C3%B5%22%0A%7D"
    assert ask(f"/sparql?query={lines}").status == 200
    assert ask("/sparql", body=b"ASK {\r\n\t?s ?p 1\n}", Content_Type="application/sparql-query").status == 200
    refused = ask("/sparql", body=b"ASK {} # \xff", Content_Type="application/sparql-query")
    assert is_refusal(refused, 400)
    assert named(refused) == ["query"]


def test_static_files_take_any_query_by_which_caches_tell_them_apart(ask: Ask) -> None:
    assert ask("/static/style.css?version=1").status == 200


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
        ("/login", b"token=%ff", {}, 422),
        ("/login", b"token=a&token=b", {}, 422),
    ],
)
def test_a_body_that_is_wrong_is_refused(
    ask: Ask, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert is_problem(ask(path, body=body, **headers), status)


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [
        ("/api/updates", {"host": ""}, ["host"]),
        ("/api/updates", {"host": "a b"}, ["host"]),
        ("/api/updates", {"url": "http://a.test/\0"}, ["url"]),
        ("/api/updates", {"host": "a.test", "url": "http://a.test/"}, ["source", "host", "url"]),
        ("/api/sources", {"source": "http://a.test/", "kind": "zz"}, ["kind"]),
        ("/api/sources", {"source": "http://[::1"}, ["source"]),
        ("/api/sources", {"source": "/etc/hosts"}, ["source"]),
        ("/api/sources/1/policy", {"policy": "zz"}, ["policy"]),
        ("/api/sources/1/policy", {"policy": "fixed * *"}, ["policy"]),
        ("/api/sources/1/keep", {"keep": "zz"}, ["keep"]),
        ("/api/sources/1/follow", {"follow": "zz"}, ["follow"]),
        ("/api/hosts/1/orders", {"hours": "zz", "connections": 99}, ["connections", "hours"]),
    ],
)
def test_what_is_malformed_in_a_body_is_named(ask: Ask, path: str, body: dict[str, Any], names: list[str]) -> None:
    answer = ask(path, body=json.dumps(body).encode(), Content_Type="application/json")
    assert is_refusal(answer, 422)
    assert named(answer) == names


@pytest.mark.parametrize(
    ("path", "fields", "name"),
    [("policy", b"policy=zz", "policy"), ("keep", b"keep=zz", "keep"), ("follow", b"follow=zz", "follow")],
)
def test_a_form_of_a_page_is_checked_by_the_same_types(ask: Ask, path: str, fields: bytes, name: str) -> None:
    answer = ask(f"/sources/1/{path}", body=fields, Content_Type="application/x-www-form-urlencoded")
    assert is_refusal(answer, 422)
    assert named(answer) == [name]


def test_a_key_that_is_given_twice_is_refused(ask: Ask) -> None:
    answer = ask("/api/sources/1/keep", body=b'{"keep": "all", "keep": "references"}')
    assert is_refusal(answer, 422)
    assert answer.json["detail"] == "keep is given twice"


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
    [
        ("application/json", 200),
        ("application/*", 200),
        ("*/*", 200),
        ("text/html,*/*;q=0.1", 200),
        ("text/csv", 406),
        ("application/json;q=0", 406),
        ("application/json;q=0, */*", 406),
        ("*/*;q=0", 406),
        ("application/json; q=0.001", 200),
    ],
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

"""The OpenAPI document has no holes: everything is described, every answer has its type, every refusal its codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import TypeAdapter

from rehi.builtin import load_place
from rehi.operations.operation import JSON, read_signature
from rehi.operations.table import OPERATIONS
from rehi.serve.openapi import describe
from rehi.serve.problem_details import KINDS, MEDIA_TYPE
from tests.conftest import Harvested
from tests.serve.conftest import Ask

METHODS = {"get", "post"}
UNTYPED = {
    "application/zip",
    "application/sparql-results+xml",
    "*/*",
}  # bytes, for which there is no schema of this kind


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in describe()["paths"].items():
        assert item.keys() <= METHODS
        for method, operation in item.items():
            yield f"{method.upper()} {path}", operation


def holes(schema: object, place: str) -> Iterator[str]:
    """Yield the places of a schema where anything may stand."""
    if isinstance(schema, list):
        for number, one in enumerate(schema):
            yield from holes(one, f"{place}/{number}")
    if not isinstance(schema, dict):
        return
    keywords = {"$ref", "anyOf", "allOf", "oneOf", "enum", "const", "type"}
    if not keywords & schema.keys():
        yield place
    if schema.get("type") == "object" and not schema.get("properties") and not schema.get("additionalProperties"):
        yield place
    if schema.get("type") == "array" and not {"items", "prefixItems"} & schema.keys():
        yield place
    if schema.get("additionalProperties") is True:
        yield place
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from holes(schema[key], f"{place}/{key}")
    for key in ("anyOf", "prefixItems"):
        yield from holes(schema.get(key, []), f"{place}/{key}")
    for name, one in schema.get("properties", {}).items():
        yield from holes(one, f"{place}/{name}")


def test_every_operation_and_every_parameter_is_described() -> None:
    missing = [name for name, operation in operations() if not (operation["description"] and operation["summary"])]
    for name, operation in operations():
        missing += [f"{name} {one['name']}" for one in operation["parameters"] if not one["description"]]
    assert missing == []


def test_every_field_of_a_body_is_described() -> None:
    missing, schemas = [], describe()["components"]["schemas"]
    for name, operation in operations():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            schema = schemas.get(content["schema"].get("$ref", "").rpartition("/")[2], content["schema"])
            fields = schema.get("properties", {"": schema})
            missing += [
                f"{name} {field}" for field, one in fields.items() if not one.get("description") and one != schema
            ]
    assert missing == []


def test_every_text_and_every_number_that_is_given_has_a_limit() -> None:
    unlimited = []
    for name, operation in operations():
        for one in operation["parameters"]:
            schema = one["schema"]
            limits = {"string": {"maxLength", "enum", "pattern"}, "integer": {"maximum"}, "number": {"maximum"}}
            if not limits.get(schema.get("type"), set(schema)) & schema.keys():
                unlimited.append(f"{name} {one['name']}")
    assert unlimited == []


def test_every_answer_has_its_media_types_and_every_json_its_schema() -> None:
    for name, operation in operations():
        good = {status: one for status, one in operation["responses"].items() if status.startswith("2")}
        for response in good.values():
            assert response["content"], name
            for media_type, content in response["content"].items():
                if media_type not in UNTYPED:
                    assert list(holes(content["schema"], f"{name} {media_type}")) == []


def test_no_type_has_a_hole_but_where_packages_may_add_something() -> None:
    anything = [place for name, schema in describe()["components"]["schemas"].items() for place in holes(schema, name)]
    # Facets of installed packages, and what an OpenAPI document says of an operation.
    assert sorted(anything) == [
        "ApiDocument/components/additionalProperties/additionalProperties",
        "ApiDocument/paths/additionalProperties/additionalProperties",
        "PlainFacets/additionalProperties",
    ]


def test_every_refusal_is_a_problem_with_its_codes() -> None:
    for name, operation in operations():
        refusals = {status: one for status, one in operation["responses"].items() if status[0] in "45"}
        assert {"400", "414", "421", "429", "431", "500", "503"} <= refusals.keys(), name
        for status, response in refusals.items():
            reference, narrowed = response["content"][MEDIA_TYPE]["schema"]["allOf"]
            assert reference == {"$ref": "#/components/schemas/ProblemDetails"}
            assert narrowed["properties"]["status"] == {"const": int(status)}
            assert narrowed["properties"]["code"]["enum"], (name, status)


@pytest.mark.parametrize(
    ("name", "status", "codes"),
    [
        ("get_diff", "422", {"comparison-error"}),
        ("get_diff", "503", {"busy", "read-timeout", "record-damaged", "catalogue-away"}),
        ("query_graph", "503", {"query-timeout", "query-too-large", "graph-missing"}),
        ("query_graph", "400", {"bad-request", "query-error"}),
        ("add_source", "507", {"disk-full"}),
        ("get_status", "500", {"internal"}),
    ],
)
def test_the_codes_of_errors_stand_where_they_come(name: str, status: str, codes: set[str]) -> None:
    (operation,) = [one for _, one in operations() if one["operationId"] == name]
    narrowed = operation["responses"][status]["content"][MEDIA_TYPE]["schema"]["allOf"][1]
    assert codes <= set(narrowed["properties"]["code"]["enum"])


def test_what_changes_something_may_be_refused_for_lack_of_a_token() -> None:
    for row in OPERATIONS:
        responses = describe()["paths"][row.template][row.method.lower()]["responses"]
        assert ({"401", "403"} <= responses.keys()) == row.changes or row.name == "get_memento"
        assert ("404" in responses) >= bool(read_signature(row.load(), row.in_path).path.model_fields)


def test_headers_that_are_sent_are_described() -> None:
    document = describe()
    sent = {
        (status, header)
        for _, operation in operations()
        for status, one in operation["responses"].items()
        for header in one.get("headers", {})
    }
    assert {
        ("429", "Retry-After"),
        ("503", "Retry-After"),
        ("401", "WWW-Authenticate"),
        ("302", "Location"),
        ("416", "Content-Range"),
    } <= sent
    assert {header for _, header in sent} | {"Allow"} == document["components"]["headers"].keys()
    not_allowed = document["components"]["responses"]["MethodNotAllowed"]
    assert list(not_allowed["headers"]) == ["Allow"]
    assert KINDS[405][0] in str(not_allowed["content"])


def test_answers_that_are_written_piece_by_piece_have_a_type_for_json() -> None:
    for row in OPERATIONS:
        json_types = [one for one in row.media_types if one == JSON or one.endswith("+json")]
        content = describe()["paths"][row.template][row.method.lower()]["responses"][str(row.status)].get("content", {})
        assert all(content[one]["schema"] for one in json_types), row.name


@pytest.mark.parametrize(
    ("name", "path", "named"),
    [
        ("get_document", "/api/documents/999999999", {}),
        ("get_document", "/api/documents/x", {}),
        ("list_documents", "/api/documents?limit=0", {}),
        ("get_status", "/api/status", {"Accept": "text/csv"}),
        ("get_status", "/api/status", {"Host": "evil.test"}),
        ("query_graph", "/sparql?query=nonsense", {}),
        ("query_graph", "/sparql?query=ASK%7B%7D", {"Accept": "image/png"}),
        ("post_query", "/sparql", {"body": b"ASK{}", "Content_Type": "text/plain"}),
        ("get_diff", "/api/diff?url=http://nowhere.test/", {}),
        ("get_text", "/api/text?url=http://nowhere.test/&at=zz", {}),
        ("get_memento", "/web/2026/http://nowhere.test/", {}),
        ("list_captures", "/cdx?url=x&fl=zz", {}),
        ("download_versions", "/download.zip?host=a%20b", {}),
        ("add_source", "/api/sources", {"body": b"{}", "Content_Type": "text/plain"}),
        ("add_source", "/api/sources", {"body": b"{}", "Content_Type": "application/json"}),
        ("set_keep", "/api/sources/1/keep", {"body": b"{not json"}),
        ("set_keep", "/api/sources/999999/keep", {"body": b'{"keep": "all"}'}),
        ("start_update", "/api/updates", {"body": b" " * 70_000}),
        ("start_update", "/api/updates", {"body": b"{}", "Origin": "http://evil.test"}),
    ],
)
def test_a_refusal_is_one_that_the_document_names(ask: Ask, name: str, path: str, named: dict[str, Any]) -> None:
    answer = ask(path, **named)
    (operation,) = [one for _, one in operations() if one["operationId"] == name]
    narrowed = operation["responses"][str(answer.status)]["content"][MEDIA_TYPE]["schema"]["allOf"][1]["properties"]
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.json["code"] in narrowed["code"]["enum"]
    sent = {header.lower() for header in operation["responses"][str(answer.status)].get("headers", {})}
    assert {"retry-after", "www-authenticate", "allow", "content-range"} & answer.headers.keys() <= sent


def test_answers_that_are_written_piece_by_piece_are_as_their_types_say(ask: Ask, harvested: Harvested) -> None:
    url = quote(harvested.world.documents[0].url, safe="")
    answers = {
        "rehi.serve.answer_types:SparqlJson": [
            ask("/sparql?query=SELECT%20*%20%7B%3Fs%20%3Fp%20%3Fo%7D%20LIMIT%202000").json,
            ask("/sparql?query=ASK%7B%7D").json,
        ],
        "rehi.serve.answer_types:TimeMapJson": [ask(f"/web/timemap/json/{harvested.world.documents[0].url}").json],
        "rehi.serve.answer_types:CdxRows": [ask(f"/cdx?url={url}&output=json&showResumeKey=true").json],
        "rehi.serve.answer_types:ApiDocument": [ask("/openapi.json").json],
    }
    assert answers.keys() == {place for row in OPERATIONS for place in (row.writes or {}).values()}
    for place, values in answers.items():
        for value in values:
            TypeAdapter(load_place(place)).validate_python(value, extra="forbid", by_alias=True)

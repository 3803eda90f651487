"""The OpenAPI 3.1 document: all operations with their parameters and answers, from the table and the signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from rehi import __version__
from rehi.builtin import load_place
from rehi.operations.byte_stream import ByteStream
from rehi.operations.operation import JSON, Operation, Signature, read_signature
from rehi.operations.table import GROUPS, OPERATIONS
from rehi.serve.answer_types import PlainFacets
from rehi.serve.examples import PARAMETERS
from rehi.serve.problem_details import KINDS, ProblemDetails
from rehi.serve.request_parameters import Schema, without_blank, without_null
from rehi.serve.response_descriptions import HEADERS, describe_refusal, describe_responses
from rehi.serve.responses import to_json

ABOUT = (
    "Everything that rehi's pages show, for programs. Parameters that are unknown, malformed, empty or given twice are refused. "
    "Errors are problem details (RFC 9457), or a page with the same words for whoever accepts text/html. On any address but loopback, what changes something needs the token."
)
_REF = "#/components/schemas/{model}"


def get_openapi(request: Request) -> Response:
    """Return this document."""
    return Response(to_json(describe()), media_type=JSON)


@cache
def describe() -> Schema:
    """Return the whole document."""
    signatures = {operation.name: read_signature(operation.load(), operation.in_path) for operation in OPERATIONS}
    schemas, definitions = _collect_schemas(signatures)
    paths: Schema = {}
    for group, operations in GROUPS.items():
        for operation in operations:
            item = _describe_operation(operation, signatures[operation.name], schemas)
            paths.setdefault(operation.template, {})[operation.method.lower()] = {"tags": [group], **item}
    return {
        "openapi": "3.1.0",
        "info": {"title": "rehi", "version": __version__, "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "tags": [{"name": group} for group in GROUPS],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "headers": HEADERS,
            "responses": {
                "MethodNotAllowed": describe_refusal(405, {KINDS[405][0]})
            },  # of every address, to other methods
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The setting serve.token."}
            },
        },
    }


def _collect_schemas(signatures: dict[str, Signature]) -> tuple[dict[tuple[str, str], Schema], Schema]:
    """Return a schema for each model of each operation, with the definitions that they share."""
    inputs: list[tuple[tuple[str, str], Any, TypeAdapter[Any]]] = [
        (("problem", ""), "serialization", TypeAdapter(ProblemDetails)),
        (("facets", ""), "serialization", TypeAdapter(PlainFacets)),
    ]
    for operation in OPERATIONS:
        signature = signatures[operation.name]
        inputs.append(((operation.name, "path"), "validation", TypeAdapter(signature.path)))
        inputs.append(((operation.name, "rest"), "validation", TypeAdapter(signature.rest)))
        if signature.answer is not Response and signature.answer is not ByteStream:
            inputs.append(((operation.name, "answer"), "serialization", TypeAdapter(signature.answer)))
        for media_type, address in (operation.writes or {}).items():
            key = (operation.name, f"answer {media_type}")
            inputs.append((key, "serialization", TypeAdapter(load_place(address))))
        for media_type, address in (operation.accepts or {}).items():
            inputs.append(((operation.name, media_type), "validation", TypeAdapter(_body_type(address))))
    by_key, shared = TypeAdapter.json_schemas(inputs, ref_template=_REF)
    schemas = {key: schema for (key, _), schema in by_key.items()}
    definitions = shared.get("$defs", {})
    definitions["Reading"]["properties"]["facets"] = schemas["facets", ""]  # as their codecs write them
    definitions["PlainFacets"]["additionalProperties"] = {"description": "Of a package's facet, what it writes."}
    parameters = {name for name in definitions if name.endswith(("Parameters", "Path"))}
    schemas = {key: _follow(schema, definitions, parameters) for key, schema in schemas.items()}
    return schemas, {name: schema for name, schema in sorted(definitions.items()) if name not in parameters}


def _body_type(address: str) -> Any:
    given = load_place(address)
    return read_signature(given).rest if callable(given) and hasattr(given, "__code__") else given


def _follow(schema: Schema, definitions: Schema, names: set[str]) -> Schema:
    """Return what a reference to a model of parameters stands for; those are not shared."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return definitions[name] if name in names else schema


def _describe_operation(operation: Operation, signature: Signature, schemas: dict[tuple[str, str], Schema]) -> Schema:
    item: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": describe_function(operation),
        "parameters": list(_describe_parameters(operation, signature, schemas)),
        "responses": describe_responses(operation, signature, schemas),
    }
    if operation.changes:
        item["security"] = [{}, {"token": []}]  # none is needed on loopback
    if operation.accepts:
        content = {media_type: {"schema": schemas[operation.name, media_type]} for media_type in operation.accepts}
        item["requestBody"] = {"required": True, "content": content}
    elif operation.method == "POST":
        schema = schemas[operation.name, "rest"]
        fields = {name: _with_description(without_blank(one)) for name, one in schema.get("properties", {}).items()}
        schema = schema | {"properties": fields}
        item["requestBody"] = {"required": bool(schema.get("required")), "content": {JSON: {"schema": schema}}}
    return item


def describe_function(operation: Operation) -> str:
    """Return the docstring of an operation's function, on one line."""
    return re.sub(r"\s+", " ", (operation.load().__doc__ or "").replace("``", "`")).strip()


def in_query(operation: Operation, signature: Signature) -> bool:
    """Whether the parameters that are not in the path stand in the query."""
    return operation.method == "GET" or signature.subject == "request"


def _describe_parameters(
    operation: Operation, signature: Signature, schemas: dict[tuple[str, str], Schema]
) -> Iterator[Schema]:
    for place, part in (("path", "path"), ("query", "rest")):
        schema = schemas[operation.name, part]
        if place == "query" and not in_query(operation, signature):
            continue
        for name, properties in schema.get("properties", {}).items():
            given = _with_description(without_null(properties))
            description = given.pop("description", "")
            parameter = {"name": name, "in": place, "required": name in schema.get("required", ()), "schema": given}
            yield parameter | {"description": description} | _example(name, place, given)


def _with_description(schema: Schema) -> Schema:
    """Return a schema that says itself what one of its kinds says, as that which may be null."""
    kinds = (kind["description"] for kind in schema.get("anyOf", ()) if "description" in kind)
    description = schema.get("description") or next(kinds, "")
    return schema | {"description": description} if description else schema


def _example(name: str, place: str, schema: Schema) -> Schema:
    """Return an example of a parameter, if one is known of its type."""
    value = PARAMETERS.get(name)
    kind = {"string": str, "integer": int, "array": list}.get(schema.get("type", "string"), str)
    of_another = place == "query" and name in ("name", "kind")  # in a path they are a host and what an entity is
    return {"example": value} if isinstance(value, kind) and not of_another else {}

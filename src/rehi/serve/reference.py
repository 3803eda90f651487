"""The reference: each operation in words, from the OpenAPI document, for the page /docs and for docs/api.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from shlex import quote
from typing import Any
from urllib.parse import urlencode

from rehi.errors import RehiError
from rehi.operations.operation import JSON, Operation
from rehi.operations.table import GROUPS
from rehi.serve.examples import PARAMETERS
from rehi.serve.openapi import describe
from rehi.serve.problem_details import KINDS, STATUS
from rehi.serve.request_parameters import Schema, without_null

BASE = "http://127.0.0.1:8666"  # where rehi answers unless it is told otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRow:
    """A parameter in words."""

    name: str
    place: str  # "path", "query" or "body"
    kind: str  # its type and limits
    required: bool
    default: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationEntry:
    """An operation in words."""

    operation: Operation
    address: str  # method and path
    description: str
    parameters: Sequence[ParameterRow]
    bodies: Sequence[str]  # media types
    answer: str  # the type of a good answer, empty if it is no JSON
    answers: Sequence[str]  # media types
    statuses: Sequence[tuple[int, str]]
    curl: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeEntry:
    """A type of the answers in words."""

    name: str
    description: str
    fields: Sequence[tuple[str, str]]  # names and types
    values: Sequence[str]  # of an enumeration


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemEntry:
    """A kind of problem in words."""

    code: str
    status: int
    title: str
    advice: str


def list_entries() -> dict[str, list[OperationEntry]]:
    """Return the operations by group."""
    return {group: [_entry(operation) for operation in operations] for group, operations in GROUPS.items()}


def list_types() -> list[TypeEntry]:
    """Return the types that answers are made of, in the order of their names."""
    entries = []
    for name, schema in describe()["components"]["schemas"].items():
        rows = [(field, describe_type(properties)) for field, properties in schema.get("properties", {}).items()]
        description = schema.get("description", "").partition("\n")[0]
        entries.append(TypeEntry(name=name, description=description, fields=rows, values=schema.get("enum", ())))
    return entries


def list_problem_kinds() -> list[ProblemEntry]:
    """Return the kinds of problems that may be answered, in the order of their statuses."""
    ours = [
        ProblemEntry(code=kind.code, status=status, title=_title(kind), advice=kind.advice)
        for kind, status in STATUS.items()
    ]
    known = {entry.code for entry in ours}
    https = [
        ProblemEntry(code=code, status=status, title=HTTPStatus(status).phrase, advice=advice)
        for status, (code, advice) in KINDS.items()
        if code not in known
    ]
    return sorted([*ours, *https], key=lambda entry: (entry.status, entry.code))


def _title(kind: type[RehiError]) -> str:
    return (kind.__doc__ or "").partition("\n")[0].rstrip(".")


def _entry(operation: Operation) -> OperationEntry:
    item = describe()["paths"][operation.template][operation.method.lower()]
    content = item.get("requestBody", {}).get("content", {})
    good = item["responses"][str(operation.status)].get("content", {})
    schema = good.get(JSON, {}).get("schema", {})
    rows = [
        _row(one["name"], one["in"], one["schema"], one["required"], one["description"]) for one in item["parameters"]
    ]
    rows += list(_body_rows(content))
    return OperationEntry(
        operation=operation,
        address=f"{operation.method} {operation.template}",
        description=item["description"],
        parameters=rows,
        bodies=list(content),
        answer=describe_type(schema) if schema else "",
        answers=list(good),
        statuses=[(int(status), one["description"]) for status, one in item["responses"].items() if status.isdigit()],
        curl=_curl(operation, item, content),
    )


def _body_rows(content: Schema) -> Iterator[ParameterRow]:
    for media_type in content:
        schema = resolve(content[media_type]["schema"])
        place = "body" if len(content) == 1 else media_type
        for name, properties in schema.get("properties", {}).items():
            given = without_null(properties)
            yield _row(name, place, given, name in schema.get("required", ()), given.get("description", ""))


def _row(name: str, place: str, schema: Schema, required: bool, description: str) -> ParameterRow:
    default = schema.get("default")
    return ParameterRow(
        name=name,
        place=place,
        kind=describe_type(resolve(schema) if "enum" in resolve(schema) else schema),
        required=required,
        default=""
        if default in (None, "", [])
        else str(default).lower()
        if isinstance(default, bool)
        else str(default),
        description=description,
    )


def resolve(schema: Schema) -> Schema:
    """Return what a reference stands for."""
    name = schema.get("$ref", "").rpartition("/")[2]
    definition: Schema = describe()["components"]["schemas"][name] if name else schema
    return definition


def describe_type(schema: Schema) -> str:
    """Say in a few words what a schema takes."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(describe_type, schema["anyOf"])))
    if "enum" in schema:
        return "one of " + ", ".join(str(value) or '""' for value in schema["enum"])
    match schema.get("type"):
        case "integer" | "number" as kind:
            word = "whole number" if kind == "integer" else "number"
            least, most = schema.get("minimum", 0), schema.get("maximum")
            return f"{word}, {_number(least)} to {_number(most)}" if most is not None else word
        case "string":
            return _describe_text(schema)
        case "array":
            return _describe_list(schema)
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {describe_type(schema['additionalProperties'])}"
        case "boolean":
            return "true or false"
        case "null":
            return "null"
    return "object"


def _number(value: float) -> str:
    return "2^63 - 1" if value == 2**63 - 1 else f"{value:,}"


def _describe_text(schema: Schema) -> str:
    if schema.get("format") == "date-time":
        return "time"
    if schema.get("format") == "binary":
        return "file"
    longest = schema.get("maxLength")
    return f"text, up to {longest:,}" if longest else "text"


def _describe_list(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"list of {' and '.join(map(describe_type, schema['prefixItems']))}"
    items = schema.get("items", {})
    return f"list of {describe_type(items)}" if items else "list"


def _curl(operation: Operation, item: Schema, content: Schema) -> str:
    """Return a command that asks this, with examples for what has to be given."""
    path = operation.template
    for name in operation.in_path:
        path = path.replace("{" + name + "}", str(PARAMETERS[name]))
    given = {
        one["name"]: PARAMETERS[one["name"]]
        for one in item["parameters"]
        if one["in"] == "query" and one["name"] in ("url", "query")
    }
    words = ["curl"]
    if operation.media_types == ("application/zip",):
        words.append("-OJ")
    if operation.changes:
        words += ["-H", quote("Authorization: Bearer TOKEN")]
    if JSON in content:
        schema = resolve(content[JSON]["schema"])
        body = _example_body(schema)
        words += ["--json", quote(body)]
    elif content:
        words += ["--data-urlencode", quote("query=" + PARAMETERS["query"])]
    return " ".join([*words, quote(BASE + path + (f"?{urlencode(given)}" if given else ""))])


def _example_body(schema: Schema) -> str:
    import orjson

    required: dict[str, Any] = {name: PARAMETERS[name] for name in schema.get("required", ())}
    return orjson.dumps(required).decode()

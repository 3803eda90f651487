"""Parameters of a request: from path, query, JSON or form, checked by their types, refused if anything is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.requests import Request

from rehi.model.media import bare_name
from rehi.operations.operation import Signature
from rehi.operations.parameters import SEVERAL_LINES
from rehi.serve.problem_details import BadRequest, WrongParameter

Schema = dict[str, Any]

LARGEST = 65_536  # bytes of a body; uploads have a limit of their own
MOST_FIELDS = 100
_SHOWN = 60  # characters of what was given that are repeated
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_AS_JSON = frozenset({"", "application/json", "application/x-www-form-urlencoded"})  # curl -d calls all it sends a form


def read_path(request: Request, signature: Signature) -> dict[str, Any]:
    """Return the parameters in the path; under one that is malformed there is nothing, which is 404."""
    return _check(signature.path, request.path_params, status=404) if request.path_params else {}


def read_query(request: Request, signature: Signature, *, of_form: bool = False) -> dict[str, Any]:
    """Return the parameters in the query, of a form on a page perhaps."""
    pairs = _parse_pairs(request.scope["query_string"])
    return check_fields(pairs, signature, status=400, of_form=of_form)


def refuse_query(request: Request) -> None:
    """Refuse any query where parameters come in the body."""
    refuse_unknown([name for name, _ in _parse_pairs(request.scope["query_string"])], (), status=400)


def refuse_unknown(given: Sequence[str], known: Sequence[str], *, status: int) -> None:
    """Refuse names that nobody knows, and those that are given twice."""
    wrong = [_unknown(name, known) for name in sorted(set(given) - set(known))]
    wrong += [_twice(name) for name in known if given.count(name) > 1]
    if wrong:
        raise BadRequest(status, wrong)


async def read_json(request: Request, signature: Signature) -> dict[str, Any]:
    """Return the parameters in a JSON object; no body at all is an empty object."""
    media_type = bare_name(request.headers.get("content-type", ""))
    if media_type not in _AS_JSON and not media_type.endswith("+json"):
        raise HTTPException(415, f"send application/json, and not {media_type[:_SHOWN]}")
    body = (await read_body(request)).strip() or b"{}"
    parameters = _check(signature.rest, body, status=422)
    # What has passed is an object of known names and plain values, so that it is small and not deep.
    refuse_unknown(json.loads(body, object_pairs_hook=_names_of), signature.names, status=422)
    return parameters


async def read_form(request: Request, signature: Signature) -> dict[str, Any]:
    """Return the parameters in a form that a page has sent."""
    return check_fields(await read_fields(request), signature)


async def read_fields(request: Request) -> list[tuple[str, str]]:
    """Return the fields of a form, as they were sent."""
    return parse_fields(await read_body(request))


def parse_fields(body: bytes) -> list[tuple[str, str]]:
    """Return the fields of a form from the bytes of a body."""
    try:
        return _parse_pairs(body, most=MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(400, f"a form has at most {MOST_FIELDS} fields") from error


def check_fields(
    fields: Sequence[tuple[str, str]], signature: Signature, *, status: int = 422, of_form: bool = False
) -> dict[str, Any]:
    """Return fields as parameters; the empty ones that a form on a page sends are not given, if they are known."""
    values = _collect(fields, signature, status=status)
    if of_form:
        filled = [(name, text) for name, text in fields if text.strip(" ") or name not in signature.names]
        values = _collect(filled, signature, status=status)
    return _check(signature.rest, values, status=status)


async def read_body(request: Request, *, largest: int = LARGEST) -> bytes:
    """Return the body of a request, which is not too large."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > largest:
            raise HTTPException(413, f"this takes no more than {largest:,} bytes")
    return body


def decode(text: bytes) -> str:
    """Return bytes as text; those that are no UTF-8 become half surrogates, which no type takes."""
    return text.decode("utf-8", "surrogateescape")


def _parse_pairs(text: bytes, *, most: int | None = None) -> list[tuple[str, str]]:
    """Return names and values as they stand in a query or a form; ValueError if they are more than ``most``."""
    pairs = parse_qsl(decode(text), keep_blank_values=True, errors="surrogateescape", max_num_fields=most)
    return [(name.encode("utf-8", "replace").decode(), value) for name, value in pairs]


def _collect(pairs: Iterable[tuple[str, str]], signature: Signature, *, status: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in signature.lists:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise BadRequest(status, [_twice(name)])
        else:
            values[name] = value
    return values


def _names_of(pairs: list[tuple[str, object]]) -> list[str]:
    return [name for name, _ in pairs]


def _check(model: type[BaseModel], given: dict[str, Any] | bytes, *, status: int) -> dict[str, Any]:
    """Return values by the names of the function's parameters. JSON has types of its own, so nothing is converted."""
    validator = model.__pydantic_validator__
    try:
        checked = (
            validator.validate_json(given, strict=True)
            if isinstance(given, bytes)
            else validator.validate_python(given)
        )
    except ValidationError as error:
        details = error.errors(include_url=False)
        if details[0]["type"] == "json_invalid":
            status = 400
        raise BadRequest(status, [_explain(one, model) for one in details]) from error
    if wrong := list(_find_control_characters(checked)):
        raise BadRequest(status, wrong)
    return {name: getattr(checked, name) for name in model.model_fields}


def _find_control_characters(checked: BaseModel) -> Iterator[WrongParameter]:
    """Yield the texts that hold what nobody can see or type, and what a database may drop."""
    for key, field in type(checked).model_fields.items():
        value = getattr(checked, key)
        unwanted = _CONTROL_IN_LINES if SEVERAL_LINES in field.metadata else _CONTROL
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and unwanted.search(text):
                name = field.alias or key
                yield WrongParameter(name=name, detail=f"{name} holds control characters")
                break


def without_null(schema: Schema) -> Schema:
    """Return the schema of what can be given in a query, where there is no null; what is left out is not given."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    merged = {key: value for key, value in schema.items() if key not in ("anyOf", "title")}
    if len(kinds) == 1:
        merged = kinds[0] | merged
    return _without_default(merged) if merged.get("default", "") is None else without_blank(merged)


def without_blank(schema: Schema) -> Schema:
    """Return the schema of a text without a default that could not be given: "" where it must not be empty."""
    return _without_default(schema) if schema.get("default") == "" and schema.get("minLength") else schema


def _without_default(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "default"}


def _explain(error: ErrorDetails, model: type[BaseModel]) -> WrongParameter:
    """Say in a sentence what is wrong with a parameter."""
    name = str(error["loc"][0]) if error["loc"] else ""
    schema = without_null(model.model_json_schema()["properties"].get(name, {}))
    shown = _show(name)
    match error["type"]:
        case "extra_forbidden":
            return _unknown(name, [field.alias or key for key, field in model.model_fields.items()])
        case "missing":
            detail = f"say which: {shown} is missing"
        case "string_too_short":
            detail = f"say which: {shown} is empty"
        case "int_parsing" | "int_type" | "int_from_float":
            detail = f"{shown} is a whole number"
        case "greater_than_equal" | "less_than_equal" | "int_parsing_size":
            detail = f"{shown} is {schema.get('minimum', '…')} to {schema.get('maximum', '…')}"
        case "string_too_long":
            detail = f"{shown} has at most {error['ctx']['max_length']:,} characters"
        case "string_unicode":
            detail = f"{shown} is not in UTF-8"
        case "unreadable":
            detail = error["ctx"]["reason"]
        case "enum" | "literal_error":
            detail = f"{shown} is one of {error['ctx']['expected']}"
        case _:
            message = error["msg"][:1].lower() + error["msg"][1:]
            detail = f"{shown}: {message}" if shown else message
    return WrongParameter(name=shown, detail=detail)


def _unknown(name: str, known: Sequence[str]) -> WrongParameter:
    there_are = f"there are {', '.join(known)}" if known else "nothing can be given here"
    return WrongParameter(name=_show(name), detail=f"{_show(name)!r} is not known here; {there_are}")


def _twice(name: str) -> WrongParameter:
    return WrongParameter(name=_show(name), detail=f"{_show(name)} is given twice")


def _show(text: str) -> str:
    """Return what was given as it can be repeated."""
    return text[:_SHOWN].encode("utf-8", "replace").decode()

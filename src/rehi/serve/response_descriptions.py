"""Descriptions of responses for the OpenAPI document: the answers of an operation, and all its refusals."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from rehi.errors import DataFolderBusy, DiskFull, EngineError, RehiError, SettingsError
from rehi.operations.operation import Operation, Signature
from rehi.serve.problem_details import KINDS, MEDIA_TYPE, refusal_status, status_of
from rehi.serve.request_parameters import Schema

NO_BODY = frozenset({301, 302, 303, 304, 307, 308})
ALWAYS = (
    400,
    414,
    421,
    429,
    431,
    500,
    503,
)  # a query that is unknown, a long head, another host, wrong tokens, faults, a crowd
_PROBLEM = {"$ref": "#/components/schemas/ProblemDetails"}
_TEXT: Schema = {"type": "string"}
_TEXTS = frozenset({"application/link-format", "application/n-triples", "application/sparql-results+xml"})
_RETRY: Schema = {"description": "Seconds to wait.", "schema": {"type": "string", "pattern": "^[0-9]+$"}}
HEADERS: dict[str, Schema] = {
    "Allow": {"description": "The methods that the address has.", "schema": _TEXT},
    "Content-Disposition": {"description": "The name to save it under.", "schema": _TEXT},
    "Content-Range": {"description": "Which bytes these are, and how many there are.", "schema": _TEXT},
    "ETag": {"description": "Stands for these bytes, for If-None-Match and If-Range.", "schema": _TEXT},
    "Link": {
        "description": "The original, its TimeGate and its TimeMap, and its mementos nearby (RFC 7089).",
        "schema": _TEXT,
    },
    "Location": {"description": "Where to go on.", "schema": _TEXT},
    "Memento-Datetime": {"description": "When it was captured.", "schema": _TEXT},
    "Rehi-Incomplete": {"description": "Why the graph does not know all that it should, if so.", "schema": _TEXT},
    "Retry-After": _RETRY,
    "Vary": {"description": "What the answer depends on.", "schema": _TEXT},
    "WWW-Authenticate": {"description": "How to send the token.", "schema": _TEXT},
}
OF_REFUSALS = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    416: ("Content-Range",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


def describe_responses(operation: Operation, signature: Signature, schemas: dict[tuple[str, str], Schema]) -> Schema:
    """Return what an operation may answer, by status."""
    responses: Schema = {}
    for status in (operation.status, *(status for status in operation.statuses if status < 400)):
        responses[str(status)] = _describe(status, (operation.headers or {}).get(status, ()))
        if operation.media_types and status not in NO_BODY:
            content = {one: _content(one, operation, schemas) for one in operation.media_types}
            responses[str(status)]["content"] = content
    if operation.keeps_status:
        content = {one: {} for one in operation.media_types}
        responses["default"] = {"description": "What was kept with this status, as it was.", "content": content}
    for status, codes in sorted(failures_of(operation, signature).items()):
        responses[str(status)] = describe_refusal(status, codes)
    return responses


def describe_refusal(status: int, codes: set[str]) -> Schema:
    """Return how a refusal looks: problem details with this status and one of these codes."""
    narrowed = {"properties": {"status": {"const": status}, "code": {"enum": sorted(codes)}}}
    content = {MEDIA_TYPE: {"schema": {"allOf": [_PROBLEM, narrowed]}}}
    return {**_describe(status, OF_REFUSALS.get(status, ())), "content": content}


def failures_of(operation: Operation, signature: Signature) -> dict[int, set[str]]:
    """Return the statuses with which an operation may be refused, and the codes of each: its own errors, and those of what it takes."""
    codes: dict[int, set[str]] = {status: {KINDS[status][0]} for status in _statuses(operation, signature)}
    household = [EngineError, DataFolderBusy, *([DiskFull] if operation.changes else [])]
    for error in (*operation.errors, *household):
        for kind in _with_kinds(error):
            status = status_of(kind, method=operation.method)
            code = KINDS[status][0] if issubclass(kind, SettingsError) else kind.code
            codes.setdefault(status, set()).add(code)
    codes[500] |= {kind.code for kind in _with_kinds(RehiError) if status_of(kind, method=operation.method) == 500}
    return codes


def _statuses(operation: Operation, signature: Signature) -> Iterator[int]:
    """Yield the statuses that HTTP itself has names for."""
    yield from ALWAYS
    yield from (status for status in operation.statuses if status >= 400)
    if operation.in_path:
        yield 404
    if signature.subject != "request":
        yield 406
    if operation.changes:
        yield from (401, 403)
    if operation.method == "POST":
        yield from (413, 415, refusal_status("POST"))


def _with_kinds(error: type[RehiError]) -> Iterator[type[RehiError]]:
    """Yield a kind of error and all kinds of it that are rehi's own."""
    yield error
    for kind in error.__subclasses__():
        if kind.__module__.startswith("rehi."):
            yield from _with_kinds(kind)


def _describe(status: int, headers: tuple[str, ...]) -> Schema:
    described: Schema = {"description": HTTPStatus(status).phrase}
    if headers:
        described["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in headers}
    return described


def _content(media_type: str, operation: Operation, schemas: dict[tuple[str, str], Schema]) -> Schema:
    """Return the schema of an answer; of bytes there is none."""
    schema = schemas.get((operation.name, f"answer {media_type}")) or schemas.get((operation.name, "answer"))
    if schema is None and (media_type.startswith("text/") or media_type in _TEXTS):
        schema = _TEXT
    return {"schema": schema} if schema else {}

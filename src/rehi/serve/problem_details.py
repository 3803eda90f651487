"""Problem details (RFC 9457): every failure in the same words, as JSON for programs and as a page for people."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

import orjson
from python_multipart.exceptions import FormParserError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from rehi.errors import (
    BodyPruned,
    Busy,
    ComparisonError,
    DataFolderBusy,
    DiskFull,
    EngineAway,
    EngineError,
    LiesElsewhere,
    NotFound,
    QueryError,
    QueryTimeout,
    QueryTooLarge,
    ReadError,
    RecordDamaged,
    RecordMissing,
    RehiError,
    SettingsError,
    SourceError,
    StoreVersionError,
)

MEDIA_TYPE = "application/problem+json"
HELP = "/docs#problem-"  # where the kinds of problems are explained

STATUS: dict[type[RehiError], int] = {
    NotFound: 404,
    BodyPruned: 410,
    ComparisonError: 422,
    QueryTimeout: 503,
    QueryTooLarge: 503,
    QueryError: 400,
    SourceError: 422,
    ReadError: 503,
    Busy: 503,
    DataFolderBusy: 503,
    EngineError: 503,
    LiesElsewhere: 421,  # what is asked for is well, but with another worker, which the answer names
    RecordDamaged: 503,
    RecordMissing: 503,
    DiskFull: 507,
}

BROKEN = (ClientDisconnect, FormParserError)  # what was sent can't be read to its end
HOUSEHOLD = (EngineError, StoreVersionError, DataFolderBusy, DiskFull)

# What HTTP itself has names for: the code and what a person can do.
KINDS: dict[int, tuple[str, str]] = {
    400: ("bad-request", "Look at /docs for what can be asked here, and how."),
    401: ("token-needed", "Send Authorization: Bearer with the setting serve.token, or log in at /login."),
    403: ("refused", "Ask from this machine, or from the page itself."),
    404: ("not-found", "Look at /docs for the addresses that there are."),
    405: ("method-not-allowed", "The header Allow names the methods that this address has."),
    406: ("not-acceptable", "Leave the header Accept out, or ask for a type that /docs names."),
    409: ("conflict", "Give it another name."),
    411: ("length-required", "Send Content-Length."),
    413: ("too-large", "Send less at once, or raise serve.max_upload for uploads."),
    414: ("line-too-long", "Send what is long in the body of a POST, where the address has one."),
    415: ("unsupported-media-type", "Send what /docs names, with its Content-Type."),
    416: ("range-not-satisfiable", "The header Content-Range says how long it is."),
    421: ("wrong-host", "Use the address that rehi was started with."),
    422: ("bad-content", "Look at /docs for what is taken here."),
    429: ("too-many", "Wait as long as the header Retry-After says."),
    431: ("head-too-large", "Send fewer or shorter headers."),
    500: ("internal", "The server's own output says more."),
    503: ("busy", "Ask again in a moment."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongParameter:
    """A parameter that was refused, and why."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDetails:
    """What went wrong with a request, after RFC 9457."""

    type: str  # where this kind of problem is explained
    title: str  # the kind in a few words
    status: int
    detail: str  # this case in a sentence
    instance: str  # the address that was asked
    code: str  # the kind as a stable short name
    advice: str = ""  # what can be done about it
    parameters: Sequence[WrongParameter] = ()  # those that were refused


class BadRequest(HTTPException):
    """Parameters that are unknown, missing or malformed."""

    def __init__(self, status: int, wrong: Sequence[WrongParameter], *, detail: str = "") -> None:
        super().__init__(status, detail or wrong[0].detail)
        self.wrong = tuple(wrong)


def describe_problem(request: Request, error: Exception) -> ProblemDetails:
    """Say what an exception means to whoever asked; what nobody foresaw goes to the log too."""
    path = request.scope["path"]
    if isinstance(error, SettingsError):
        error = _refuse(request, error)
    if isinstance(error, RehiError):
        title = (type(error).__doc__ or "").partition("\n")[0].rstrip(".")
        return ProblemDetails(
            type=HELP + error.code,
            title=title,
            status=status_of(type(error), method=request.method),
            detail=_detail(request, error) or title,
            instance=path,
            code=error.code,
            advice=error.advice,
        )
    if isinstance(error, BROKEN):
        error = HTTPException(400, "the body broke off, or is not what its Content-Type says")
    if not isinstance(error, HTTPException):
        logging.getLogger(__name__).error("a request failed", exc_info=error)
        error = HTTPException(500, "something went wrong here; the server's own output says more")
    code, advice = KINDS.get(error.status_code, ("http", ""))
    return ProblemDetails(
        type=HELP + code,
        title=HTTPStatus(error.status_code).phrase,
        status=error.status_code,
        detail=error.detail,
        instance=path,
        code=code,
        advice=advice,
        parameters=error.wrong if isinstance(error, BadRequest) else (),
    )


def _refuse(request: Request, error: SettingsError) -> BadRequest:
    """Return what an operation can't understand as what its types refuse."""
    detail, status = _detail(request, error), refusal_status(request.method)
    return BadRequest(status, [WrongParameter(name=name, detail=detail) for name in error.names], detail=detail)


def refusal_status(method: str) -> int:
    """Return the status of what is malformed: in the query of a request that only reads, or in a body."""
    return 400 if method in ("GET", "HEAD") else 422


def _detail(request: Request, error: RehiError) -> str:
    """Return what may be told of a failure; how it stands with the engines is for the one at the machine."""
    if isinstance(error, HOUSEHOLD):
        logging.getLogger(__name__).error("a request failed: %s", error)
        return ""
    redacted: str = request.app.state.redactor.redact(str(error))
    return redacted


def status_of(error: type[RehiError], *, method: str) -> int:
    """Return the HTTP status of a kind of error, which is 500 for what nobody who asks can do anything about."""
    if issubclass(error, SettingsError):
        return refusal_status(method)
    return next((STATUS[kind] for kind in error.__mro__ if kind in STATUS), 500)


def headers_of(error: Exception) -> Mapping[str, str]:
    """Return the headers that go with a failure, such as Allow and Retry-After."""
    if isinstance(error, HTTPException):
        return error.headers or {}
    return {"retry-after": "5"} if isinstance(error, Busy | EngineAway) else {}


def problem_answer(problem: ProblemDetails, headers: Mapping[str, str]) -> Response:
    """Return a problem as JSON."""
    return Response(orjson.dumps(problem), status_code=problem.status, headers=dict(headers), media_type=MEDIA_TYPE)

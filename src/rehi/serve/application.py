"""The application: the table of addresses, and what every answer has in common."""

from __future__ import annotations

import logging
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rehi.app import House
from rehi.errors import (
    BodyDropped,
    ComparisonError,
    DiskFull,
    NotFound,
    QueryError,
    QueryTimeout,
    QueryTooLarge,
    RehiError,
    SettingsError,
    SourceError,
    StoreUnreachable,
)
from rehi.serve import api, archive, cdx, diff, downloads, hosts, pages, replay, sparql, updates, versions
from rehi.serve.gate import Gate
from rehi.serve.packing import Packing
from rehi.service import Service

STATUS: dict[type[RehiError], int] = {
    NotFound: 404,
    BodyDropped: 410,
    ComparisonError: 422,
    QueryTimeout: 503,
    QueryTooLarge: 503,
    QueryError: 400,
    SourceError: 422,
    SettingsError: 422,  # what was ordered can't be understood
    DiskFull: 507,
    StoreUnreachable: 503,
}

# No script but our own, no frame, no form to elsewhere: harvested text can't do anything even if it got out unescaped.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}


def create_app(house: House, service: Service) -> Starlette:
    """The whole of what is answered over HTTP."""
    static = StaticFiles(directory=Path(__file__).parent / "static")
    gate = Gate(house.settings)
    app = Starlette(
        routes=[
            *pages.routes,
            *hosts.routes,
            *updates.routes,
            *api.routes,
            *archive.routes,
            *sparql.routes,
            *diff.routes,
            *versions.routes,
            *replay.routes,
            *cdx.routes,
            *downloads.routes,
            Mount("/static", static),
        ],
        exception_handlers={RehiError: _explain, HTTPException: _explain, Exception: _explain},
        middleware=[Middleware(Packing, minimum_size=2000), Middleware(GateMiddleware, gate=gate)],
    )
    app.state.house, app.state.service, app.state.gate = house, service, gate
    return app


class GateMiddleware:
    """Asks the gate, and puts the common headers on every answer."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = {name.lower() for name, _ in message["headers"]}  # what is replayed has a stricter policy
                common = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in common if pair[0] not in said)]
            await send(message)

        refusal = self._gate.refusal(Request(scope))
        if refusal is None:
            await self._app(scope, receive, send_with_headers)
        else:
            await _error(*refusal, code="refused")(scope, receive, send_with_headers)


def _error(status: int, message: str, *, code: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message}}, status_code=status)


async def _explain(request: Request, error: Exception) -> Response:
    """Every failure is one clear sentence: a page for people, JSON for programs."""
    status, message, code = _classify(error)
    if "text/html" in request.headers.get("accept", ""):
        answer = pages.render(request, "error.html", {"message": message, "status": status}, status=status)
    else:
        answer = _error(status, message, code=code)
    answer.headers.update((isinstance(error, HTTPException) and error.headers) or {})
    return answer


def _classify(error: Exception) -> tuple[int, str, str]:
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail), "http"
    if isinstance(error, RehiError):
        status = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)
        return status, str(error), error.code
    logging.getLogger(__name__).error("a request failed", exc_info=error)
    return 500, "something went wrong here; the server's own output says more", "internal"

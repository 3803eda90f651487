"""The application: the table of addresses, and what every answer has in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rehi.app import House
from rehi.errors import RehiError
from rehi.serve.gate import Gate
from rehi.serve.lane import QueryLane
from rehi.serve.line import MOST_WAITING, RETRY, RequestLine
from rehi.serve.problem_details import BROKEN, describe_problem, headers_of, problem_answer
from rehi.serve.redaction import Redactor
from rehi.serve.rendering import render, wants_page
from rehi.serve.replay import WebRoute
from rehi.serve.routes import build_routes
from rehi.serve.webpath import REPLAY
from rehi.service import Service

SPARQL = "/sparql"

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
    """Return the application that answers everything over HTTP."""
    static = StaticFiles(directory=Path(__file__).parent / "static")
    gate = Gate(house.settings)
    app = Starlette(
        routes=[*build_routes(), WebRoute(), Mount("/static", static)],
        exception_handlers=dict.fromkeys((RehiError, HTTPException, *BROKEN, Exception), _explain),
        middleware=[Middleware(Compression, minimum_size=2000), Middleware(GateMiddleware, gate=gate)],
    )
    app.state.house, app.state.service, app.state.gate, app.state.lane = house, service, gate, QueryLane()
    app.state.line, app.state.redactor = RequestLine(), Redactor(house.settings)
    return app


class Compression(GZipMiddleware):
    """Compresses answers, all but the bytes of what is kept.

    What is replayed has its own length, ranges and a strong tag, which hold for the bytes as they are.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and REPLAY.match(scope["path"]):
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


@dataclass(slots=True)
class GateMiddleware:
    """Asks the gate, and puts the common headers on every answer."""

    app: ASGIApp
    gate: Gate
    _waiting: set[int] = field(
        default_factory=set
    )  # requests whose answer has not begun; queries have a lane of their own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._waiting.discard(id(scope))
                present = {name.lower() for name, _ in message["headers"]}  # what is replayed has a stricter policy
                common = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in common if pair[0] not in present)]
            await send(message)

        request = Request(scope)
        refusal = self.gate.refusal(request) or self._crowd(scope)
        if refusal is None:
            try:
                await self.app(scope, receive, send_with_headers)
            finally:
                self._waiting.discard(id(scope))
        else:
            problem = describe_problem(request, refusal)
            await problem_answer(problem, headers_of(refusal))(scope, receive, send_with_headers)

    def _crowd(self, scope: Scope) -> HTTPException | None:
        """Return the refusal of a request that would wait behind too many others; else count it, and return None."""
        if scope["path"] == SPARQL:
            return None
        if len(self._waiting) >= MOST_WAITING:
            return HTTPException(503, f"{MOST_WAITING} requests wait already", RETRY)
        self._waiting.add(id(scope))
        return None


async def _explain(request: Request, error: Exception) -> Response:
    """Return a failure as one clear sentence: a page for people, JSON for programs."""
    problem, headers = describe_problem(request, error), headers_of(error)
    if not wants_page(request):
        return problem_answer(problem, headers)
    page = render(request, "error.html", {"problem": problem}, status=problem.status)
    page.headers.update(headers)
    return page

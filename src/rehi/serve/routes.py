"""Routes: each address of the tables with what its methods do there; whatever is wrong is refused before it is done."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rehi.builtin import load_place
from rehi.model.accept import parse_accept, weigh
from rehi.operations.operation import Operation, Signature, read_signature
from rehi.operations.table import OPERATIONS
from rehi.serve.page_table import PAGES, SitePage
from rehi.serve.request_parameters import read_form, read_json, read_path, read_query, refuse_query
from rehi.serve.responses import answer
from rehi.serve.webpath import WEB

Handler = Callable[[Request], Awaitable[Response]]


def build_routes() -> list[Route]:
    """Return a route for each path of the tables; no function is imported before it is asked for."""
    handlers: dict[str, dict[str, Handler]] = {}
    for operation in OPERATIONS:
        method, path = operation.address.split()
        if not path.startswith(WEB):
            handlers.setdefault(path, {})[method] = _operation_handler(operation)
    for page in PAGES:
        method, path = page.address.split()
        handlers.setdefault(path, {})[method] = _page_handler(page)
    return [Route(path, Address(methods)) for path, methods in handlers.items()]


class Address:
    """An address: answers the methods that it has, says which they are to OPTIONS, and refuses all others with the same list."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = dict(handlers)
        if "GET" in self._handlers:
            self._handlers["HEAD"] = self._handlers["GET"]
        self._allow = ", ".join(sorted([*self._handlers, "OPTIONS"]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        handler = self._handlers.get(request.method)
        if handler is not None:
            response = await handler(request)
        elif request.method == "OPTIONS":
            response = Response(status_code=204, headers={"allow": self._allow})
        else:
            detail = f"{request.method[:20]} can't be done here; there are {self._allow}"
            raise HTTPException(405, detail, {"allow": self._allow})
        await response(scope, receive, send)


def _operation_handler(operation: Operation) -> Handler:
    async def handle(request: Request) -> Response:
        function = operation.load()
        signature, state = read_signature(function, operation.in_path), request.app.state
        if signature.subject == "request":
            parameters = read_path(request, signature) | read_query(request, signature)
            value = await _call(function, request, parameters)
            return value if isinstance(value, Response) else answer(value, state.redactor, status=operation.status)
        _check_accept(request, operation.media_types)
        parameters = read_path(request, signature) | await _read_rest(request, signature)
        subject = state.service if signature.subject == "service" else state.house
        value = await state.line.run(function, subject, **parameters)
        return answer(value, state.redactor, status=operation.status, method=request.method)

    return handle


def _page_handler(page: SitePage) -> Handler:
    async def handle(request: Request) -> Response:
        function = load_place(page.function)
        signature = read_signature(load_place(page.like) if page.like else function, tuple(request.path_params))
        parameters = read_path(request, signature)
        if request.method == "POST":
            refuse_query(request)
            parameters |= {} if page.reads_body else await read_form(request, signature)
        else:
            parameters |= read_query(request, signature, of_form=True)
        page_or_redirect: Response = await _call(function, request, parameters)
        return page_or_redirect

    return handle


async def _read_rest(request: Request, signature: Signature) -> dict[str, Any]:
    if request.method in ("GET", "HEAD"):
        return read_query(request, signature)
    refuse_query(request)
    return await read_json(request, signature)


async def _call(function: Callable[..., Any], request: Request, parameters: Mapping[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(request, **parameters)
    return await request.app.state.line.run(function, request, **parameters)


def _check_accept(request: Request, media_types: Iterable[str]) -> None:
    """Refuse what can't be answered in any way that the client takes."""
    ranges = parse_accept(request.headers.get("accept", ""))
    if not any(weigh(media_type, ranges) for media_type in media_types):
        raise HTTPException(406, f"this comes as {' or '.join(media_types)}")

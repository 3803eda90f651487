"""An address: one path, and what each method does there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]


class Address:
    """Answers the methods that it has, says which they are to OPTIONS, and refuses all others with the same list."""

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

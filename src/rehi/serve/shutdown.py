"""The end of the server: what is told to those whose answer is given up because the server stops."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rehi.serve.lane import RETRY, STOPPED
from rehi.serve.problem_details import describe_problem, problem_answer


class ShutdownNotice:
    """Answers a request with 503 that is cancelled; of an answer that has begun, the connection is closed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        begun = False

        async def note_and_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, note_and_send)
        except asyncio.CancelledError:
            if scope["type"] == "http" and not begun:
                problem = describe_problem(Request(scope), HTTPException(503, STOPPED))
                await problem_answer(problem, RETRY)(scope, receive, send)

"""Compression: answers are compressed on their way, all but the bytes of what is kept."""

from __future__ import annotations

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Receive, Scope, Send

from rehi.serve.webpath import is_replay


class Compression(GZipMiddleware):
    """What is replayed has its own length, ranges and a strong tag, which hold for the bytes as they are."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and is_replay(scope):
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

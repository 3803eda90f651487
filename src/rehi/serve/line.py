"""The line before the threads that answer: short, and whoever would stand in it for long is refused while that is early.

Threads of Python take turns: more of them answer no sooner, and the loop that takes requests waits behind all of them. Streams,
uploads and static files do not stand here, so that a crowd leaves them the other threads that there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

# Measured with 200 clients (`make bench NAME=pages`).
THREADS = 16
MOST_WAITING = 80  # requests whose answer has not begun, those on threads too
PATIENCE = 0.5  # seconds until a thread is free
RETRY = {"retry-after": "2"}

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Line:
    """Runs what answers requests on a few threads; for one event loop."""

    _free: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, THREADS))

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what a function returns in a thread; 503 if none is free for too long, and then nothing was done."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._free.acquire()
        except TimeoutError:
            raise HTTPException(503, f"nobody was free to answer for {PATIENCE:g} s", RETRY) from None
        try:
            return await run_in_threadpool(function, *args, **kwargs)
        finally:
            self._free.release()

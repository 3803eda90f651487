"""The line before the threads that answer: short, and whoever would stand in it for long is refused while that is early.

Threads of Python take turns, and lose a good part of the time to that: two that answer at once served three times as many as
sixteen. So there are two places for what is quick; what turns out to be slow, as it waits for a bucket or for another process,
leaves its place to the next one and goes on. Streams, uploads and static files do not stand here, so that a crowd leaves
them the other threads that there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

# Measured with 20 clients that ask for all in turn (`make bench NAME=pages`): 2 places 271 answers a second, 4 185, 16 108.
PLACES = 2
QUICK = 0.05  # seconds, after which a place is left
THREADS = 16  # what is slow has of them at most
MOST_WAITING = 80  # requests whose answer has not begun, those on threads too
PATIENCE = 0.5  # seconds until there is a place
RETRY = {"retry-after": "2"}

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class RequestLine:
    """Runs what answers requests on a few threads; for one event loop."""

    _threads: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, THREADS))
    _places: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, PLACES))

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what a function returns in a thread; 503 if there is no place for too long, and then nothing was done."""
        leave = await self._enter()
        leaves = asyncio.get_running_loop().call_later(QUICK, leave)
        try:
            return await run_in_threadpool(function, *args, **kwargs)
        finally:
            leaves.cancel()
            leave()
            self._threads.release()

    async def _enter(self) -> Callable[[], None]:
        """Wait for a thread and a place; return how the place is left, which may be done twice."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._places.acquire()
                try:
                    await self._threads.acquire()
                except BaseException:
                    self._places.release()
                    raise
        except TimeoutError:
            raise HTTPException(503, f"nobody was free to answer for {PATIENCE:g} s", RETRY) from None
        left = False

        def leave() -> None:
            nonlocal left
            if not left:
                left = True
                self._places.release()

        return leave

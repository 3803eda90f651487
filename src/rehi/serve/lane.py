"""The lane of queries: threads of their own, a bounded line before them, and clients that take turns."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from starlette.exceptions import HTTPException

THREADS = 16  # that wait for the engine, which has fewer processes
BY_CLIENT = 1  # of these at a time: look-ups take milliseconds, so many of them are soon answered one after another
WAITING = 64  # in line, of all clients together
WAITING_BY_CLIENT = 16
RETRY = {"retry-after": "5"}
STOPPED = "rehi is being stopped"

T = TypeVar("T")


@dataclass(slots=True)
class QueryLane:
    """Runs queries beside everything else that is asked; for one event loop."""

    _threads: ThreadPoolExecutor = field(
        default_factory=partial(ThreadPoolExecutor, THREADS, thread_name_prefix="rehi-query")
    )
    _running: Counter[str] = field(default_factory=Counter)
    # By client, whose turn it is first.
    _line: OrderedDict[str, deque[asyncio.Future[None]]] = field(default_factory=OrderedDict)
    _asked: set[asyncio.Future[Any]] = field(default_factory=set)  # answers that threads are working on
    _closed: bool = False

    async def run(self, client: str, work: Callable[[], T]) -> T:
        """Return what the work returns when it is its client's turn; 429 if this client, 503 if all wait for too much."""
        await self._take_turn(client)
        asked = asyncio.get_running_loop().run_in_executor(self._threads, work)
        self._asked.add(asked)
        try:
            return await asked
        except asyncio.CancelledError:
            if self._closed:
                raise _stopped() from None
            raise
        finally:
            self._asked.discard(asked)
            self._leave(client)

    def close(self) -> None:
        """Refuse whoever waits, for a turn or for an answer; threads that work on one end when the graph is closed."""
        self._closed = True
        for turn in [turn for line in self._line.values() for turn in line]:
            if not turn.done():
                turn.set_exception(_stopped())
        self._line.clear()
        for asked in self._asked:
            asked.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _take_turn(self, client: str) -> None:
        if self._closed:
            raise _stopped()
        if self._may_run(client) and client not in self._line:
            self._running[client] += 1
            return
        mine = self._line.get(client, ())
        if len(mine) >= WAITING_BY_CLIENT:
            raise HTTPException(429, f"{len(mine)} queries from this address wait already", RETRY)
        if sum(map(len, self._line.values())) >= WAITING:
            raise HTTPException(503, f"{WAITING} queries wait already", RETRY)
        turn = asyncio.get_running_loop().create_future()
        self._line.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:  # the client has gone
            if turn.done() and not turn.cancelled():
                self._leave(client)
            else:
                self._forget(client, turn)
            raise

    def _may_run(self, client: str) -> bool:
        return self._running[client] < BY_CLIENT and self._running.total() < THREADS

    def _leave(self, client: str) -> None:
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        for waiting in list(self._line):
            turn = next((turn for turn in self._line[waiting] if not turn.done()), None)
            if turn is not None and self._may_run(waiting):
                self._forget(waiting, turn)
                if waiting in self._line:
                    self._line.move_to_end(waiting)
                self._running[waiting] += 1
                turn.set_result(None)
                return

    def _forget(self, client: str, turn: asyncio.Future[None]) -> None:
        if client in self._line:  # not if all were refused
            self._line[client].remove(turn)
            if not self._line[client]:
                del self._line[client]


def _stopped() -> HTTPException:
    return HTTPException(503, STOPPED, RETRY)

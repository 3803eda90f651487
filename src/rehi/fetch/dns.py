"""DNS: the addresses of hosts, looked up in threads of our own and cached for a minute.

libcurl looks names up in twenty threads and queues the rest: twenty names whose servers are silent made all other
hosts time out (measured with 8.23, whose number of threads pycurl can't set), and closing waited for them. Here there
are as many threads as visits, when there must be.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Generic, TypeVar

CACHE_SECONDS = 60.0
_CACHED = 10_000  # names
_IDLE = 20.0  # seconds after which a thread without work ends

Addresses = tuple[str, ...]  # in the system's order of preference; none when the name has none

_LOOPBACK: Addresses = ("127.0.0.1", "::1")

T = TypeVar("T")


class DnsResolver(Generic[T]):
    """Looks names up in background threads.

    Each lookup is requested for a waiter, a value of the caller's choosing that comes back with the addresses. All
    methods belong to one thread; ``wake`` is called from another one whenever a lookup has ended.
    """

    def __init__(self, *, threads: int, wake: Callable[[], None]) -> None:
        self.waiting = 0  # waiters that were not handed back yet
        self._max_threads = threads
        self._wake = wake
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[str, Addresses | None]] = SimpleQueue()
        self._cache: dict[str, tuple[float, Addresses]] = {}
        self._waiting: dict[str, dict[int, T]] = {}
        self._deadlines: list[tuple[float, int, str]] = []  # a heap; waiters that were handed back are still in it
        self._numbers = count()
        self._busy: set[str] = set()  # names that a thread looks up or will, whether anybody still waits or not
        self._threads = 0

    def cached(self, name: str) -> Addresses | None:
        """Return the addresses of a name that was looked up lately; None if it was not."""
        entry = self._cache.get(name)
        return entry[1] if entry is not None and entry[0] > monotonic() else None

    def request(self, name: str, waiter: T, *, timeout: float) -> None:
        """Have a name looked up for a waiter, who waits for at most ``timeout`` seconds."""
        number = next(self._numbers)
        self.waiting += 1
        self._waiting.setdefault(name, {})[number] = waiter
        heappush(self._deadlines, (monotonic() + timeout, number, name))
        if name not in self._busy:
            self._busy.add(name)
            self._queue.put(name)
            self._start_threads()

    def answered(self) -> list[tuple[T, Addresses | None]]:
        """Return the waiters whose lookup has ended, with the addresses; None for those who have waited too long."""
        answered: list[tuple[T, Addresses | None]] = []
        while not self._answers.empty():
            name, addresses = self._answers.get()
            if addresses is None:  # a thread has ended; a name may have been queued at that moment
                self._threads -= 1
                self._start_threads()
                continue
            self._busy.discard(name)
            self._store(name, addresses)
            answered += [(waiter, addresses) for waiter in self._waiting.pop(name, {}).values()]
        now = monotonic()
        while self._deadlines and self._deadlines[0][0] <= now:
            _, number, name = heappop(self._deadlines)
            waiting = self._waiting.get(name, {})
            if number in waiting:
                answered.append((waiting.pop(number), None))
        self.waiting -= len(answered)
        return answered

    def seconds_to_timeout(self) -> float:
        """Return the seconds until the next waiter has waited too long; infinity if nobody waits."""
        while self._deadlines and self._deadlines[0][1] not in self._waiting.get(self._deadlines[0][2], {}):
            heappop(self._deadlines)
        return max(0.0, self._deadlines[0][0] - monotonic()) if self._deadlines else float("inf")

    def cancel(self, matches: Callable[[T], bool]) -> list[T]:
        """Stop waiting for the waiters that match, and return them."""
        cancelled: list[T] = []
        for waiting in self._waiting.values():
            for number in [number for number, waiter in waiting.items() if matches(waiter)]:
                cancelled.append(waiting.pop(number))
        self.waiting -= len(cancelled)
        return cancelled

    def close(self) -> None:
        """Cancel all lookups, and let the threads end as soon as they can, without waiting for them."""
        self.cancel(lambda _: True)
        for _ in range(self._threads):
            self._queue.put(None)

    def _start_threads(self) -> None:
        while self._threads < min(len(self._busy), self._max_threads):
            self._threads += 1
            Thread(target=self._work, name="rehi-dns", daemon=True).start()

    def _store(self, name: str, addresses: Addresses) -> None:
        now = monotonic()
        if len(self._cache) >= _CACHED:
            self._cache = {name: entry for name, entry in self._cache.items() if entry[0] > now}
            if len(self._cache) >= _CACHED:
                self._cache.clear()
        if addresses:
            self._cache[name] = (now + CACHE_SECONDS, addresses)

    def _work(self) -> None:
        while True:
            try:
                name = self._queue.get(timeout=_IDLE)
            except Empty:
                name = None
            self._answers.put((name or "", None if name is None else _look_up(name)))
            self._wake()
            if name is None:
                return


def is_localhost(name: str) -> bool:
    """Whether a name means this machine, whatever DNS says (RFC 6761)."""
    return f".{name.removesuffix('.')}".endswith(".localhost")


def _look_up(name: str) -> Addresses:
    if is_localhost(name):
        return _LOOPBACK
    try:
        # As bytes, for the standard library would encode a name once more and fall over long ones.
        results = socket.getaddrinfo(name.encode("ascii"), None, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return ()
    return tuple(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in results))

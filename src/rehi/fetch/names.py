"""Names: hosts' addresses, looked up in threads of our own, and remembered for a minute.

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

REMEMBERED = 60.0  # seconds
_CACHED = 10_000  # names
_IDLE = 20.0  # seconds after which a thread without work ends

Addresses = tuple[str, ...]  # in the system's order of preference; none when the name has none

_HERE: Addresses = ("127.0.0.1", "::1")

T = TypeVar("T")


class Names(Generic[T]):
    """Looks names up for those who wait. All methods belong to one thread, which ``ring`` wakes when one was found."""

    def __init__(self, *, threads: int, ring: Callable[[], None]) -> None:
        self.waiting = 0  # how many have asked and got no answer yet
        self._most = threads
        self._ring = ring
        self._wanted: SimpleQueue[str | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[str, Addresses | None]] = SimpleQueue()
        self._known: dict[str, tuple[float, Addresses]] = {}
        self._waiting: dict[str, dict[int, T]] = {}
        self._ends: list[tuple[float, int, str]] = []  # a heap; those who got their answer are still in it
        self._numbers = count()
        self._busy: set[str] = set()  # names that a thread looks up or will, whether anybody still waits or not
        self._threads = 0

    def known(self, name: str) -> Addresses | None:
        """The addresses of a name that was looked up lately."""
        entry = self._known.get(name)
        return entry[1] if entry is not None and entry[0] > monotonic() else None

    def ask(self, name: str, who: T, *, patience: float) -> None:
        """Have a name looked up for somebody who waits for that many seconds."""
        number = next(self._numbers)
        self.waiting += 1
        self._waiting.setdefault(name, {})[number] = who
        heappush(self._ends, (monotonic() + patience, number, name))
        if name not in self._busy:
            self._busy.add(name)
            self._wanted.put(name)
            self._man()

    def answered(self) -> list[tuple[T, Addresses | None]]:
        """Who waits no longer, with the addresses; None for those whose patience has ended."""
        answered: list[tuple[T, Addresses | None]] = []
        while not self._answers.empty():
            name, addresses = self._answers.get()
            if addresses is None:  # a thread has ended, and a name may have come just as it went
                self._threads -= 1
                self._man()
                continue
            self._busy.discard(name)
            self._remember(name, addresses)
            answered += [(who, addresses) for who in self._waiting.pop(name, {}).values()]
        now = monotonic()
        while self._ends and self._ends[0][0] <= now:
            _, number, name = heappop(self._ends)
            waiting = self._waiting.get(name, {})
            if number in waiting:
                answered.append((waiting.pop(number), None))
        self.waiting -= len(answered)
        return answered

    def patience(self) -> float:
        """Seconds until somebody's patience ends."""
        while self._ends and self._ends[0][1] not in self._waiting.get(self._ends[0][2], {}):
            heappop(self._ends)
        return max(0.0, self._ends[0][0] - monotonic()) if self._ends else float("inf")

    def forget(self, matches: Callable[[T], bool]) -> list[T]:
        """Those who match, who wait no longer."""
        forgotten: list[T] = []
        for waiting in self._waiting.values():
            for number in [number for number, who in waiting.items() if matches(who)]:
                forgotten.append(waiting.pop(number))
        self.waiting -= len(forgotten)
        return forgotten

    def close(self) -> None:
        """Let the threads end as soon as they can; nobody waits for them."""
        self.forget(lambda _: True)
        for _ in range(self._threads):
            self._wanted.put(None)

    def _man(self) -> None:
        while self._threads < min(len(self._busy), self._most):
            self._threads += 1
            Thread(target=self._work, name="rehi-names", daemon=True).start()

    def _remember(self, name: str, addresses: Addresses) -> None:
        now = monotonic()
        if len(self._known) >= _CACHED:
            self._known = {name: entry for name, entry in self._known.items() if entry[0] > now}
            if len(self._known) >= _CACHED:
                self._known.clear()
        if addresses:
            self._known[name] = (now + REMEMBERED, addresses)

    def _work(self) -> None:
        while True:
            try:
                name = self._wanted.get(timeout=_IDLE)
            except Empty:
                name = None
            self._answers.put((name or "", None if name is None else _look_up(name)))
            self._ring()
            if name is None:
                return


def is_here(name: str) -> bool:
    """Whether a name means this machine, whatever a name service says (RFC 6761)."""
    return f".{name.removesuffix('.')}".endswith(".localhost")


def _look_up(name: str) -> Addresses:
    if is_here(name):
        return _HERE
    try:
        # As bytes, for the standard library would encode a name once more and fall over long ones.
        found = socket.getaddrinfo(name.encode("ascii"), None, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return ()
    return tuple(dict.fromkeys(str(place[0]).partition("%")[0] for *_, place in found))

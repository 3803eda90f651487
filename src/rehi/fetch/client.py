"""The fetcher: visits many URLs at once, driven by a loop in one thread."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

import pycurl

from rehi.errors import DiskFull, FetchError, RedirectLoop, SettingsError, TimedOut
from rehi.fetch.coding import accepted_codings
from rehi.fetch.descriptors import make_room
from rehi.fetch.job import Job
from rehi.fetch.names import Addresses, Names
from rehi.fetch.redirect import redirect_target
from rehi.fetch.route import Route, Router
from rehi.fetch.target import Target, parse_target
from rehi.fetch.transfer import Order, Transfer
from rehi.fetch.watch import Watch
from rehi.model.visit import Answer, Headers, Visit
from rehi.settings import FetchSettings

MAX_FOLLOWED = 5  # RFC 9309 asks for at least five for robots.txt
_TOLD = 10_000  # names

K = TypeVar("K")


class Fetcher(Generic[K]):
    """Takes URLs under a key of the caller's choosing, and hands back the visits in the order in which they end.

    All methods but ``wakeup`` belong to one thread. Nobody is visited faster or more often than ``submit`` is called:
    politeness is the caller's.
    """

    def __init__(self, settings: FetchSettings, *, clock: Callable[[], datetime], spool: Path | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._spool = spool
        self._router = Router(settings)
        self._common: Headers = (
            ("User-Agent", _checked_agent(settings.user_agent)),
            ("Accept", "*/*"),
            ("Accept-Encoding", accepted_codings()),
        )
        make_room(settings.connections)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, settings.connections)
        self._watch = Watch(self._multi)
        # A name may keep its thread for longer than anybody waits for it.
        self._names: Names[tuple[Job[K], Route]] = Names(threads=2 * settings.connections, ring=self._watch.ring)
        self._told: dict[tuple[str, int], Addresses] = {}  # what libcurl knows of names and ports
        self._busy: dict[Any, tuple[Transfer, Job[K]]] = {}
        self._free: list[Transfer] = []
        self._ready: list[tuple[K, Visit]] = []
        self._disk_full: DiskFull | None = None
        self._woken = False
        self._closed = False

    @property
    def in_flight(self) -> int:
        """Visits that were submitted and not yet handed back."""
        return len(self._busy) + len(self._ready) + self._names.waiting

    def submit(
        self,
        key: K,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        follow: bool = False,
        max_bytes: int | None = None,
        cut_at: int | None = None,
    ) -> None:
        """Begin a visit. Nothing is raised for a URL that may not be visited: its visit ends with that error.

        A body longer than ``max_bytes`` is TooLarge; of one longer than ``cut_at`` the first so many bytes are enough.
        """
        conditions = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
        job = Job(
            key=key,
            url=url,
            started_at=self._clock(),
            conditions=tuple((name, value) for name, value in conditions if _is_sendable(value)),
            follow=follow,
            max_bytes=self._settings.max_bytes if max_bytes is None else max_bytes,
            cut_at=cut_at,
        )
        self._request(job, url)

    def poll(self, timeout: float) -> list[tuple[K, Visit]]:
        """The visits that have ended; waits at most ``timeout`` seconds for one, or until woken.

        The bodies are the caller's to close. DiskFull is raised when a body could not be spooled.
        """
        end = monotonic() + timeout
        while True:
            wait = 0.0 if self._ready else max(0.0, end - monotonic())
            if self._names.waiting:
                wait = min(wait, self._names.patience())
            if self._watch.step(wait) or self._names.waiting:
                self._go_on()
            self._collect()
            if self._disk_full is not None:
                error, self._disk_full = self._disk_full, None
                raise error
            if self._ready or self._woken or monotonic() >= end:
                self._woken = False
                ready, self._ready = self._ready, []
                return ready

    def wakeup(self) -> None:
        """Make a waiting ``poll`` return; may be called from any thread."""
        self._woken = True
        self._watch.ring()

    def abort(self, matches: Callable[[K], bool]) -> list[K]:
        """Break off the visits under way whose key matches; they are forgotten, and their keys are handed back."""
        parked = self._names.forget(lambda waiting: matches(waiting[0].key))
        under_way = [curl for curl, (_, job) in self._busy.items() if matches(job.key)]
        keys = [job.key for job, _ in parked]
        for curl in under_way:
            transfer, job = self._busy.pop(curl)
            self._multi.remove_handle(curl)
            transfer.close()
            keys.append(job.key)
        ended, self._ready = self._ready, []
        for key, visit in ended:
            if not matches(key):
                self._ready.append((key, visit))
                continue
            keys.append(key)
            _close_body(visit)
        return keys

    def close(self) -> None:
        """Break off everything. Visits that are under way are forgotten."""
        if self._closed:
            return
        self._closed = True
        self.abort(lambda _: True)
        for transfer in self._free:
            transfer.close()
        self._free = []
        self._names.close()
        self._multi.close()
        self._watch.close()

    def __enter__(self) -> Fetcher[K]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(self, job: Job[K], url: str) -> None:
        try:
            job.target = parse_target(url)
            route = self._router.route_to(job.target)
        except FetchError as error:
            self._end(job, error=error)
            return
        addresses = self._names.known(route.name) if route.name else ()
        if addresses is not None:
            self._connect(job, job.target, route, addresses)
            return
        job.asked_at = monotonic()
        patience = min(self._settings.connect_timeout, self._settings.timeout - job.seconds)
        self._names.ask(route.name, (job, route), patience=patience)

    def _go_on(self) -> None:
        """Take up the visits whose hosts have been looked up."""
        for (job, route), addresses in self._names.answered():
            waited = monotonic() - job.asked_at
            job.seconds += waited
            assert job.target is not None
            if addresses is None:
                late = f"{job.target.host}: its name could not be looked up within {waited:.1f} seconds"
                self._end(job, error=TimedOut(late))
            else:
                self._connect(job, job.target, route, addresses)

    def _connect(self, job: Job[K], target: Target, route: Route, addresses: Addresses) -> None:
        try:
            news = self._news(target, route, addresses)
        except FetchError as error:
            self._end(job, error=error)
            return
        transfer = self._free.pop() if self._free else self._new_transfer()
        order = Order(
            target=target,
            headers=(("Host", target.authority), *self._common, *(() if job.hops else job.conditions)),
            way=route.way,
            rule=route.rule,
            addresses=news,
            timeout=max(0.001, self._settings.timeout - job.seconds),
            max_bytes=job.max_bytes,
            cut_at=job.cut_at,
        )
        transfer.prepare(order)
        self._busy[transfer.curl] = (transfer, job)
        self._multi.add_handle(transfer.curl)

    def _news(self, target: Target, route: Route, addresses: Addresses) -> Addresses:
        """The addresses that may be connected; none when libcurl has been told of them, and so remembers them."""
        place = (route.name, route.rule.port if route.rule is not None else target.port)
        if not route.name or self._told.get(place) is addresses:
            return ()
        admitted = self._router.admitted(target, addresses)
        if len(self._told) >= _TOLD:
            self._told.clear()
        self._told[place] = addresses
        return admitted

    def _new_transfer(self) -> Transfer:
        return Transfer(self._settings, self._router.guard, spool=self._spool)

    def _collect(self) -> None:
        queued = 1
        while queued:
            queued, done, failed = self._multi.info_read()
            for curl in done:
                self._conclude(curl, pycurl.E_OK, "")
            for curl, code, message in failed:
                self._conclude(curl, code, message)

    def _conclude(self, curl: Any, code: int, message: str) -> None:
        transfer, job = self._busy.pop(curl)
        job.seconds += transfer.seconds()
        try:
            answer = transfer.conclude(code, message)
        except FetchError as error:
            self._release(transfer)
            self._end(job, error=error)
            return
        except DiskFull as error:
            self._release(transfer)
            self._disk_full = error
            return
        self._release(transfer)
        assert job.target is not None
        onward = redirect_target(job.target.url, answer) if job.follow else ""
        if onward:
            answer.body.close()
            self._follow(job, onward)
        else:
            self._end(job, answer=answer)

    def _follow(self, job: Job[K], url: str) -> None:
        job.hops += 1
        if job.hops > MAX_FOLLOWED:
            self._end(job, error=RedirectLoop(f"{job.url} redirects more than {MAX_FOLLOWED} times"))
        else:
            self._request(job, url)

    def _release(self, transfer: Transfer) -> None:
        self._multi.remove_handle(transfer.curl)
        if len(self._free) < self._settings.connections:
            self._free.append(transfer)
        else:
            transfer.close()

    def _end(self, job: Job[K], *, answer: Answer | None = None, error: FetchError | None = None) -> None:
        if error is not None:
            # The frames that it was raised in would keep handles and buffers alive for as long as the visit.
            error.__traceback__ = error.__context__ = error.__cause__ = None
        visit = Visit(url=job.url, started_at=job.started_at, seconds=job.seconds, answer=answer, error=error)
        self._ready.append((job.key, visit))


def _close_body(visit: Visit) -> None:
    if visit.answer is not None:
        visit.answer.body.close()


def _is_sendable(value: str) -> bool:
    """Whether a value that a server once sent may go back to it in one header line."""
    return bool(value) and value.isprintable() and all(ord(character) < 256 for character in value)


def _checked_agent(agent: str) -> str:
    if not agent.strip() or not agent.isascii() or not agent.isprintable():
        raise SettingsError("fetch.user_agent: it must be one line of plain ASCII letters, digits and signs")
    return agent.strip()

"""The fetcher: visits many URLs at once, in the one thread that polls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

import pycurl

from rehi.errors import DiskFull, FetchError, RedirectLoop, SettingsError, TimedOut
from rehi.fetch.coding import find_decoders
from rehi.fetch.dns import Addresses, DnsResolver
from rehi.fetch.poller import CurlPoller
from rehi.fetch.route import Route, Router
from rehi.fetch.target import Target, parse_target, redirect_target
from rehi.fetch.transfer import Transfer, TransferRequest
from rehi.model.visit import Answer, Headers, Visit
from rehi.settings import FetchSettings

MAX_FOLLOWED = 5  # RFC 9309 asks for at least five for robots.txt
_MOST_KNOWN = 10_000  # hosts whose addresses libcurl knows
FILES_PER_VISIT = 4  # the socket, its copy while it is opened, a spooled body, and a connection kept for the next
K = TypeVar("K")


@dataclass(slots=True, kw_only=True, eq=False)
class FetchJob(Generic[K]):
    """A visit that was submitted: what was asked for, and how far it has come."""

    key: K
    url: str
    started_at: datetime
    conditions: Headers
    follow: bool
    max_bytes: int
    cut_at: int | None
    seconds: float = 0.0  # spent on the requests that have ended
    hops: int = 0
    target: Target | None = None  # what is being requested now
    lookup_at: float = 0.0  # on the monotonic clock, when the DNS lookup of its host was requested


class Fetcher(Generic[K]):
    """Visits URLs, each submitted under a key of the caller's choosing, and hands the visits back as they end.

    All methods but ``wakeup`` belong to one thread. The fetcher itself never waits between two requests: politeness
    is the caller's.
    """

    def __init__(self, settings: FetchSettings, *, clock: Callable[[], datetime], spool: Path | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._spool = spool
        self._router = Router(settings)
        self._common: Headers = (
            ("User-Agent", _checked_agent(settings.user_agent)),
            ("Accept", "*/*"),
            ("Accept-Encoding", ", ".join(find_decoders())),
        )
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, settings.connections)
        self._poller = CurlPoller(self._multi)
        # A lookup may keep its thread for longer than anybody waits for it.
        self._resolver: DnsResolver[tuple[FetchJob[K], Route]] = DnsResolver(
            threads=2 * settings.connections, wake=self._poller.wake
        )
        self._known_to_curl: dict[tuple[str, int], Addresses] = {}  # by host name and port
        self._busy: dict[Any, tuple[Transfer, FetchJob[K]]] = {}
        self._free: list[Transfer] = []
        self._ready: list[tuple[K, Visit]] = []
        self.in_flight = 0  # visits that were submitted and not yet handed back
        self._disk_full: DiskFull | None = None
        self._woken = False
        self._closed = False

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
        """Begin a visit. A URL that may not be visited raises nothing here: its visit ends with that error.

        With ``follow``, redirects are followed. A body longer than ``max_bytes`` is TooLarge. Of a body longer than
        ``cut_at``, only that many bytes are fetched.
        """
        conditions = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
        job = FetchJob(
            key=key,
            url=url,
            started_at=self._clock(),
            conditions=tuple((name, value) for name, value in conditions if value and _is_sendable(value)),
            follow=follow,
            max_bytes=self._settings.max_bytes if max_bytes is None else max_bytes,
            cut_at=cut_at,
        )
        self.in_flight += 1
        self._start(job, url)

    def poll(self, timeout: float) -> list[tuple[K, Visit]]:
        """Return the visits that have ended; wait at most ``timeout`` seconds for one, or until ``wakeup``.

        The caller closes the bodies. DiskFull is raised when a body could not be spooled.
        """
        end = monotonic() + timeout
        while True:
            wait = 0.0 if self._ready else max(0.0, end - monotonic())
            if self._resolver.waiting:
                wait = min(wait, self._resolver.seconds_to_timeout())
            self._poller.poll(wait)
            if self._resolver.waiting:
                self._connect_looked_up()
            queued = 1
            while queued:
                queued, done, failed = self._multi.info_read()
                for curl, code, message in (*((curl, pycurl.E_OK, "") for curl in done), *failed):
                    self._finish(curl, code, message)
            if self._disk_full is not None:
                error, self._disk_full = self._disk_full, None
                raise error
            if self._ready or self._woken or monotonic() >= end:
                self._woken = False
                ready, self._ready = self._ready, []
                self.in_flight -= len(ready)
                return ready

    def wakeup(self) -> None:
        """Make a waiting ``poll`` return; may be called from any thread."""
        self._woken = True
        self._poller.wake()

    def abort(self, matches: Callable[[K], bool]) -> list[K]:
        """Break off the visits whose key matches, and return their keys; they are not handed back by ``poll``."""
        waiting = self._resolver.cancel(lambda waiter: matches(waiter[0].key))
        under_way = [curl for curl, (_, job) in self._busy.items() if matches(job.key)]
        keys = [job.key for job, _ in waiting]
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
        self.in_flight -= len(keys)
        return keys

    def close(self) -> None:
        """Break off all visits, and close the connections."""
        if self._closed:
            return
        self._closed = True
        self.abort(lambda _: True)
        for transfer in self._free:
            transfer.close()
        self._free = []
        self._resolver.close()
        self._multi.close()
        self._poller.close()

    def __enter__(self) -> Fetcher[K]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, job: FetchJob[K], url: str) -> None:
        try:
            job.target = parse_target(url)
            route = self._router.route_to(job.target)
        except FetchError as error:
            self._end(job, error=error)
            return
        addresses = self._resolver.cached(route.name) if route.name else ()
        if addresses is not None:
            self._connect(job, job.target, route, addresses)
            return
        job.lookup_at = monotonic()
        timeout = min(self._settings.connect_timeout, self._settings.timeout - job.seconds)
        self._resolver.request(route.name, (job, route), timeout=timeout)

    def _connect_looked_up(self) -> None:
        """Go on with the visits whose hosts have been looked up."""
        for (job, route), addresses in self._resolver.answered():
            waited = monotonic() - job.lookup_at
            job.seconds += waited
            assert job.target is not None
            if addresses is None:
                reason = f"{job.target.host}: its name could not be looked up within {waited:.1f} seconds"
                self._end(job, error=TimedOut(reason))
            else:
                self._connect(job, job.target, route, addresses)

    def _connect(self, job: FetchJob[K], target: Target, route: Route, addresses: Addresses) -> None:
        try:
            new_addresses = self._new_addresses(target, route, addresses)
        except FetchError as error:
            self._end(job, error=error)
            return
        transfer = self._free.pop() if self._free else Transfer(self._settings, self._router.guard, spool=self._spool)
        request = TransferRequest(
            target=target,
            headers=(("Host", target.authority), *self._common, *(() if job.hops else job.conditions)),
            options=route.options,
            rule=route.rule,
            addresses=new_addresses,
            timeout=max(0.001, self._settings.timeout - job.seconds),
            max_bytes=job.max_bytes,
            cut_at=job.cut_at,
        )
        transfer.prepare(request)
        self._busy[transfer.curl] = (transfer, job)
        self._multi.add_handle(transfer.curl)

    def _new_addresses(self, target: Target, route: Route, addresses: Addresses) -> Addresses:
        """Return the addresses that may be connected; none if libcurl knows them already."""
        key = (route.name, route.rule.port if route.rule is not None else target.port)
        if not route.name or self._known_to_curl.get(key) is addresses:
            return ()
        admitted = self._router.admitted(target, addresses)
        if len(self._known_to_curl) >= _MOST_KNOWN:
            self._known_to_curl.clear()
        self._known_to_curl[key] = addresses
        return admitted

    def _finish(self, curl: Any, code: int, message: str) -> None:
        transfer, job = self._busy.pop(curl)
        job.seconds += curl.getinfo(pycurl.TOTAL_TIME)
        try:
            answer = transfer.conclude(code, message)
        except FetchError as error:
            self._end(job, error=error)
            return
        except DiskFull as error:
            self._disk_full = error
            self.in_flight -= 1
            return
        finally:
            self._multi.remove_handle(curl)
            if len(self._free) < self._settings.connections:
                self._free.append(transfer)
            else:
                transfer.close()
        assert job.target is not None
        redirect = redirect_target(job.target.url, answer) if job.follow else ""
        if redirect:
            answer.body.close()
            self._follow(job, redirect)
        else:
            self._end(job, answer=answer)

    def _follow(self, job: FetchJob[K], url: str) -> None:
        job.hops += 1
        if job.hops > MAX_FOLLOWED:
            self._end(job, error=RedirectLoop(f"{job.url} redirects more than {MAX_FOLLOWED} times"))
        else:
            self._start(job, url)

    def _end(self, job: FetchJob[K], *, answer: Answer | None = None, error: FetchError | None = None) -> None:
        if error is not None:
            # The frames in which it was raised would keep handles and buffers alive for as long as the visit.
            error.__traceback__ = error.__context__ = error.__cause__ = None
        visit = Visit(url=job.url, started_at=job.started_at, seconds=job.seconds, answer=answer, error=error)
        self._ready.append((job.key, visit))


def _close_body(visit: Visit) -> None:
    if visit.answer is not None:
        visit.answer.body.close()


def _is_sendable(value: str) -> bool:
    """Whether a value that a server once sent can be sent back to it in a header."""
    return value.isprintable() and all(ord(character) < 256 for character in value)


def _checked_agent(agent: str) -> str:
    if not agent.strip() or not agent.isascii() or not agent.isprintable():
        raise SettingsError("fetch.user_agent: it must be one line of plain ASCII letters, digits and signs")
    return agent.strip()

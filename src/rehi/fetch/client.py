"""The fetcher: visits many URLs at once, driven by a loop in one thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

import pycurl

from rehi.errors import AddressDenied, DiskFull, FetchError, RedirectLoop, SettingsError
from rehi.fetch.coding import accepted_codings
from rehi.fetch.guard import Guard
from rehi.fetch.redirect import redirect_target
from rehi.fetch.resolve import Resolver
from rehi.fetch.target import parse_target
from rehi.fetch.transfer import Transfer
from rehi.fetch.watch import Watch
from rehi.model.visit import Answer, Headers, Visit
from rehi.settings import FetchSettings

MAX_FOLLOWED = 5  # RFC 9309 asks for at least five for robots.txt

K = TypeVar("K")


@dataclass(slots=True)
class _Job(Generic[K]):
    """A visit under way."""

    key: K
    url: str
    started_at: datetime
    conditions: Headers
    follow: bool
    max_bytes: int
    seconds: float = 0.0
    hops: int = 0
    at: str = ""  # the URL that is being requested now


class Fetcher(Generic[K]):
    """Takes URLs under a key of the caller's choosing, and hands back the visits in the order in which they end.

    All methods but ``wakeup`` belong to one thread. Nobody is visited faster or more often than ``submit`` is called:
    politeness is the caller's.
    """

    def __init__(self, settings: FetchSettings, *, clock: Callable[[], datetime], spool: Path | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._spool = spool
        self._guard = Guard(allow_private=settings.allow_private, ports=settings.ports)
        self._resolver = Resolver(settings.resolve)
        self._common: Headers = (
            ("User-Agent", _checked_agent(settings.user_agent)),
            ("Accept", "*/*"),
            ("Accept-Encoding", accepted_codings()),
        )
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, settings.connections)
        self._watch = Watch(self._multi)
        self._busy: dict[Any, tuple[Transfer, _Job[K]]] = {}
        self._free: list[Transfer] = []
        self._ready: list[tuple[K, Visit]] = []
        self._disk_full: DiskFull | None = None
        self._closed = False

    @property
    def in_flight(self) -> int:
        """Visits that were submitted and not yet handed back."""
        return len(self._busy) + len(self._ready)

    def submit(
        self,
        key: K,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        follow: bool = False,
        max_bytes: int | None = None,
    ) -> None:
        """Begin a visit. Nothing is raised for a URL that may not be visited: its visit ends with that error."""
        conditions = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
        job = _Job(
            key=key,
            url=url,
            started_at=self._clock(),
            conditions=tuple((name, value) for name, value in conditions if _is_sendable(value)),
            follow=follow,
            max_bytes=self._settings.max_bytes if max_bytes is None else max_bytes,
        )
        self._request(job, url)

    def poll(self, timeout: float) -> list[tuple[K, Visit]]:
        """The visits that have ended; waits at most ``timeout`` seconds for one, or until woken.

        The bodies are the caller's to close. DiskFull is raised when a body could not be spooled.
        """
        end = monotonic() + timeout
        while True:
            rung = self._watch.step(0.0 if self._ready else max(0.0, end - monotonic()))
            self._collect()
            if self._disk_full is not None:
                error, self._disk_full = self._disk_full, None
                raise error
            if self._ready or rung or monotonic() >= end:
                ready, self._ready = self._ready, []
                return ready

    def wakeup(self) -> None:
        """Make a waiting ``poll`` return; may be called from any thread."""
        self._watch.ring()

    def close(self) -> None:
        """Break off everything. Visits that are under way are forgotten."""
        if self._closed:
            return
        self._closed = True
        for transfer, _ in self._busy.values():
            self._multi.remove_handle(transfer.curl)
            transfer.close()
        for transfer in self._free:
            transfer.close()
        for _, visit in self._ready:
            if visit.answer is not None:
                visit.answer.body.close()
        self._busy, self._free, self._ready = {}, [], []
        self._multi.close()
        self._watch.close()

    def __enter__(self) -> Fetcher[K]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(self, job: _Job[K], url: str) -> None:
        try:
            target = parse_target(url)
            if not self._guard.admits_port(target.port):
                raise AddressDenied(f"{target.host}: port {target.port} is not among fetch.ports")
        except AddressDenied as error:
            self._end(job, error=error)
            return
        job.at = target.url
        transfer = self._free.pop() if self._free else Transfer(self._settings, self._guard, spool=self._spool)
        transfer.prepare(
            target,
            (("Host", target.authority), *self._common, *(() if job.hops else job.conditions)),
            rule=self._resolver.rule_for(target.host, target.port),
            timeout=max(0.001, self._settings.timeout - job.seconds),
            max_bytes=job.max_bytes,
        )
        self._busy[transfer.curl] = (transfer, job)
        self._multi.add_handle(transfer.curl)

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
        onward = redirect_target(job.at, answer) if job.follow else ""
        if onward:
            answer.body.close()
            self._follow(job, onward)
        else:
            self._end(job, answer=answer)

    def _follow(self, job: _Job[K], url: str) -> None:
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

    def _end(self, job: _Job[K], *, answer: Answer | None = None, error: FetchError | None = None) -> None:
        if error is not None:
            # The frames that it was raised in would keep handles and buffers alive for as long as the visit.
            error.__traceback__ = error.__context__ = error.__cause__ = None
        visit = Visit(url=job.url, started_at=job.started_at, seconds=job.seconds, answer=answer, error=error)
        self._ready.append((job.key, visit))


def _is_sendable(value: str) -> bool:
    """Whether a value that a server once sent may go back to it in one header line."""
    return bool(value) and value.isprintable() and all(ord(character) < 256 for character in value)


def _checked_agent(agent: str) -> str:
    if not agent.strip() or not agent.isascii() or not agent.isprintable():
        raise SettingsError("fetch.user_agent: it must be one line of plain ASCII letters, digits and signs")
    return agent.strip()

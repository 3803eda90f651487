"""The crawl log of the practice web, as Heritrix 3 would write it, with the right verdict on each line."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha1

from rehi.testing.world.clock import START
from rehi.testing.world.draw import Draw
from rehi.testing.world.hosts import Host, Redirect, Resource, Trap, WorldDocument
from rehi.testing.world.replies import Reply
from rehi.testing.world.traps import CLOSED, PIXEL

ACCEPTED = "accepted"
MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log, and what a reader must make of it."""

    raw: bytes  # with its line end
    verdict: str  # ACCEPTED, MALFORMED, or the reason of a rejection
    url: str = ""  # that must be visited


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogEntry:
    """The values of a line."""

    status: int
    url: str
    path: str = "L"
    via: str = "-"
    media_type: str = "text/html"
    size: int = 0
    digest: bytes = b""


class LogWriter:
    """Writes the log host by host; its times lead up to the start of the clock."""

    def __init__(self, seed: int, body_of: Callable[[WorldDocument], Reply]) -> None:
        self._draw = Draw("log", seed)
        self._body_of = body_of
        self._at = START - timedelta(hours=20)

    def write(self, hosts: list[Host]) -> Iterator[LogLine]:
        """Yield all lines of the log."""
        for host in hosts:
            yield from self._host(host)
        yield from self._closed()
        yield from self._odd(hosts[0])

    def _host(self, host: Host) -> Iterator[LogLine]:
        resources = list(host.resources.values())
        seed_url = resources[0].url
        yield self._accept(
            _LogEntry(status=1, url=f"dns:{host.name}", path="P", via=seed_url, media_type="text/dns", size=60)
        )
        robots = _LogEntry(
            status=host.robots_status, url=f"http://{host.name}/robots.txt", path="P", via=seed_url,
            media_type="text/plain", size=len(host.robots or b""),
        )  # fmt: skip
        yield self._accept(robots)
        for number, resource in enumerate(resources):
            path, via = ("-", "-") if number == 0 else ("L" * self._draw.number(1, 3), seed_url)
            yield self._accept(self._entry(resource, path, via))
            if number % 9 == 4:
                yield self._accept(self._entry(resource, "LR", seed_url))
        yield from self._assets(host, seed_url)

    def _entry(self, resource: Resource, path: str, via: str) -> _LogEntry:
        if isinstance(resource, Redirect):
            return _LogEntry(status=resource.status, url=resource.url, path=path, via=via)
        if isinstance(resource, Trap):
            size = len(resource.answer.body) if isinstance(resource.answer, Reply) else self._draw.number(100, 9999)
            return _LogEntry(
                status=resource.status, url=resource.url, path=path, via=via, media_type=resource.media_type, size=size
            )
        body = self._body_of(resource).body
        return _LogEntry(
            status=200,
            url=resource.url,
            path=path,
            via=via,
            media_type=resource.media_type,
            size=len(body),
            digest=body,
        )

    def _assets(self, host: Host, via: str) -> Iterator[LogLine]:
        rows = (
            ("/logo.png", "E", "image/png", 200, "type"),
            ("/style.css", "LE", "text/css", 200, "type"),
            ("/app.js", "E", "application/javascript", 200, "type"),
            ("/app.js/oletus", "LX", "text/html", 404, "speculative"),
            ("/kinnine", "L", "text/html", -9998, "status"),
        )
        for path, hops, media_type, status, verdict in rows:
            entry = _LogEntry(
                status=status, url=f"http://{host.name}{path}", path=hops, via=via, media_type=media_type, size=68
            )
            yield LogLine(self._line(entry), verdict)

    def _closed(self) -> Iterator[LogLine]:
        url = f"http://{CLOSED}/"
        yield self._accept(_LogEntry(status=1, url=f"dns:{CLOSED}", path="P", via=url, media_type="text/dns", size=60))
        yield LogLine(self._line(_LogEntry(status=-2, url=f"http://{CLOSED}/uudised", via=url)), "status")

    def _odd(self, host: Host) -> Iterator[LogLine]:
        base = f"http://{host.name}"
        rejected = (
            (_LogEntry(status=-6, url=f"{base}/domeenita"), "status"),
            (_LogEntry(status=-404, url=f"{base}/tyhi"), "status"),
            (_LogEntry(status=-5000, url=f"{base}/valjas"), "status"),
            (_LogEntry(status=1, url="dns:www.rehemaa.test", path="-", media_type="text/dns"), "dns"),
            (_LogEntry(status=226, url=f"ftp://{host.name}/fail.txt", media_type="text/plain"), "scheme"),
            (_LogEntry(status=200, url=f"{base}/robots.txt", media_type="text/plain"), "robots"),
            (_LogEntry(status=200, url=f"{base}/film.mp4", media_type="video/mp4", path="LLE"), "type"),
            (_LogEntry(status=200, url=f"{base}/kiri.woff2", media_type="font/woff2", path="LE"), "type"),
            (_LogEntry(status=200, url=f"{base}/otsi?q=a", path="LXL"), "speculative"),
        )
        for entry, verdict in rejected:
            yield LogLine(self._line(entry), verdict)
        yield LogLine(b"2026-03-01T12:00:00.000Z   200\n", MALFORMED)
        yield LogLine(b"\x00\xff\xfe midagi muud\n", MALFORMED)
        yield LogLine(b"java.lang.NullPointerException at org.archive\n", MALFORMED)

    def _accept(self, entry: _LogEntry) -> LogLine:
        return LogLine(self._line(entry), ACCEPTED, entry.via if "P" in entry.path else entry.url)

    def _line(self, entry: _LogEntry) -> bytes:
        self._at += timedelta(milliseconds=self._draw.number(3, 900))
        lasted = self._draw.number(2, 800)
        digest = base64.b32encode(sha1(entry.digest or PIXEL + entry.url.encode(), usedforsecurity=False).digest())
        ended = f"{self._at:%Y-%m-%dT%H:%M:%S}.{self._at.microsecond // 1000:03}Z"
        size = str(entry.size) if entry.size else "-"
        return (
            f"{ended} {entry.status:>5} {size:>10} {entry.url} {entry.path} {entry.via} {entry.media_type} "
            f"#{self._draw.number(1, 25):03} {_compact(self._at - timedelta(milliseconds=lasted))}+{lasted} "
            f"sha1:{digest.decode()} - -\n"
        ).encode()


def _compact(at: datetime) -> str:
    return f"{at:%Y%m%d%H%M%S}{at.microsecond // 1000:03}"

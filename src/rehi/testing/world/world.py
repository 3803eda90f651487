"""The practice web: a small web of its own whose every word is known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rehi.testing.world.clock import START, Clock
from rehi.testing.world.conducts import pauses
from rehi.testing.world.hosts import Access, Host, Redirect, Resource, Trap, WorldDocument, host_of, path_of
from rehi.testing.world.library import Library
from rehi.testing.world.log import ACCEPTED, LogLine, LogWriter
from rehi.testing.world.oddities import build_oddities
from rehi.testing.world.replies import Answer, Conduct, Reply
from rehi.testing.world.sites import PLANS, build_site
from rehi.testing.world.texts import Text, Truth
from rehi.testing.world.traps import CLOSED, PIXEL, build_traps

_SMALL_ASSETS = {
    "/logo.png": Reply(headers=(("Content-Type", "image/png"),), body=PIXEL),
    "/favicon.ico": Reply(headers=(("Content-Type", "image/png"),), body=PIXEL),
    "/style.css": Reply(headers=(("Content-Type", "text/css"),), body=b"body { font-family: serif }\n"),
    "/app.js": Reply(headers=(("Content-Type", "application/javascript"),), body=b"document.title += '';\n"),
}
_ACCESS_ERRORS = {Access.OPEN: ("ok",), Access.DENIED: ("robots-denied",), Access.DEFERRED: ("host-deferred",)}


class World:
    """All hosts, what they answer at any time, and the truth about it. The same seed gives the same bytes."""

    def __init__(self, seed: int = 1, *, small: bool = False, clock: Clock | None = None) -> None:
        self.seed = seed
        self.clock = clock or Clock()
        sites = [build_site(plan, seed, small=small) for plan in PLANS if plan.small or not small]
        hosts = [*sites, *build_oddities(seed, sites), *build_traps()]
        self.hosts: dict[str, Host] = {host.name: host for host in hosts}
        self._library = Library(seed, self.hosts)

    @property
    def host_names(self) -> tuple[str, ...]:
        """All hosts that answer."""
        return tuple(self.hosts)

    @property
    def documents(self) -> tuple[WorldDocument, ...]:
        """All documents that a polite visitor gets, copies included."""
        return tuple(d for host in self.hosts.values() for d in host.documents if d.access is Access.OPEN)

    @property
    def traps(self) -> tuple[Trap, ...]:
        """All addresses where something is wrong, redirects and robots.txt aside."""
        return tuple(found for found in self._resources() if isinstance(found, Trap))

    @property
    def redirects(self) -> tuple[Redirect, ...]:
        """All addresses that send visitors on."""
        return tuple(found for found in self._resources() if isinstance(found, Redirect))

    def urls(self) -> tuple[str, ...]:
        """Everything that the crawl log leads to, good and bad."""
        return (*(found.url for found in self._resources()), f"http://{CLOSED}/")

    def expect(self, url: str) -> tuple[str, ...]:
        """What may come of a visit: codes of ``rehi.errors``, or "ok"."""
        if host_of(url) == CLOSED:
            return ("connect-failed",)
        found = self._find(url)
        if isinstance(found, WorldDocument):
            return _ACCESS_ERRORS[found.access]
        return found.expect or ("ok",)

    def document(self, url: str) -> WorldDocument:
        """The document at a URL; KeyError if none is there."""
        found = self._find(url)
        if not isinstance(found, WorldDocument):
            raise KeyError(url)
        return found

    def text(self, url: str, at: datetime | None = None) -> Text:
        """A document's title, paragraphs and rows at a time; now, if none is given."""
        return self._library.text(self.document(url), at or self.clock.now())

    def truth(self, url: str, at: datetime | None = None) -> Truth:
        """Whom a document names at a time; now, if none is given."""
        return self._library.truth(self.document(url), at or self.clock.now())

    def body(self, url: str, at: datetime | None = None) -> bytes:
        """A document's bytes at a time; now, if none is given."""
        return self._library.reply(self.document(url), at or self.clock.now()).body

    def answer(self, host_name: str, target: str, at: datetime) -> Answer | None:
        """What a host says when it is asked for a path and query; None if there is no such host."""
        host = self.hosts.get(host_name)
        if host is None:
            return None
        if target == "/robots.txt":
            return Reply(
                status=host.robots_status, headers=(("Content-Type", "text/plain"),), body=host.robots or b"Ei ole.\n"
            )
        found = host.resources.get(target)
        if found is not None:
            return self._answer(found, at)
        if target in _SMALL_ASSETS:
            return _SMALL_ASSETS[target]
        return (host.otherwise(target) if host.otherwise else None) or _missing()

    def crawl_log(self) -> Iterator[bytes]:
        """A Heritrix 3 crawl log over everything, line by line."""
        return (line.raw for line in self.log_lines())

    def log_lines(self) -> Iterator[LogLine]:
        """The lines of the crawl log, each with what must come of it."""
        writer = LogWriter(self.seed, lambda document: self._library.reply(document, START))
        return writer.write(list(self.hosts.values()))

    def accepted(self) -> frozenset[str]:
        """The URLs that whoever reads the crawl log must visit."""
        return frozenset(line.url for line in self.log_lines() if line.verdict == ACCEPTED)

    def _answer(self, found: Resource, at: datetime) -> Answer:
        if isinstance(found, Trap):
            return found.answer
        if isinstance(found, Redirect):
            moved = (("Location", found.location),) if found.location else ()
            return Reply(status=found.status, headers=(("Content-Type", "text/html"), *moved), body=b"<p>Mujal.</p>\n")
        reply = self._library.reply(found, at)
        if not found.late:
            return reply
        return Conduct(lambda: pauses(reply.body, dict(reply.headers)["Content-Type"]))

    def _resources(self) -> Iterator[Resource]:
        for host in self.hosts.values():
            yield from host.resources.values()

    def _find(self, url: str) -> Resource:
        return self.hosts[host_of(url)].resources[path_of(url)]


def _missing() -> Reply:
    body = "<!doctype html><html lang=et><title>Viga 404</title><p>Seda lehte ei ole.</p></html>\n"
    return Reply(status=404, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body.encode())

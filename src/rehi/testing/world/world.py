"""The practice web: a small web whose documents and names are all known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rehi.testing.world.clock import START, WorldClock
from rehi.testing.world.hosts import Access, Host, Redirect, Resource, Trap, WorldDocument, host_of, path_of
from rehi.testing.world.library import Library
from rehi.testing.world.log import ACCEPTED, LogLine, LogWriter
from rehi.testing.world.misbehaviours import pauses
from rehi.testing.world.oddities import build_oddities
from rehi.testing.world.replies import Answer, Misbehaviour, Reply
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
    """All hosts of the practice web, what they answer at any time, and the names in it. The same seed gives the same bytes."""

    def __init__(self, seed: int = 1, *, small: bool = False, clock: WorldClock | None = None) -> None:
        self.seed = seed
        self.clock = clock or WorldClock()
        sites = [build_site(plan, seed, small=small) for plan in PLANS if plan.small or not small]
        hosts = [*sites, *build_oddities(seed, sites), *build_traps()]
        self.hosts: dict[str, Host] = {host.name: host for host in hosts}
        self._library = Library(seed, self.hosts)

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of all hosts that answer."""
        return tuple(self.hosts)

    @property
    def documents(self) -> tuple[WorldDocument, ...]:
        """All documents that robots.txt allows, copies included."""
        return tuple(d for host in self.hosts.values() for d in host.documents if d.access is Access.OPEN)

    @property
    def traps(self) -> tuple[Trap, ...]:
        """All URLs at which something goes wrong, without redirects and robots.txt."""
        return tuple(resource for resource in self._resources() if isinstance(resource, Trap))

    @property
    def redirects(self) -> tuple[Redirect, ...]:
        """All URLs that redirect."""
        return tuple(resource for resource in self._resources() if isinstance(resource, Redirect))

    def urls(self) -> tuple[str, ...]:
        """Return all URLs of the crawl log, good and bad ones."""
        return (*(resource.url for resource in self._resources()), f"http://{CLOSED}/")

    def expect(self, url: str) -> tuple[str, ...]:
        """Return the possible results of a visit: codes of ``rehi.errors``, or "ok"."""
        if host_of(url) == CLOSED:
            return ("connect-failed",)
        resource = self._find(url)
        if isinstance(resource, WorldDocument):
            return _ACCESS_ERRORS[resource.access]
        return resource.expect or ("ok",)

    def document(self, url: str) -> WorldDocument:
        """Return the document at a URL; KeyError if there is none."""
        resource = self._find(url)
        if not isinstance(resource, WorldDocument):
            raise KeyError(url)
        return resource

    def text(self, url: str, at: datetime | None = None) -> Text:
        """Return a document's title, paragraphs and rows at a time, now by default."""
        return self._library.text(self.document(url), at or self.clock.now())

    def truth(self, url: str, at: datetime | None = None) -> Truth:
        """Return the names in a document at a time, now by default."""
        return self._library.truth(self.document(url), at or self.clock.now())

    def body(self, url: str, at: datetime | None = None) -> bytes:
        """Return a document's bytes at a time, now by default."""
        return self._library.reply(self.document(url), at or self.clock.now()).body

    def answer(self, host_name: str, target: str, at: datetime) -> Answer | None:
        """Return what a host answers to a request for a path and query; None if there is no such host."""
        host = self.hosts.get(host_name)
        if host is None:
            return None
        if target == "/robots.txt":
            return Reply(
                status=host.robots_status, headers=(("Content-Type", "text/plain"),), body=host.robots or b"Ei ole.\n"
            )
        resource = host.resources.get(target)
        if resource is not None:
            return self._answer(resource, at)
        if target in _SMALL_ASSETS:
            return _SMALL_ASSETS[target]
        return (host.otherwise(target) if host.otherwise else None) or _missing()

    def crawl_log(self) -> Iterator[bytes]:
        """Return the lines of a Heritrix 3 crawl log of all URLs."""
        return (line.raw for line in self.log_lines())

    def log_lines(self) -> Iterator[LogLine]:
        """Return the lines of the crawl log, each with the right verdict on it."""
        writer = LogWriter(self.seed, lambda document: self._library.reply(document, START))
        return writer.write(list(self.hosts.values()))

    def accepted(self) -> frozenset[str]:
        """Return the URLs that a reader of the crawl log must visit."""
        return frozenset(line.url for line in self.log_lines() if line.verdict == ACCEPTED)

    def _answer(self, resource: Resource, at: datetime) -> Answer:
        if isinstance(resource, Trap):
            return resource.answer
        if isinstance(resource, Redirect):
            moved = (("Location", resource.location),) if resource.location else ()
            return Reply(
                status=resource.status, headers=(("Content-Type", "text/html"), *moved), body=b"<p>Mujal.</p>\n"
            )
        reply = self._library.reply(resource, at)
        if not resource.late:
            return reply
        return Misbehaviour(lambda: pauses(reply.body, dict(reply.headers)["Content-Type"]))

    def _resources(self) -> Iterator[Resource]:
        for host in self.hosts.values():
            yield from host.resources.values()

    def _find(self, url: str) -> Resource:
        return self.hosts[host_of(url)].resources[path_of(url)]


def _missing() -> Reply:
    body = "<!doctype html><html lang=et><title>Viga 404</title><p>Seda lehte ei ole.</p></html>\n"
    return Reply(status=404, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body.encode())

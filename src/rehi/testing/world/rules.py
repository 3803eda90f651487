"""The rules of a practice web: what holds of its sites, so that whoever reads a result can tell what is right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from rehi.testing.world.clock import START
from rehi.testing.world.hosts import DAY, HOUR, Access, Host, Redirect, Trap, Validators, WorldDocument, path_of
from rehi.testing.world.traps import CLOSED
from rehi.testing.world.world import World

_PERIODS = {HOUR: "change every hour", DAY: "change every day", None: "never change"}
_ACCESS = {Access.DENIED: "robots.txt forbids it", Access.DEFERRED: "robots.txt answers with an error"}
_VALIDATORS = {
    Validators.BOTH: "an ETag and Last-Modified",
    Validators.ETAG: "an ETag",
    Validators.MODIFIED: "Last-Modified",
    Validators.NONE: "nothing by which to ask whether something has changed",
}


class Subject(StrEnum):
    """What a rule is about."""

    CLOCK = "clock"
    CHANGES = "changes"
    ROBOTS = "robots.txt"
    HEADERS = "headers"
    COPIES = "copies"
    CHARSETS = "charsets"
    TYPES = "types"
    REDIRECTS = "redirects"
    MISSING = "missing"
    TRAPS = "traps"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRule:
    """Something that holds of sites of the practice web."""

    about: Subject
    where: str  # a host, a URL, or how many of what
    rule: str
    expect: tuple[str, ...] = ()  # the possible results of a visit: codes of errors, or "ok"


def list_rules(world: World) -> list[WorldRule]:
    """Return all rules of a practice web, in the order of what they are about."""
    hosts = list(world.hosts.values())
    return [
        *_clock(world),
        *_changes(world),
        *_robots(hosts),
        *_headers(hosts),
        *_copies(hosts),
        *_charsets(world),
        *_types(world),
        *_redirects(hosts),
        *_missing(hosts),
        *_traps(world),
    ]


def _clock(world: World) -> Iterator[WorldRule]:
    state = world.clock.state()
    pace = f"runs at {state.speed:g} seconds a second" if state.speed else "stands still"
    yield WorldRule(about=Subject.CLOCK, where="all sites", rule=f"begins at {START:%Y-%m-%d %H:%M} UTC and {pace}")


def _changes(world: World) -> Iterator[WorldRule]:
    periods: dict[int | None, list[WorldDocument]] = defaultdict(list)
    for document in world.documents:
        periods[document.period].append(document)
    for period, documents in sorted(periods.items(), key=lambda pair: pair[0] or DAY * 365):
        formats = Counter(str(document.format) for document in documents)
        named = ", ".join(f"{number} {name}" for name, number in formats.most_common())
        how = _PERIODS.get(period, f"change every {period} s")
        yield WorldRule(about=Subject.CHANGES, where=_documents(len(documents)), rule=f"{how} ({named})")


def _robots(hosts: Iterable[Host]) -> Iterator[WorldRule]:
    for host in hosts:
        if host.robots_status != 200:
            meaning = "everything may be visited" if host.robots_status < 500 else "nothing may be visited yet"
            yield _rule(Subject.ROBOTS, host.name, f"answers {host.robots_status}: {meaning}")
        for line in (host.robots or b"").splitlines():
            if line.lower().startswith(b"crawl-delay:"):
                yield _rule(
                    Subject.ROBOTS, host.name, f"asks for {line.decode().partition(':')[2].strip()} s between visits"
                )
        for access, count in Counter(document.access for document in host.documents).items():
            if access is not Access.OPEN:
                code = "robots-denied" if access is Access.DENIED else "host-deferred"
                yield _rule(Subject.ROBOTS, host.name, f"{_documents(count)}: {_ACCESS[access]}", (code,))


def _headers(hosts: Iterable[Host]) -> Iterator[WorldRule]:
    hosts = list(hosts)
    for validators, count in Counter(host.validators for host in hosts).most_common():
        yield _rule(Subject.HEADERS, f"{count} hosts", f"send {_VALIDATORS[validators]}")
    yield _rule(Subject.HEADERS, f"{sum(host.gzip for host in hosts)} hosts", "pack what they send, for who takes gzip")


def _copies(hosts: Iterable[Host]) -> Iterator[WorldRule]:
    for host in hosts:
        if count := sum(bool(document.copy_of) for document in host.documents):
            yield _rule(
                Subject.COPIES, host.name, f"{_documents(count)} with the bytes of other sites' documents", ("ok",)
            )


def _charsets(world: World) -> Iterator[WorldRule]:
    declared = Counter(f"{one.charset.name}, declared: {one.charset.declared}" for one in world.documents)
    for charset, count in declared.most_common():
        yield _rule(Subject.CHARSETS, _documents(count), charset)
    if garbled := sum(bool(one.charset.mojibake) for one in world.documents):
        yield _rule(Subject.CHARSETS, _documents(garbled), "their text was garbled before it was written (mojibake)")


def _types(world: World) -> Iterator[WorldRule]:
    for document in world.documents:
        if document.declared:
            yield _rule(
                Subject.TYPES, document.url, f"is {document.format.media_type}, and says {document.declared}", ("ok",)
            )


def _redirects(hosts: Iterable[Host]) -> Iterator[WorldRule]:
    alike: Counter[tuple[str, int]] = Counter()
    for host in hosts:
        for one in host.resources.values():
            if isinstance(one, Redirect) and path_of(one.url).startswith("/vana/"):
                alike[path_of(one.url), one.status] += 1
            elif isinstance(one, Redirect):
                yield _rule(
                    Subject.REDIRECTS, one.url, f"{one.status} to {one.location or 'nowhere'}", one.expect or ("ok",)
                )
    for (path, status), count in sorted(alike.items()):
        yield _rule(Subject.REDIRECTS, f"{count} hosts", f"{path} is {status} to one of their documents", ("ok",))


def _missing(hosts: Iterable[Host]) -> Iterator[WorldRule]:
    yield _rule(Subject.MISSING, "all hosts", "what is not there is 404", ("bad-status",))
    for host in hosts:
        answer = host.otherwise("/ei-ole") if host.otherwise else None
        if answer is not None:
            yield _rule(Subject.MISSING, host.name, "what is not there is an error page that says 200", ("soft-error",))
        elif host.otherwise:
            yield _rule(
                Subject.MISSING,
                host.name,
                "/r/ and a number redirects to the next number, without end",
                ("redirect-loop",),
            )


def _traps(world: World) -> Iterator[WorldRule]:
    yield _rule(Subject.TRAPS, f"http://{CLOSED}/", "nobody listens there", ("connect-failed",))
    for trap in world.traps:
        yield _rule(Subject.TRAPS, trap.url, _describe(trap), trap.expect)
    for document in world.documents:
        if document.late:
            yield _rule(Subject.TRAPS, document.url, "comes in pieces, with waits", ("ok",))


def _describe(trap: Trap) -> str:
    return trap.about.replace("-", " ")


def _rule(about: Subject, where: str, rule: str, expect: tuple[str, ...] = ()) -> WorldRule:
    return WorldRule(about=about, where=where, rule=rule, expect=expect)


def _documents(number: int) -> str:
    return f"{number} document" if number == 1 else f"{number} documents"

"""Robots: what our reader of robots.txt makes of Google's cases, the RFC's and real files, beside other libraries.

Libraries that are not installed are left out of the table.
"""

from __future__ import annotations

import importlib
import io
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from typing import Any

from eval.corpora import corpus_file, digest
from eval.report import floors, result, table
from eval.robots_cases import GOOGLE, RFC, Case
from rehi.fetch.robots import RobotRules, read_robots
from rehi.model.version import Digest
from rehi.model.visit import Answer, Visit

Allows = Callable[[str], bool]  # whether a URL may be visited
Read = Callable[[bytes, str], Allows]  # a file's bytes and an agent

FILES = "06-robots/crawler-commons+crawler-commons/src/test/resources/robots"
TARGET = "all cases right; no more than 10 µs for a URL and 1 s for 500 KiB"
MAX_MATCH, MAX_PARSE = 10.0, 1_000.0  # µs for a URL of an ordinary file, ms for 500 KiB
_NOW = datetime(2026, 1, 2, tzinfo=UTC)
_TOO_SLOW = 60.0  # ms for a URL: one that reads the file again for each is not asked about a large one


@dataclass(frozen=True, slots=True)
class RealFile:
    """A file of the corpus, an agent, and paths that it may visit or not."""

    name: str
    agent: str
    yes: str = ""
    no: str = ""

    def questions(self) -> Iterator[tuple[str, bool]]:
        """The URLs, each with its answer."""
        for paths, allowed in ((self.yes, True), (self.no, False)):
            yield from ((f"http://host.test{path}", allowed) for path in paths.split())


REAL = (
    RealFile("astore.amazon.com-robots.txt", "rehi", yes="/ /x"),
    RealFile("crawl-delay-group-merging.txt", "mybot", yes="/ /login/", no="/private/"),
    RealFile("crawl-delay-group-merging.txt", "yourbot", yes="/", no="/private/ /login/"),
    RealFile("directive-typos-robots.txt", "bot1", yes="/", no="/desallow/ /dissalow/"),
    RealFile("directive-typos-robots.txt", "bot2", no="/useragent/"),
    RealFile("directive-typos-robots.txt", "bot3", no="/useg-agent/"),
    RealFile("directive-typos-robots.txt", "bot4", no="/useragent-no-colon/"),
    RealFile("dos-line-endings.txt", "bot1", yes="/"),
    RealFile("extensions-group-merging.txt", "mybot", yes="/other", no="/private/ /login/"),
    RealFile("extensions-group-merging.txt", "yourbot", no="/private/ /login/"),
    RealFile("extensions-group-merging.txt", "rehi", yes="/llms.txt", no="/ /other"),
    RealFile("extension-robots.txt", "mybot", yes="/ /secret/", no="/private/"),
    RealFile("format-errors-robots.txt", "bot1", yes="/", no="/whitespace-before-colon/ /no-colon/"),
    RealFile("format-errors-robots.txt", "bot2", no="/no-colon-useragent/"),
    RealFile("format-errors-robots.txt", "bot3", yes="/whitespace-before-colon", no="/other"),
    RealFile("malformed-path.txt", "bot1", yes="/wiki/", no="/wiki/Wikipedia_talk:Mediation_Committee/"),
    RealFile("many-user-agents.txt", "wget", no="/"),
    RealFile("many-user-agents.txt", "rehi", yes="/", no="/bot-trap/"),
    RealFile("merge-rules.txt", "wget", yes="/foo/bar /ckh/bar", no="/tmp/bar"),  # noqa: S108
    RealFile("merge-rules.txt", "rehi", yes="/ckh/bar", no="/foo/bar /tmp/bar"),
    RealFile("precedence-of-rules.txt", "testy", yes="/ /foo/bar", no="/foo/blue /foo/ /foo/tar"),
    RealFile("precedence-of-rules.txt", "wget", yes="/foo /index.html", no="/other"),
    RealFile("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/", "/example/page/disallowed.gif"),
    RealFile("rfc9309-example-rule-group-merging.txt", "ExampleBot", yes="/qux", no="/foo /bar /baz"),
    RealFile("rfc9309-example-rule-group-merging.txt", "BazBot", yes="/foo /bar", no="/baz"),
    RealFile("rfc9309-example-rule-group-merging.txt", "rehi", yes="/baz", no="/foo /bar"),
    RealFile("rfc9309-example-simple-robots.txt", "foobot", yes="/example/page.html /example/allowed.gif", no="/ /a"),
    RealFile("rfc9309-example-simple-robots.txt", "barbot", yes="/a /a.gif", no="/example/page.html"),
    RealFile("rfc9309-example-simple-robots.txt", "quxbot", yes="/example/page.html /a.gif"),
    RealFile("rfc9309-example-simple-robots.txt", "rehi", yes="/publications/", no="/a.gif /example/"),
    RealFile("robots-with-utf8-bom.txt", "rehi", yes="/ok", no="/profile /x/output/print"),
    RealFile("robots-with-utf16le-bom.txt", "rehi", yes="/ok", no="/profile /x/output/print"),
    RealFile("robots-with-utf16be-bom.txt", "rehi", yes="/ok", no="/profile /x/output/print"),
    RealFile("twitter.com-robots.txt", "rehi", yes="/jack", no="/jack?x /jack/with_friends"),
    RealFile("wildcards.txt", "rehi", yes="/wishlist/universal1 /gp/music", no="/wishlist/x /a/gcrnsts /gp/cart"),
    RealFile("wildcards.txt", "EtaoSpider", no="/ /wishlist/universal1"),
    RealFile("www.flot.com-robots.txt", "rehi", yes="/", no="/img/"),
)


def _ours(data: bytes, agent: str) -> Allows:
    answer = Answer(
        status=200,
        reason="OK",
        http_version="1.1",
        request_headers=(),
        headers=(),
        address="",
        body=io.BytesIO(data),
        size=len(data),
        digest=Digest(""),
    )
    visit = Visit(url="http://host.test/robots.txt", started_at=_NOW, seconds=0.0, answer=answer)
    return RobotRules(read_robots(visit, _NOW), agent).allows


def _protego(data: bytes, agent: str) -> Allows:
    rules = importlib.import_module("protego").Protego.parse(data.decode("utf-8", "replace"))
    return lambda url: bool(rules.can_fetch(url, agent))


def _standard(data: bytes, agent: str) -> Allows:
    from urllib.robotparser import RobotFileParser

    rules = RobotFileParser()
    rules.parse(data.decode("utf-8", "replace").splitlines())
    return lambda url: rules.can_fetch(agent, url)


def _gpyrobotstxt(data: bytes, agent: str) -> Allows:
    matcher: Any = importlib.import_module("gpyrobotstxt.robots_cc").RobotsMatcher
    return lambda url: bool(matcher().one_agent_allowed_by_robots(data, agent, url))


def _robotspy(data: bytes, agent: str) -> Allows:
    rules: Any = importlib.import_module("robots.robotparser").RobotFileParser()
    rules.parse(data.decode("utf-8", "replace").splitlines())
    return lambda url: bool(rules.can_fetch(agent, url))


def _exclusion(data: bytes, agent: str) -> Allows:
    rules: Any = importlib.import_module("robotexclusionrulesparser").RobotExclusionRulesParser()
    rules.parse(data.decode("utf-8", "replace"))
    return lambda url: bool(rules.is_allowed(agent, url))


READERS: dict[str, tuple[str, Read]] = {  # by name: the module that must be there
    "rehi": ("rehi", _ours),
    "protego": ("protego", _protego),
    "gpyrobotstxt": ("gpyrobotstxt", _gpyrobotstxt),
    "robotspy": ("robots", _robotspy),
    "robotexclusionrulesparser": ("robotexclusionrulesparser", _exclusion),
    "standard library": ("urllib.robotparser", _standard),
}


def _right(read: Read, data: bytes, agent: str, url: str, allowed: bool) -> bool | None:
    """Whether the answer is right; None when there is none."""
    try:
        return read(data, agent)(url) == allowed
    except Exception:  # a library that falls is what we want to know of
        return None


def _score(read: Read, cases: tuple[Case, ...]) -> int:
    return sum(_right(read, case.text.encode(), case.agent, case.url, case.allowed) is True for case in cases)


def _score_real(read: Read) -> tuple[int, int]:
    """Answers that are right, and files on which it falls."""
    right, fell = 0, set()
    for real in REAL:
        data = corpus_file(f"{FILES}/{real.name}").read_bytes()
        for url, allowed in real.questions():
            got = _right(read, data, real.agent, url, allowed)
            right += got is True
            if got is None:
                fell.add(real.name)
    return right, len(fell)


def _ordinary() -> bytes:
    return corpus_file(f"{FILES}/wildcards.txt").read_bytes()


def _large() -> bytes:
    lines = ["User-agent: *"]
    lines += [f"Disallow: /a{at}/*/b{at}" if at % 10 == 0 else f"Disallow: /folder-{at}/page" for at in range(19_000)]
    return "\n".join(lines).encode()[: 500 * 1024]


def _times(read: Read) -> tuple[float, float, float]:
    """Milliseconds for 500 KiB, microseconds for an ordinary file, microseconds for a URL by it."""
    urls = [f"http://host.test/gp/item/{at}/page.html?ref={at}" for at in range(100)]
    ordinary, large = _ordinary(), _large()
    allows = read(ordinary, "rehi")
    match = min(_seconds(lambda: [allows(url) for url in urls]) for _ in range(5)) / len(urls)
    # Each file is a new one: that we know a file again must not count. One URL is asked about, as some read it then.
    small = min(_seconds(partial(_read_and_ask, read, b"# %d\n" % at + ordinary, urls[0])) for at in range(10))
    if match * 1e3 > _TOO_SLOW:
        return float("nan"), small * 1e6, match * 1e6
    return _seconds(partial(_read_and_ask, read, large, urls[0])) * 1e3, small * 1e6, match * 1e6


def _read_and_ask(read: Read, data: bytes, url: str) -> bool:
    return read(data, "rehi")(url)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def evaluate() -> bool:
    """Print the table and the result; whether all is as good as it should be."""
    questions = sum(1 for real in REAL for _ in real.questions())
    totals = {"google": len(GOOGLE), "rfc": len(RFC), "real": questions}
    rows: list[list[object]] = []
    scores: dict[str, dict[str, object]] = {}
    for name, (module, read) in READERS.items():
        if find_spec(module) is None:
            continue
        (real, fell), (large, ordinary, match) = _score_real(read), _times(read)
        got = {"google": _score(read, GOOGLE), "rfc": _score(read, RFC), "real": real}
        scores[name] = {**got, "fell": fell, "large_ms": large, "ordinary_us": ordinary, "match_us": match}
        shares = [f"{got[key]}/{total}" for key, total in totals.items()]
        rows.append([name, *shares, fell, f"{large:.1f}", f"{ordinary:.0f}", f"{match:.1f}"])
    header = ("library", "google", "rfc", "real files", "fell on", "ms/500 KiB", "µs/file", "µs/URL")
    print(table(header, rows))
    faults = _faults(scores["rehi"], totals)
    print(*(f"missed: {fault}" for fault in faults), sep="\n", end="\n" if faults else "")
    ours: dict[str, object] = {
        key: round(value, 2) if isinstance(value, float) else value for key, value in scores.pop("rehi").items()
    }
    peers = {name: {key: score[key] for key in totals} for name, score in scores.items()}
    settings = (
        f"the same cases for all, CPU time, each file read anew; peers that are installed: {', '.join(peers) or 'none'}"
    )
    ours |= {"of": totals}
    print(result("robots", target=TARGET, settings=settings, missed=faults, ours=ours, peers=peers, ratio=None))
    return not faults


def _faults(ours: dict[str, Any], totals: dict[str, int]) -> list[str]:
    floor = floors("robots").get("cases", {})
    faults = [
        f"{key}: {ours[key]} of {total}" for key, total in totals.items() if ours[key] < int(floor.get(key, total))
    ]
    names = sorted({real.name for real in REAL})
    if digest([corpus_file(f"{FILES}/{name}") for name in names]) != floor.get("sha256"):
        faults.append("the corpus is not the one that the floor was pinned with")
    if ours["match_us"] > MAX_MATCH or ours["large_ms"] > MAX_PARSE:
        faults.append(f"it takes {ours['match_us']:.1f} µs for a URL and {ours['large_ms']:.0f} ms for 500 KiB")
    return faults


__all__ = ["READERS", "REAL", "evaluate"]

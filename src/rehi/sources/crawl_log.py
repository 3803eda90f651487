"""A crawl log of Heritrix 1 or 3.

One line for each URI that was tried, in columns parted by spaces:

    timestamp  status  size  URI  discovery-path  referrer  type  #thread  fetched+duration  digest  source  notes  {…}

The discovery path spells the hops that led from a seed to the URI, a letter each, the last one for the URI itself:
L(ink), E(mbed), R(edirect), I(nferred), P(rerequisite: a host's DNS entry or robots.txt), X (a guess, such as a string
in a script that looks like a path). It is "-" for a seed.

- An X anywhere drops the line: what was only reached through a guess is one too.
- A P at the end means that the line itself is the prerequisite of another page. That page, the referrer, is taken in
  its place, and what the line says of the prerequisite doesn't count. A P further to the left is only history: the
  ``PL`` of a sitemap that robots.txt named is an ordinary link.

Of a file that was there the log claims its type, if that is none of pages.

The referrer of a prerequisite has to pass the same checks, as far as its URL alone tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar

from rehi.model.claims import NO_CLAIMS, Claims
from rehi.model.media import bare_name, may_be_page
from rehi.model.media_type import ARC_MAGIC
from rehi.model.source import Entry, Finding, Malformed, Rejected, Source
from rehi.sources.kind import NOT_AT_ALL, Discovered, Fetch, Recognition, SourceSample
from rehi.sources.lines import BOM, HEADER, LONG_LINE, MAX_LINE, discover_lines, pass_over, shorten
from rehi.sources.media import Promise, promise_of_type, promise_of_url
from rehi.sources.urls import decode_url, is_robots, is_visitable, normalise

T = TypeVar("T")

_SPECULATIVE = Rejected("speculative")
_NO_REFERRER = Rejected("no-referrer")
_DNS = Rejected("dns")
_SCHEME = Rejected("scheme")
_ROBOTS = Rejected("robots")
_STATUS = Rejected("status")
_TYPE = Rejected("type")

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_STAMPS = frozenset((b"0000-00-00T00:00:00.000Z", b"0000-00-00T00:00:00Z", b"0" * 17, b"0" * 14))
_PATH = re.compile(rb"-|(?:\d{1,9}\+)?[A-Z]+")  # Heritrix 3 writes long ones as "50+LLLE"
_THREAD = re.compile(rb"#\d{1,6}")
_STATUS_CODE = re.compile(rb"-?\d{1,9}")

_LONGEST = 500  # bytes of a discovery path or a type that are looked at

# Words rather than enums: to name a member of one costs 0.2 µs in Python 3.11, and a line names six.
Route = Literal["ordinary", "speculative", "prerequisite"]  # how a URI was found, by its discovery path
Answer = Literal["good", "http", "none"]  # "http" is an error or a redirect, "none" one of Heritrix's own codes
Columns = tuple[Answer, bytes, Route, bytes, bytes]  # answer, URI, route, referrer, type


class _Unclear(Exception):
    """A line that can't be understood; says why."""


class _Memory(dict[bytes, T]):
    """The meanings of words: a log repeats a few paths, statuses and types. With lru_cache a line took 0.3 µs more."""

    def __init__(self, meaning: Callable[[bytes], T]) -> None:
        self._meaning = meaning

    def __missing__(self, word: bytes) -> T:
        meaning = self._meaning(word)
        if len(self) < 4096:  # a log made to be hostile repeats nothing
            self[word] = meaning
        return meaning


def _route_of(path: bytes) -> Route | None:
    if not _PATH.fullmatch(path):
        return None
    if b"X" in path:
        return "speculative"
    return "prerequisite" if path.endswith(b"P") else "ordinary"


def _answer_of(status: bytes) -> Answer | None:
    if not _STATUS_CODE.fullmatch(status):
        return None
    code = int(status)
    if 200 <= code < 300:
        return "good"
    return "http" if 100 <= code < 600 else "none"


def _expectation_of(declared: bytes) -> tuple[Promise, Claims]:
    """Return what a type lets one expect, and what is claimed of a file: a page that comes in its place is a surprise."""
    text = declared.decode("ascii", "replace")
    promise = promise_of_type(text)
    is_file = promise == "text" and not may_be_page(text)
    return promise, Claims(media_type=bare_name(text)) if is_file else NO_CLAIMS


_routes = _Memory(_route_of)
_answers = _Memory(_answer_of)
_expectations = _Memory(_expectation_of)


class CrawlLog:
    """The kind of source that is a crawl log."""

    title = "crawl log"
    unit = "lines"

    def recognise(self, sample: SourceSample) -> Recognition:
        """Return how many of the first lines are a log's; a single one is enough, since nothing else looks like it.

        There is no media type for logs, so what lies at a URL is one only if a person says so.
        """
        logged = sum(is_crawl_log_line(line) for line in sample.lines) if sample.is_local else 0
        if not logged:
            return NOT_AT_ALL
        return Recognition(0.5 + 0.5 * logged / len(sample.lines), "a crawl log")

    def discover(self, source: Source, cursor: bytes, fetch: Fetch) -> Iterator[Discovered]:
        """Yield an entry for each line after those that the cursor counts."""
        return discover_lines(source, cursor, fetch, read_crawl_log)


KIND = CrawlLog()


def read_crawl_log(lines: Iterable[bytes], before: int = 0) -> Iterator[Entry]:
    """Yield an entry for each line; ``before`` is the number of lines that came before them."""
    for number, line in enumerate(lines, before + 1):
        try:
            yield _judge(_split(line))
        except _Unclear as unclear:
            if silent := pass_over(line):
                yield silent
            elif line.removeprefix(BOM).startswith(ARC_MAGIC):  # of an ARC file, with which some logs begin
                yield HEADER
            else:
                yield Malformed(number, shorten(line.removeprefix(BOM).strip()), str(unclear))


def is_crawl_log_line(line: bytes) -> bool:
    """Whether a line has the columns of a crawl log."""
    try:
        _split(line)
    except _Unclear:
        return False
    return True


def _split(line: bytes) -> Columns:
    """Return the columns that matter. Splitting takes a fifth of the time of a regular expression."""
    parts = line.split(None, 7)
    if len(parts) == 8 and parts[7][:1] == b"#" and len(line) <= MAX_LINE:
        stamp, status, _, uri, path, referrer, declared, _ = parts
        route = _routes[path[-_LONGEST:]]
        answer = _answers[status[:_LONGEST]]
        if route and answer and stamp.translate(_DIGITS) in _STAMPS:
            return answer, uri, route, referrer, declared
    return _split_around_spaces(line)


def _split_around_spaces(line: bytes) -> Columns:
    """Return the columns of a line with fewer of them, or with spaces where none should be, counted back from the thread."""
    if len(line) > MAX_LINE:
        raise _Unclear(LONG_LINE)
    parts = line.removeprefix(BOM).split()
    if len(parts) < 7:
        raise _Unclear("too few columns")
    if parts[0].translate(_DIGITS) not in _STAMPS:
        raise _Unclear("no timestamp in the first column")
    answer = _answers[parts[1][:_LONGEST]]
    if answer is None:
        raise _Unclear("no status in the second column")
    end = next((at for at in range(7, len(parts)) if _THREAD.fullmatch(parts[at])), 7)
    for at in range(end - 3, 3, -1):  # a type may be in pieces too: "text/html; charset=utf-8"
        route = _routes[parts[at][-_LONGEST:]]
        if route and (parts[at + 1] == b"-" or b":" in parts[at + 1]):
            return answer, b" ".join(parts[3:at]), route, parts[at + 1], b" ".join(parts[at + 2 : end])
    raise _Unclear("no discovery path in the fifth column")


def _judge(columns: Columns) -> Entry:
    answer, uri, route, referrer, declared = columns
    if route == "speculative":
        return _SPECULATIVE
    if route == "prerequisite":
        return _judge_referrer(referrer)
    if uri[:4] == b"dns:":
        return _DNS
    promise, claims = _expectations[declared[:_LONGEST]]
    if promise == "silent" and answer != "none" and uri[:4] == b"http" and uri[-11:] != b"/robots.txt":
        return _TYPE  # a third of a log are pictures, whose URLs need no normal form
    url = normalise(decode_url(uri))
    if url is None:
        raise _Unclear("no URL in the fourth column")
    if url[:4] != "http":
        return _SCHEME
    if url[-11:] == "/robots.txt" and is_robots(url):
        return _ROBOTS
    if answer == "none":
        return _STATUS
    if promise == "text" and answer == "good":
        return Finding(url, claims)
    return _TYPE if promise == "silent" or promise_of_url(url) == "silent" else Finding(url)


def _judge_referrer(referrer: bytes) -> Entry:
    if referrer[:4] == b"dns:":
        return _DNS
    url = normalise(decode_url(referrer))
    if url is None:
        return _NO_REFERRER
    if not is_visitable(url):
        return _SCHEME
    if is_robots(url):
        return _ROBOTS
    return _TYPE if promise_of_url(url) == "silent" else Finding(url)

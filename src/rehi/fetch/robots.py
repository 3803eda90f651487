"""robots.txt: what a host allows us to visit (RFC 9309)."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from rehi.errors import AddressDenied, RedirectLoop
from rehi.fetch.robots_rules import Matcher, find_group
from rehi.model.visit import Answer, Robots, Visit

PRODUCT = "rehi"  # the name by which a robots.txt addresses us
MAX_BYTES = 500 * 1024  # of a robots.txt; the rest is left, as RFC 9309 permits
UNREACHABLE_SECONDS = 30 * 86_400.0  # for which RFC 9309 has us wait for a robots.txt that can't be had
_CACHED_CHARACTERS = 32_768  # longer files are rare, and would fill the cache's memory
_PATH = re.compile(r"(?:[^/?;#]*?://|//)?[^/?;#]*([^#]*)")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?(iso-8859-\d+|windows-\d+|koi8-[ru]|big5|gbk|euc-jp)\b", re.IGNORECASE)
_MARKS = (  # byte order marks; the longer ones come first
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class RobotRules:
    """The rules of a robots.txt for one user agent."""

    def __init__(self, robots: Robots, product: str = PRODUCT, *, unreachable: float = UNREACHABLE_SECONDS) -> None:
        """``unreachable`` is for how many seconds nothing is visited when robots.txt can't be had.

        After that RFC 9309 lets us go by the copy that we have; if we have none, everything is allowed.
        """
        unavailable = _is_unavailable(robots.status)
        since = robots.failing_since
        expired = unavailable and since is not None and (robots.fetched_at - since).total_seconds() >= unreachable
        self.deferred = unavailable and not expired
        self.crawl_delay: float | None = None  # seconds that the host asks us to wait between two requests
        self.sitemaps: tuple[str, ...] = ()  # as they are written: some are relative to the origin
        self._text = _whole_lines(robots.text) if 200 <= robots.status < 300 or expired else ""
        self._product = product.lower()
        self._matcher: Matcher | None = None
        if self._text:
            parse = _parse_cached if len(self._text) <= _CACHED_CHARACTERS else _parse
            self._matcher, self.crawl_delay, self.sitemaps = parse(self._text, self._product)

    def allows(self, url: str) -> bool:
        """Whether a URL may be visited: robots.txt itself always, and nothing else on a deferred host."""
        match = _PATH.match(url)
        path = match[1] if match else ""
        path = path if path.startswith("/") else f"/{path}"
        if path.startswith("/robots.txt") and path[11:12] in ("", "?"):
            return True
        return not self.deferred if self._matcher is None else self._matcher.allows(path)

    @property
    def group_text(self) -> str:
        """The lines of the file that hold for this user agent."""
        return "\n".join(find_group(self._text, self._product)[0].lines)


def robots_url(origin: str) -> str:
    """Return the URL of an origin's robots.txt."""
    return f"{origin.rstrip('/')}/robots.txt"


def read_robots(visit: Visit, now: datetime, *, before: Robots | None = None) -> Robots:
    """Return what a visit to a robots.txt brought, given what was known ``before``. The answer's body is read and closed."""
    robots = _read(visit, now)
    if not _is_unavailable(robots.status):
        return robots
    if before is None:
        return replace(robots, failing_since=now)
    since = before.failing_since or before.fetched_at if _is_unavailable(before.status) else now
    return replace(robots, text=before.text, failing_since=since)


def _is_unavailable(status: int) -> bool:
    """Whether a robots.txt could not be fetched, so that nobody knows whether there is one."""
    return status in (0, 429) or status >= 500


def _read(visit: Visit, now: datetime) -> Robots:
    answer = visit.answer
    if answer is None:
        # RFC 9309: redirects without end count as if there were no robots.txt, and not as a host in trouble. What the
        # guard forbids must not defer the host either, or its pages would never be told apart from those of a host in trouble.
        status = 404 if isinstance(visit.error, RedirectLoop | AddressDenied) else 0
        return Robots(status=status, text="", fetched_at=now)
    with answer.body as body:
        data = body.read(MAX_BYTES) if 200 <= answer.status < 300 else b""
    text = _decode(data, answer).removeprefix("\ufeff").replace("\x00", "")
    return Robots(status=answer.status, text=_whole_lines(text, cut=len(data) == MAX_BYTES), fetched_at=now)


def _parse(text: str, product: str) -> tuple[Matcher, float | None, tuple[str, ...]]:
    group, sitemaps = find_group(text, product)
    return Matcher(group.rules), group.delay, sitemaps


_parse_cached = lru_cache(maxsize=256)(_parse)


def _decode(data: bytes, answer: Answer) -> str:
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(charset, "replace")
    nuls = data[:64].count(0)
    if nuls > len(data[:64]) // 4:  # UTF-16 without a mark: every other octet of ASCII is a NUL
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", "replace")
    data = data.removeprefix(b"\xef\xbb").removeprefix(b"\xef")  # a mark that was cut
    try:
        return data.decode()
    except UnicodeDecodeError:
        declared = _CHARSET.search(answer.header("Content-Type"))
        return "\n".join(_lines(data, declared[1] if declared else "cp1252"))


def _lines(data: bytes, charset: str) -> list[str]:
    """Return the lines of a file that is not all UTF-8.

    A line that isn't is given twice, percent-encoded and decoded, as URLs come in both spellings.
    """
    lines: list[str] = []
    for line in data.splitlines():
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            octets = re.sub(rb"[\x80-\xff]", lambda match: b"%%%02X" % match[0][0], line)
            lines += [octets.decode("ascii"), _decode_line(line, charset)]
    return lines


def _decode_line(line: bytes, charset: str) -> str:
    try:
        return line.decode(charset, "replace")
    except LookupError:
        return line.decode("cp1252", "replace")


def _whole_lines(text: str, *, cut: bool = False) -> str:
    """Return the whole lines within the size limit. Half a line may forbid everything: "Disallow: /" of "Disallow: /private"."""
    if not cut and len(text) <= MAX_BYTES:
        return text
    return text[: max(text.rfind("\n", 0, MAX_BYTES), text.rfind("\r", 0, MAX_BYTES)) + 1]

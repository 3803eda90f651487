"""A group: the lines of a robots.txt for one user agent (RFC 9309, 2.2.1), common misspellings included."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

MAX_LINE = 8 * 2083 - 1  # characters; where Google cuts a line too
MAX_SITEMAPS = 1_000
_LINE_END = re.compile(r"\r\n?|\n")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?|[.,]\d+")
_TOKEN = re.compile(r"[a-z_-]*")
_NAME = re.compile(r"[a-z0-9_.-]*")

# The spellings in use, the right one first. A longer word that begins so counts too, as it does for Google.
_AGENT = ("user-agent", "useragent", "user agent", "user_agent", "usser-agent", "useg-agent", "user-agnet")
_DISALLOW = (
    *("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow", "dissallaw"),
    *("disalllow", "disllow", "dsiallow"),
)
_ALLOW = ("allow", "alow", "alllow")
_DELAY = ("crawl-delay", "crawldelay", "crawl delay", "crawl_delay", "craw-delay")
_SITEMAP = ("sitemap", "site-map")
_KINDS = {word: words[0] for words in (_AGENT, _DISALLOW, _ALLOW, _DELAY, _SITEMAP) for word in words}
_INITIALS = frozenset(word[0] for word in _KINDS)


@dataclass(slots=True, eq=False)
class Group:
    """The rules of a robots.txt for one user agent."""

    rules: list[tuple[str, bool]] = field(default_factory=list)  # patterns as written, and whether they allow
    delay: float | None = None  # seconds; the longest Crawl-delay of the group
    lines: list[str] = field(default_factory=list)


def find_group(text: str, product: str) -> tuple[Group, tuple[str, ...]]:
    """Return the group for a product, or the one for everybody if none names it; and the sitemaps of the file."""
    reader = _Reader(product)
    for line in _LINE_END.split(text):
        kind, value = _parse_line(line)
        if kind == "user-agent":
            reader.agent(value)
        elif kind in ("allow", "disallow"):
            reader.rule(value, kind)
        elif kind == "crawl-delay":
            reader.delay(value)
        elif kind == "sitemap" and value and len(reader.sitemaps) < MAX_SITEMAPS:
            reader.sitemaps[value] = None
    return reader.named or reader.everybody, tuple(reader.sitemaps)


class _Reader:
    """The groups read so far, and those to which the next lines belong.

    Only rules end a list of user agents, other lines do not. A Crawl-delay is for the user agents right above it.
    """

    def __init__(self, product: str) -> None:
        self.everybody = Group()
        self.named: Group | None = None
        self.sitemaps: dict[str, None] = {}
        self._product = product
        self._rules_for: list[Group] = []
        self._delay_for: list[Group] = []
        self._after_rule = self._after_delay = False

    def agent(self, value: str) -> None:
        if self._after_rule:
            self._rules_for = []
        if self._after_rule or self._after_delay:
            self._delay_for = []
        self._after_rule = self._after_delay = False
        if _is_everybody(value):
            group = self.everybody
        elif _is_named(value, self._product):
            group = self.named = self.named or Group()
        else:
            return
        group.lines.append(f"User-agent: {value}")
        for groups in (self._rules_for, self._delay_for):
            if group not in groups:
                groups.append(group)

    def rule(self, value: str, kind: str) -> None:
        self._after_rule = True
        for group in self._rules_for:
            group.rules += _rules(value, kind == "allow")
            group.lines.append(f"{kind.capitalize()}: {value}")

    def delay(self, value: str) -> None:
        self._after_delay = True
        for group in self._delay_for:
            group.delay = _longest_delay(group.delay, value)
            group.lines.append(f"Crawl-delay: {value}")


def _parse_line(line: str) -> tuple[str, str]:
    """Return the kind of a line and its value; some people forget the colon."""
    bare = line[:MAX_LINE].partition("#")[0]
    key, colon, value = bare.partition(":")
    if not colon:
        words = bare.split()
        if len(words) != 2:
            return "", ""
        key, value = words
    key = key.strip().lower()
    kind = _KINDS.get(key)
    if kind is None and key[:1] in _INITIALS:
        kind = next((kind for word, kind in _KINDS.items() if key.startswith(word)), None)
    return kind or "", value.strip()


def _is_everybody(value: str) -> bool:
    return value[:1] == "*" and not value[1:2].strip()


def _is_named(value: str, product: str) -> bool:
    """Whether the value of a User-agent line names the product; a version may follow the name."""
    if not product or value[:1].lower() != product[0]:
        return False
    lowered = value.lower()
    return any(match is not None and match[0] == product for match in (_TOKEN.match(lowered), _NAME.match(lowered)))


def _rules(pattern: str, allow: bool) -> list[tuple[str, bool]]:
    """Return the rules of a line: one that allows a folder's index page allows the folder's own URL too."""
    folder, slash, page = pattern.rpartition("/")
    if allow and slash and page.startswith("index.htm"):
        return [(pattern, True), (f"{folder}/$", True)]
    return [(pattern, allow)]


def _longest_delay(known: float | None, value: str) -> float | None:
    match = _NUMBER.match(value)
    delay = float(match[0].replace(",", ".")) if match else math.inf
    return known if math.isinf(delay) else delay if known is None else max(known, delay)

"""The rules of a robots.txt: those for one user agent are found, and applied to paths (RFC 9309, 2.2).

The longest rule that fits decides, and Allow goes before Disallow of the same length. Where Google's parser and the RFC
read percent-encoding differently ("%7E" and "~" are one to the RFC and two to Google), a path must be allowed in both
readings: what is forbidden in one of them is not visited.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
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
MAX_WILD = 1_000  # patterns with stars in them; real files have a few hundred at most
MAX_PATH = 20_000  # of a path's characters are compared; a line of a robots.txt can be no longer
_STARS = re.compile(r"\*{2,}")
_PLAIN = re.compile(r"[!#&-)+-;=?-\]_a-z|~]*")  # characters that neither reading changes
_ODD = re.compile(r'%[0-9A-Fa-f]{2}|[\x00-\x20"<>^`{}\x7f]')
_ODDER = re.compile(r'%[0-9A-Fa-f]{2}|[\x00-\x20"<>^`{}\x7f$*]|[^\x00-\x7f]+')
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
Wild = tuple[int, str, tuple[str, ...], bool]  # rank, longest part, parts between the stars, whether it ends the path


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


@dataclass(slots=True)
class _Reader:
    """The groups read so far, and those to which the next lines belong.

    Only rules end a list of user agents, other lines do not. A Crawl-delay is for the user agents right above it.
    """

    _product: str
    everybody: Group = field(default_factory=Group)
    named: Group | None = None
    sitemaps: dict[str, None] = field(default_factory=dict)
    _rules_for: list[Group] = field(default_factory=list)
    _delay_for: list[Group] = field(default_factory=list)
    _after_rule: bool = False
    _after_delay: bool = False

    def agent(self, value: str) -> None:
        if self._after_rule:
            self._rules_for = []
        if self._after_rule or self._after_delay:
            self._delay_for = []
        self._after_rule = self._after_delay = False
        if value[:1] == "*" and not value[1:2].strip():
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
        folder, slash, page = value.rpartition("/")
        rules = [(value, kind == "allow")]
        if kind == "allow" and slash and page.startswith("index.htm"):  # the folder's own URL is allowed too
            rules.append((f"{folder}/$", True))
        for group in self._rules_for:
            group.rules += rules
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


def _is_named(value: str, product: str) -> bool:
    """Whether the value of a User-agent line names the product; a version may follow the name."""
    if not product or value[:1].lower() != product[0]:
        return False
    lowered = value.lower()
    return any(match is not None and match[0] == product for match in (_TOKEN.match(lowered), _NAME.match(lowered)))


def _longest_delay(known: float | None, value: str) -> float | None:
    match = _NUMBER.match(value)
    delay = float(match[0].replace(",", ".")) if match else math.inf
    return known if math.isinf(delay) else delay if known is None else max(known, delay)


class Matcher:
    """The rules of a robots.txt, which say of each path whether it is allowed."""

    def __init__(self, rules: Iterable[tuple[str, bool]]) -> None:
        """``rules`` are patterns as they were written, each with whether it allows."""
        distinct = list(dict.fromkeys((_STARS.sub("*", pattern), allow) for pattern, allow in rules))
        ascii_ = [(_BEYOND_ASCII.sub(lambda match: _encoded(match[0]), pattern), allow) for pattern, allow in distinct]
        self._as_written = _RuleSet(ascii_, _as_written)
        differ = any("%" in pattern or "$" in pattern[:-1] for pattern, _ in ascii_)
        self._as_meant = _RuleSet(distinct, _as_meant) if differ else self._as_written

    def allows(self, path: str) -> bool:
        """Whether a path, with its query, is allowed."""
        path = path[:MAX_PATH]
        if _PLAIN.fullmatch(path):
            allowed = self._as_written.allows(path)
            return allowed and (self._as_meant is self._as_written or self._as_meant.allows(path))
        return self._as_written.allows(_as_written(path)) and self._as_meant.allows(_as_meant(path))


class _RuleSet:
    """The rules in one reading of percent-encoding, ready to be looked up.

    A rule's rank is twice its length, and one more if it allows. Rules without stars are looked up, by each of their
    lengths; the others are tried, the longest first.
    """

    def __init__(self, rules: Iterable[tuple[str, bool]], escape: Callable[[str], str]) -> None:
        self._prefixes: dict[str, int] = {}
        self._wholes: dict[str, int] = {}
        wild: list[Wild] = []
        for pattern, allow in rules:
            ends = pattern.endswith("$")
            parts = tuple(escape(part) for part in pattern.removesuffix("$").split("*"))
            rank = 2 * (sum(map(len, parts)) + len(parts) - 1 + ends) + allow
            if rank < 2:  # an empty rule says nothing
                continue
            is_plain = len(parts) == 1 or (len(parts) == 2 and not parts[1])
            if not is_plain and len(wild) < MAX_WILD:
                wild.append((rank, max(parts, key=len), parts, ends))
            elif is_plain or not allow:  # too many patterns, made to cost time: such a rule is shortened to forbid more
                table = self._wholes if ends and len(parts) == 1 else self._prefixes
                table[parts[0]] = max(rank, table.get(parts[0], 0))
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})
        self._wild = sorted(wild, reverse=True)

    def allows(self, path: str) -> bool:
        best = self._wholes.get(path, 1)
        prefixes, size = self._prefixes, len(path)
        for length in self._lengths:
            if length > size:
                break
            rank = prefixes.get(path[:length], 0)
            if rank > best:
                best = rank
        for rank, longest, parts, ends in self._wild:
            if rank <= best:
                break
            if longest in path and _fits(path, parts, ends):
                best = rank
                break
        return best % 2 == 1


def _fits(path: str, parts: tuple[str, ...], ends: bool) -> bool:
    """Whether the parts stand in the path one after the other, the first at its start; each is searched for once only."""
    if not path.startswith(parts[0]):
        return False
    at = len(parts[0])
    for part in parts[1:-1]:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    if ends:
        return len(path) - len(parts[-1]) >= at and path.endswith(parts[-1])
    return path.find(parts[-1], at) >= 0


def _as_written(text: str) -> str:
    """Return a path as Google compares it: an encoded octet differs from the octet itself, small hexadecimal digits don't matter."""
    return _ODD.sub(lambda match: _encoded(match[0]) if len(match[0]) == 1 else match[0].upper(), text)


def _as_meant(text: str) -> str:
    """Return a path as the RFC compares it: percent-encoded where it must be, and nowhere else."""
    return _ODDER.sub(_normal, text)


def _normal(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] != "%":
        return _encoded(text)
    octet = int(text[1:], 16)
    return chr(octet) if octet in _UNRESERVED else text.upper()


def _encoded(text: str) -> str:
    return "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "replace"))

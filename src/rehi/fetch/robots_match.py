"""A matcher: the rules of a robots.txt applied to paths (RFC 9309, 2.2.2 and 2.2.3).

The longest rule that fits decides, and Allow goes before Disallow of the same length. Where Google's parser and the RFC
read percent-encoding differently ("%7E" and "~" are one to the RFC and two to Google), a path must be allowed in both
readings: what is forbidden in one of them is not visited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

MAX_WILD = 1_000  # patterns with stars in them; real files have a few hundred at most
MAX_PATH = 20_000  # of a path's characters are compared; a line of a robots.txt can be no longer
_STARS = re.compile(r"\*{2,}")
_PLAIN = re.compile(r"[!#&-)+-;=?-\]_a-z|~]*")  # characters that neither reading changes
_ODD = re.compile(r'%[0-9A-Fa-f]{2}|[\x00-\x20"<>^`{}\x7f]')
_ODDER = re.compile(r'%[0-9A-Fa-f]{2}|[\x00-\x20"<>^`{}\x7f$*]|[^\x00-\x7f]+')
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

Wild = tuple[int, str, tuple[str, ...], bool]  # rank, longest part, parts between the stars, whether it ends the path


class Matcher:
    """The rules of a robots.txt, which say of each path whether it is allowed."""

    def __init__(self, rules: Iterable[tuple[str, bool]]) -> None:
        """``rules`` are patterns as they were written, each with whether it allows."""
        distinct = list(dict.fromkeys((_STARS.sub("*", pattern), allow) for pattern, allow in rules))
        ascii_ = [(_escape_beyond_ascii(pattern), allow) for pattern, allow in distinct]
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
            if len(parts) == 1:
                _keep(self._wholes if ends else self._prefixes, parts[0], rank)
            elif len(parts) == 2 and not parts[1]:
                _keep(self._prefixes, parts[0], rank)
            elif len(wild) < MAX_WILD:
                wild.append((rank, max(parts, key=len), parts, ends))
            elif not allow:  # too many patterns, made to cost time: the rule is shortened, so that it forbids more
                _keep(self._prefixes, parts[0], rank)
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


def _keep(table: dict[str, int], text: str, rank: int) -> None:
    if table.get(text, 0) < rank:
        table[text] = rank


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


def _escape_beyond_ascii(text: str) -> str:
    return text if text.isascii() else re.sub(r"[^\x00-\x7f]+", lambda match: _encoded(match[0]), text)


def _encoded(text: str) -> str:
    return "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "replace"))

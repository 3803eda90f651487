"""Patterns: regular expressions of the simple kind, which take the same short time whatever they are and are tried on.

Letters, ``.``, ``\\d``, ``\\w``, classes as in ``[23]`` or ``[^a-z]``, each perhaps with ``*``, ``+`` or ``?`` behind it, and
``|`` between alternatives. No groups: a pattern comes from whoever asks, and the usual engines can be made to hang.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rehi.errors import SettingsError

LONGEST = 300  # characters of a pattern

_ITEM = re.compile(r"(?P<item>\\[\s\S]|\[\^?\]?[^\]]*\]|[^\\\[\](){}*+?|])(?P<times>[*+?]?)")
_PLAIN = re.compile(r"(?:\\[^A-Za-z0-9]|[^\\\[\](){}*+?|.^$])*")


@dataclass(frozen=True, slots=True)
class _Step:
    """A character that may come, perhaps not at all, perhaps again and again."""

    fits: Callable[[str], bool]
    may_miss: bool
    may_repeat: bool


class Pattern:
    """A pattern that a whole text has to match."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise SettingsError(f"a pattern may have {LONGEST} characters")
        self._ways = [_parse(way, text) for way in _alternatives(text)]

    def matches(self, text: str) -> bool:
        """Whether the whole text is as the pattern says."""
        return any(_match(way, text) for way in self._ways)


def _alternatives(text: str) -> list[str]:
    return re.split(r"(?<!\\)\|", text)


def _parse(way: str, whole: str) -> str | list[_Step]:
    way = way.removeprefix("^")
    if way.endswith("$") and not way.endswith("\\$"):
        way = way[:-1]
    if _PLAIN.fullmatch(way):
        return re.sub(r"\\(.)", r"\1", way)
    steps, place = [], 0
    while place < len(way):
        match = _ITEM.match(way, place)
        if match is None:
            raise SettingsError(
                f"the pattern {whole!r} can't be used from {way[place:][:20]!r} on; "
                "there are letters, ., \\d, \\w, [a-z], *, +, ? and |, and no groups"
            )
        steps.append(_Step(_test(match["item"]), match["times"] in ("*", "?"), match["times"] in ("*", "+")))
        place = match.end()
    return steps


def _test(item: str) -> Callable[[str], bool]:
    if item == ".":
        return lambda _: True
    if item.startswith("["):
        return _class(item)
    if len(item) == 2:
        letter = item[1]
        if letter in "dw":
            return str.isdecimal if letter == "d" else lambda one: one.isalnum() or one == "_"
        if letter.isalnum():
            raise SettingsError(f"{item} is not known in a pattern; there are \\d and \\w")
        return lambda one: one == letter
    return lambda one: one == item


def _class(item: str) -> Callable[[str], bool]:
    inside = item[1:-1]
    unless = inside.startswith("^")
    inside = inside.removeprefix("^")
    if not inside:
        raise SettingsError(f"{item} in a pattern is empty")
    ranges, place = [], 0
    while place < len(inside):
        if place + 2 < len(inside) and inside[place + 1] == "-":
            ranges.append((inside[place], inside[place + 2]))
            place += 3
        else:
            ranges.append((inside[place], inside[place]))
            place += 1
    return lambda one: any(low <= one <= high for low, high in ranges) != unless


def _match(way: str | list[_Step], text: str) -> bool:
    if isinstance(way, str):
        return way == text
    at = _onward({0}, way)
    for one in text:
        following = set()
        for place in at:
            if place < len(way) and way[place].fits(one):
                following.add(place + 1)
                if way[place].may_repeat:
                    following.add(place)
        at = _onward(following, way)
        if not at:
            return False
    return len(way) in at


def _onward(places: set[int], way: list[_Step]) -> set[int]:
    """The places with those that can be reached without a character."""
    reached = set(places)
    for place in places:
        while place < len(way) and way[place].may_miss:
            place += 1
            reached.add(place)
    return reached

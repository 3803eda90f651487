"""Markup: whether a tree of it would be so deep, wide or large that it costs time and memory out of all proportion."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

# The parser's time grows with the square of the depth: 0.7 s at this depth, 2 min at 100,000.
MAX_DEPTH = 4_000
MAX_TAGS = 100_000
# Formatting elements that are never ended stand in every block that follows, as copies: of 4,000 pairs "<p><b id=1>", 48 KB
# in all, the parser makes 8 million elements in 3.7 GB. So many take 90 MB.
MAX_COPIES = 200_000
_LONG_TAG = 5_000  # characters; one with too many attributes is twice as long
_MANY_ATTRIBUTES = re.compile(r"<[a-zA-Z](?:[^<>\s]*+\s++){5000}")  # possessive: runs of blanks would cost 2^n

_NESTING = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*+)[\s/>]")
# Elements without content, and those that the next of their kind ends: of these a thousand in a row are no depth.
_NEVER_DEEP = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "p",
        "li",
        "dt",
        "dd",
        "tr",
        "td",
        "th",
        "thead",
        "tbody",
        "tfoot",
        "option",
        "optgroup",
        "rp",
        "rt",
        "colgroup",
        "caption",
        "html",
        "head",
        "body",
    ]
)
_FORMATTING = frozenset(
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
)
_FORMATTING_START = re.compile(rf"<(?:{'|'.join(sorted(_FORMATTING))})[\s/>]", re.IGNORECASE)
_ONCE = frozenset({"a", "nobr"})  # the next of their kind ends them
_MOST_ALIKE = 3  # formatting elements with the same attributes that are copied
_INLINE = frozenset(
    ["span", "img", "br", "input", "wbr", "label", "abbr", "cite", "q", "sub", "sup", "var", "time"]
)  # they end no formatting
_CELLS = frozenset({"td", "th", "caption"})  # formatting does not reach into them or out of them
_IN_TABLES = _CELLS | {"table", "tr", "tbody", "thead", "tfoot"}


def is_beyond_trees(text: str) -> bool:
    """Whether a tree of this markup would cost out of all proportion."""
    tags = text.count("<")
    return (
        tags > MAX_TAGS
        or (_has_long_tags(text) and _MANY_ATTRIBUTES.search(text) is not None)
        or (tags > MAX_DEPTH and _is_deep(text))
        or _has_many_copies(text, tags)
    )


def _has_long_tags(text: str) -> bool:
    """Whether there are so many characters in a row without the start of a tag; a few glances tell."""
    start = 0
    while start + _LONG_TAG <= len(text):
        start = text.rfind("<", start, start + _LONG_TAG) + 1
        if not start:
            return True
    return False


def _is_deep(text: str) -> bool:
    depth, open_elements = 0, Counter[str]()
    for tag in _NESTING.finditer(text):
        name = tag[2].lower()
        if name in _NEVER_DEEP:
            continue
        if not tag[1]:
            open_elements[name] += 1
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif open_elements[name]:  # any other end tag ends nothing
            open_elements[name] -= 1
            depth -= 1
    return False


class _Formatting:
    """The formatting elements that are open in a cell, or outside of all cells."""

    def __init__(self) -> None:
        self.count = 0
        self._tags: dict[str, list[str]] = defaultdict(list)  # by name
        self._alike: Counter[str] = Counter()

    def start(self, name: str, tag: str) -> None:
        if name in _ONCE:
            self.end(name)
        if self._alike[tag] < _MOST_ALIKE:
            self._alike[tag] += 1
            self._tags[name].append(tag)
            self.count += 1

    def end(self, name: str) -> None:
        if self._tags[name]:
            self._alike[self._tags[name].pop()] -= 1
            self.count -= 1


def _has_many_copies(text: str, tags: int) -> bool:
    """Whether the parser would make too many copies of formatting elements, by an estimate that is rather too high."""
    if tags * tags <= 4 * MAX_COPIES:  # even if half of them were formatting, and the others blocks
        return False
    starts = len(_FORMATTING_START.findall(text))
    return starts * (tags - starts) > MAX_COPIES and _count_copies(text) > MAX_COPIES


def _count_copies(text: str) -> int:
    cells, tables, copies = (
        [_Formatting()],
        [0],
        0,
    )  # what is open in each cell, and the number of cells around each table
    for tag in _NESTING.finditer(text):
        name, is_end = tag[2].lower(), bool(tag[1])
        if name in _FORMATTING:
            if is_end:
                cells[-1].end(name)
            else:
                most = tag.start() + _LONG_TAG
                end = text.find(">", tag.end() - 1, most)
                cells[-1].start(name, text[tag.start() : most if end < 0 else end])
            continue
        if name not in _INLINE:
            copies += cells[-1].count
            if copies > MAX_COPIES:
                break
        if name == "table" and not is_end:
            tables.append(len(cells))
        elif name in _IN_TABLES and len(tables) > 1:
            del cells[tables[-1] :]
            if name == "table":
                tables.pop()
            elif name in _CELLS and not is_end:
                cells.append(_Formatting())
    return copies

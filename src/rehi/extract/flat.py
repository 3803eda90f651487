"""Flat reading: the words of a page that is too deep or too wide to build a tree of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

# The parser's and the extractor's time grow with the square of these: 0.7 s at this depth, 2 min at 100,000;
# 2 s at this many tags, 22 s at four times as many.
MAX_DEPTH = 4_000
MAX_TAGS = 100_000

_NESTING = re.compile(
    r"<(/?)(?:div|span|ul|ol|dl|table|section|article|blockquote|center|form|nav|main)\b", re.IGNORECASE
)
_LONG_TAG = 5_000  # characters; one with too many attributes is twice as long
_MANY_ATTRIBUTES = re.compile(r"<[a-zA-Z](?:[^<>\s]*+\s++){5000}")  # possessive: runs of blanks would cost 2^n
_NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]*")
_ROW_START = re.compile(r"\n[;\s]*")
_INLINE = re.compile(r"a|abbr|b|big|cite|code|em|font|i|mark|q|s|small|span|strong|su[bp]|td|th|time|u|var|wbr")
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "title"})


def is_beyond_trees(text: str) -> bool:
    """Whether a tree of this markup would cost out of all proportion."""
    tags = text.count("<")
    return (
        tags > MAX_TAGS
        or (_has_long_tags(text) and _MANY_ATTRIBUTES.search(text) is not None)
        or (tags > MAX_DEPTH and _is_deep(text))
    )


def flat_text(text: str) -> str:
    """Return all words outside scripts and styles, with line breaks for blocks and signs between cells, in one pass."""
    return _ROW_START.sub("\n", unescape("".join(_pieces(text))))


def flat_title(text: str) -> str:
    """Return what stands in the title element."""
    _, _, rest = text[:100_000].partition("<title")
    return unescape(rest.partition(">")[2].partition("<")[0])


def _pieces(text: str) -> Iterator[str]:
    silent = ""
    first, *rest = text.split("<")
    yield first
    for piece in rest:
        tag = _NAME.match(piece)
        name = tag[0].lower() if tag else ""
        if silent:
            if name != "/" + silent:
                continue
            silent = ""
        elif name in _SILENT:
            silent = name
            continue
        yield _mark(name) + (piece.partition(">")[2] if name or piece[:1] in "!?/" else "<" + piece)


def _mark(name: str) -> str:
    if name in {"td", "th"}:
        return "; "
    return "" if not name or _INLINE.fullmatch(name.lstrip("/")) else "\n"


def _has_long_tags(text: str) -> bool:
    """Whether there are so many characters in a row without the start of a tag; a few glances tell."""
    start = 0
    while start + _LONG_TAG <= len(text):
        start = text.rfind("<", start, start + _LONG_TAG) + 1
        if not start:
            return True
    return False


def _is_deep(text: str) -> bool:
    depth = 0
    for tag in _NESTING.finditer(text):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False

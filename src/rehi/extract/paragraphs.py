"""Paragraphs: what belongs to one sentence stands on one line, and a blank line parts the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_BLANKS = re.compile(r"[ \t\xa0]+")
_ITEM = re.compile(r"(?:[-–—•*▪◦·]|\(?\d{1,3}[.)]|\(?[a-zõäöü]\))\s")
_AND = re.compile(r"(?:ja|ning|või|ega|and|or|und|oder|och|tai)\b")  # "põhi- ja lõunaosa" keeps its hyphen
_HYPHENS = "-\u2010\xad\x02\ufffe"  # the last two are how PDFium shows a hyphen that its line break made
_NARROW = 30  # characters; a page without longer lines is a list or a title
_WRAPPED = 100  # characters; where no line is longer, lines were broken to fit a page


def join_blocks(blocks: Iterable[str], limit: int) -> str:
    """Return the blocks that are not blank as one text, parted by blank lines, until ``limit`` characters are reached."""
    return "\n\n".join(_until(limit, blocks))


def part_lines(text: str) -> str:
    """Return a text with every line as a paragraph, for texts in which a line never breaks a sentence."""
    return "\n\n".join(filter(None, map(str.strip, text.split("\n"))))


def rejoin(text: str, *, wrapped: bool | None = None) -> str:
    """Join the lines of a text that were broken to fit a page; ``wrapped`` tells whether they were, None looks."""
    lines = [_BLANKS.sub(" ", line).strip() for line in text.split("\n")]
    if wrapped is None:
        wrapped = max(map(len, lines), default=0) <= _WRAPPED
    if not wrapped:
        return "\n\n".join(line for line in lines if line)
    return "\n\n".join(_paragraphs(lines, _full_width(lines)))


def _paragraphs(lines: Sequence[str], width: int) -> Iterator[str]:
    held: list[str] = []
    for line in lines:
        if held and (not line or _ends(held[-1], line, width)):
            yield "".join(held)
            held.clear()
        if line and held:
            held[-1] = _joint(held[-1], line)
        if line:
            held.append(line)
    if held:
        yield "".join(held)


def _full_width(lines: Sequence[str]) -> int:
    """Return how long a line gets that was broken because it was full."""
    lengths = sorted(len(line) for line in lines if line)
    return lengths[len(lengths) * 8 // 10] if lengths else 0


def _ends(line: str, following: str, width: int) -> bool:
    """Whether a paragraph ends with this line, by its length, its last sign and how the next one begins."""
    if _ITEM.match(following):
        return True
    if line[-1] in _HYPHENS or following[0].islower():
        return False
    if len(line) < width * 0.7 or width < _NARROW:
        return True
    return line[-1] in ".!?:;" and len(line) < width * 0.9


def _joint(line: str, following: str) -> str:
    """Return the line as it meets the next: a hyphenated word is one again, unless it is a name such as Kohtla-Järve."""
    if line[-1] not in _HYPHENS or len(line) < 2 or not line[-2].isalpha():
        return line + " "
    if _AND.match(following):
        return line[:-1] + "- "
    return line[:-1] if following[0].islower() else line[:-1] + "-"


def _until(limit: int, blocks: Iterable[str]) -> Iterator[str]:
    total = 0
    for block in blocks:
        if total >= limit:
            return
        if block := block.strip():
            total += len(block) + 2
            yield block

"""A word diff: the words that changed inside a line, and how similar two lines are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rehi.compare.sequence import Gap, align

ALIKE = 0.4  # of their words that two lines must share to count as one changed line
LONGEST = 4_000  # words of a line that are compared one by one
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_BUDGET = 40_000  # steps for one line


class LinePart(StrEnum):
    """In which version a piece of a changed line is: in both, in the old one or in the new one."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class LinePiece:
    """Some successive words of a changed line."""

    part: LinePart
    text: str


def mark_words(old: str, new: str) -> tuple[LinePiece, ...]:
    """Return the pieces of two lines in order: all but the added ones make the old line, all but the removed ones the new."""
    first, second = _WORD.findall(old), _WORD.findall(new)
    if len(first) > LONGEST or len(second) > LONGEST:
        return _pieces((LinePart.REMOVED, first), (LinePart.ADDED, second))
    runs: list[tuple[LinePart, Sequence[str]]] = []
    at = 0
    for gap in _joined(first, align(first, second, budget=_BUDGET).gaps()):
        runs.append((LinePart.SAME, first[at : gap.old.start]))
        runs.append((LinePart.REMOVED, first[gap.old.start : gap.old.stop]))
        runs.append((LinePart.ADDED, second[gap.new.start : gap.new.stop]))
        at = gap.old.stop
    return _pieces(*runs, (LinePart.SAME, first[at:]))


def _joined(words: Sequence[str], gaps: Iterable[Gap]) -> Iterator[Gap]:
    """Join gaps with only white space between them, so that "Katrin Paio" becomes "Mari Maasikas" in one piece, not word by word."""
    held: Gap | None = None
    for gap in gaps:
        if held and "".join(words[held.old.stop : gap.old.start]).isspace():
            held = Gap(range(held.old.start, gap.old.stop), range(held.new.start, gap.new.stop))
            continue
        if held:
            yield held
        held = gap
    if held:
        yield held


def _pieces(*runs: tuple[LinePart, Sequence[str]]) -> tuple[LinePiece, ...]:
    return tuple(LinePiece(part, "".join(words)) for part, words in runs if words)


def pair_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return which old line became which new one, in order; lines without a similar one are left out."""
    if len(old) * len(new) > 2_500:
        shared = range(min(len(old), len(new)))
        return [(at, at) for at in shared if _similarity(_word_counts(old[at]), _word_counts(new[at])) >= ALIKE]
    before, after = [_word_counts(line) for line in old], [_word_counts(line) for line in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_similarity(a, b) for b in after] for a in before]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= ALIKE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        if alike[i][j] >= ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _word_counts(line: str) -> Counter[str]:
    return Counter(line[: LONGEST * 8].casefold().split())


def _similarity(old: Counter[str], new: Counter[str]) -> float:
    total = old.total() + new.total()
    few, many = (old, new) if len(old) <= len(new) else (new, old)
    return 2 * sum(min(count, many[word]) for word, count in few.items()) / total if total else 1.0

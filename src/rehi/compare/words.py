"""Words: what changed inside a line, and how alike two lines are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rehi.compare.sequence import Gap, align

ALIKE = 0.4  # of their words that two lines share to be one line that changed
LONGEST = 4_000  # words of a line that are compared one by one
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_BUDGET = 40_000  # steps for one line


class Part(StrEnum):
    """Where a piece of a changed line stands."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a changed line."""

    part: Part
    text: str


def mark_words(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces of both lines in order: without the added ones they are the old line, without the removed the new."""
    first, second = _WORD.findall(old), _WORD.findall(new)
    if len(first) > LONGEST or len(second) > LONGEST:
        return _pieces((Part.REMOVED, first), (Part.ADDED, second))
    runs: list[tuple[Part, Sequence[str]]] = []
    at = 0
    for gap in _joined(first, align(first, second, budget=_BUDGET).gaps()):
        runs.append((Part.SAME, first[at : gap.old.start]))
        runs.append((Part.REMOVED, first[gap.old.start : gap.old.stop]))
        runs.append((Part.ADDED, second[gap.new.start : gap.new.stop]))
        at = gap.old.stop
    return _pieces(*runs, (Part.SAME, first[at:]))


def _joined(words: Sequence[str], gaps: Iterable[Gap]) -> Iterator[Gap]:
    """Gaps with nothing but a blank between them as one: "Katrin Paio" became "Mari Maasikas", not each word another."""
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


def _pieces(*runs: tuple[Part, Sequence[str]]) -> tuple[Piece, ...]:
    return tuple(Piece(part, "".join(words)) for part, words in runs if words)


def pair_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Which lines of a block became which, in order; those that are not alike stay alone."""
    if len(old) * len(new) > 2_500:
        both = range(min(len(old), len(new)))
        return [(at, at) for at in both if _likeness(_bag(old[at]), _bag(new[at])) >= ALIKE]
    before, after = [_bag(line) for line in old], [_bag(line) for line in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_likeness(a, b) for b in after] for a in before]
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


def _bag(line: str) -> Counter[str]:
    return Counter(line[: LONGEST * 8].casefold().split())


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    total = old.total() + new.total()
    few, many = (old, new) if len(old) <= len(new) else (new, old)
    return 2 * sum(min(count, many[word]) for word, count in few.items()) / total if total else 1.0

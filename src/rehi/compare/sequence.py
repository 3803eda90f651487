"""An alignment: which items of two sequences are the same, in order, at a cost that is bounded whatever they hold."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

BUDGET = 2_000_000  # steps beyond one pass; some 1.5 s
_MOST_EDITS = 1_500  # of one gap; the memory of the search grows with the square


@dataclass(frozen=True, slots=True)
class Match:
    """A run of items that both sequences have."""

    old: int
    new: int
    length: int


@dataclass(frozen=True, slots=True)
class Gap:
    """The items between two matches, as a range of each sequence; one of them may be empty."""

    old: range
    new: range


@dataclass(frozen=True, slots=True)
class Alignment:
    """The matches in order; coarse if the budget was spent before all of them were found."""

    matches: tuple[Match, ...]
    sizes: tuple[int, int]
    coarse: bool = False

    def gaps(self) -> Iterator[Gap]:
        """Return the parts that are not the same, in order."""
        old = new = 0
        for match in (*self.matches, Match(*self.sizes, 0)):
            if match.old > old or match.new > new:
                yield Gap(range(old, match.old), range(new, match.new))
            old, new = match.old + match.length, match.new + match.length


@dataclass(slots=True)
class _Search:
    """The work on two sequences: the matches so far, and the steps that are left of the budget."""

    old: list[int]
    new: list[int]
    left: int
    pairs: list[tuple[int, int, int]] = field(default_factory=list)
    coarse: bool = False


def align(old: Sequence[Hashable], new: Sequence[Hashable], *, budget: int = BUDGET) -> Alignment:
    """Return which items of two sequences match, within a budget of steps.

    First the items that occur once in each are matched, then the shortest edit script between them is looked for, then
    what is cheap to find.
    """
    numbers: dict[Hashable, int] = {}
    search = _Search(
        [numbers.setdefault(item, len(numbers)) for item in old],
        [numbers.setdefault(item, len(numbers)) for item in new],
        left=budget + len(old) + len(new),
    )
    regions = [(0, len(old), 0, len(new))]
    while regions:
        region = _trim(search, *regions.pop())
        if region[0] < region[1] and region[2] < region[3]:
            regions += _split(search, *region)
    return Alignment(tuple(_joined(sorted(search.pairs))), (len(old), len(new)), search.coarse)


def _trim(search: _Search, a: int, a_end: int, b: int, b_end: int) -> tuple[int, int, int, int]:
    """Note the matches at the beginning and the end of a region, and return the region between them."""
    old, new, start = search.old, search.new, a
    while a < a_end and b < b_end and old[a] == new[b]:
        a, b = a + 1, b + 1
    if a > start:
        search.pairs.append((start, b - (a - start), a - start))
    tail = a_end
    while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
    if tail > a_end:
        search.pairs.append((a_end, b_end, tail - a_end))
    return a, a_end, b, b_end


def _split(search: _Search, a: int, a_end: int, b: int, b_end: int) -> list[tuple[int, int, int, int]]:
    """Note the unique matches of a region, and return the regions between them.

    If it has none, note the matches of a shortest edit script instead, and return no region.
    """
    old, new = search.old[a:a_end], search.new[b:b_end]
    search.left -= len(old) + len(new)
    anchors = _longest_increasing(_unique_in_both(old, new)) if search.left > 0 else []
    if anchors:
        search.pairs += [(a + i, b + j, 1) for i, j in anchors]
        starts = [(a, b), *((a + i + 1, b + j + 1) for i, j in anchors)]
        ends = [*((a + i, b + j) for i, j in anchors), (a_end, b_end)]
        return [(p[0], q[0], p[1], q[1]) for p, q in zip(starts, ends, strict=True)]
    matches = _fewest_edits(search, old, new)
    if matches is None:
        search.coarse = True
        matches = _longest_increasing(_pair_by_occurrence(old, new))
    search.pairs += [(a + i, b + j, 1) for i, j in matches]
    return []


def _unique_in_both(old: list[int], new: list[int]) -> list[tuple[int, int]]:
    """Return the places of the items that occur once in each sequence."""
    in_old, in_new = Counter(old), Counter(new)
    place = {item: at for at, item in enumerate(old) if in_old[item] == 1}
    return [(place[item], at) for at, item in enumerate(new) if item in place and in_new[item] == 1]


def _pair_by_occurrence(old: list[int], new: list[int]) -> list[tuple[int, int]]:
    """Pair the first occurrence of each item with the first in the other sequence, the second with the second, and so on."""
    places: dict[int, list[int]] = {}
    for at, item in enumerate(old):
        places.setdefault(item, []).append(at)
    turns: Counter[int] = Counter()
    pairs = []
    for at, item in enumerate(new):
        old_places = places.get(item, ())
        if turns[item] < len(old_places):
            pairs.append((old_places[turns[item]], at))
            turns[item] += 1
    return pairs


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of the pairs, ordered by their second, whose first increases too."""
    tops: list[int] = []  # the smallest end of an increasing run of each length
    holders: list[int] = []
    before: list[int] = []
    for at, (first, _) in enumerate(pairs):
        length = bisect_left(tops, first)
        before.append(holders[length - 1] if length else -1)
        if length == len(tops):
            tops.append(first)
            holders.append(at)
        else:
            tops[length], holders[length] = first, at
    chosen, at = [], holders[-1] if holders else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def _fewest_edits(search: _Search, old: list[int], new: list[int]) -> list[tuple[int, int]] | None:
    """Return the matches of a shortest edit script (Myers, greedily forward); None if that would cost too much."""
    if not set(old) & set(new):
        return []
    n, m = len(old), len(new)
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(n + m, _MOST_EDITS) + 1):
        search.left -= edits + 1
        if search.left < 0:
            return None
        reached: dict[int, int] = {}
        for k in range(-edits + 2 * max(0, edits - m), edits - 2 * max(0, edits - n) + 1, 2):
            down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
            i = start = furthest.get(k + 1, 0) if down else furthest.get(k - 1, -1) + 1
            while i < n and 0 <= i - k < m and old[i] == new[i - k]:
                i += 1
            search.left -= i - start
            reached[k] = i
            if i >= n and i - k >= m:
                trail.append(reached)
                return _walk_back(trail, n, m)
        trail.append(reached)
        furthest = reached
    return None


def _walk_back(trail: list[dict[int, int]], i: int, j: int) -> list[tuple[int, int]]:
    """Return the diagonal steps of the edit path, followed back from its end."""
    matches = []
    for edits in range(len(trail) - 1, 0, -1):
        furthest, k = trail[edits - 1], i - j
        down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
        start = furthest.get(k + 1, 0) if down else furthest.get(k - 1, -1) + 1
        while i > start:
            i, j = i - 1, j - 1
            matches.append((i, j))
        i, j = (i, j - 1) if down else (i - 1, j)
    matches += [(i - step, j - step) for step in range(1, min(i, j) + 1)]
    return matches[::-1]


def _joined(pairs: Sequence[tuple[int, int, int]]) -> Iterator[Match]:
    """Join neighbouring matches."""
    held: tuple[int, int, int] | None = None
    for old, new, length in pairs:
        if held and (held[0] + held[2], held[1] + held[2]) == (old, new):
            held = (held[0], held[1], held[2] + length)
            continue
        if held:
            yield Match(*held)
        held = (old, new, length)
    if held:
        yield Match(*held)

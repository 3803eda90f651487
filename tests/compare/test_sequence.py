"""Alignments: matches that are matches, in order, and never at any price."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.compare import align

few = st.lists(st.integers(0, 4), max_size=25)
many = st.lists(st.integers(0, 30), max_size=40)


def matched(old: list[int], new: list[int], budget: int = 100_000) -> int:
    """How many items match, after all of the alignment was checked."""
    alignment = align(old, new, budget=budget)
    at_old = at_new = total = 0
    for match in alignment.matches:
        assert match.old >= at_old
        assert match.new >= at_new
        assert match.length > 0
        assert old[match.old : match.old + match.length] == new[match.new : match.new + match.length]
        at_old, at_new = match.old + match.length, match.new + match.length
        total += match.length
    left_old = [at for gap in alignment.gaps() for at in gap.old]
    left_new = [at for gap in alignment.gaps() for at in gap.new]
    assert len(left_old) == len(old) - total
    assert len(left_new) == len(new) - total
    return total


def longest_common(old: list[int], new: list[int]) -> int:
    row = [0] * (len(new) + 1)
    for item in old:
        before = row[:]
        for at, other in enumerate(new):
            row[at + 1] = before[at] + 1 if item == other else max(before[at + 1], row[at])
    return row[-1]


@given(few | many, few | many, st.sampled_from([0, 7, 60, 100_000]))
@settings(max_examples=150, deadline=None)
def test_what_matches_is_the_same_and_in_order_whatever_may_be_spent(
    old: list[int], new: list[int], budget: int
) -> None:
    assert matched(old, new, budget) <= longest_common(old, new)


@given(few)
@settings(max_examples=50, deadline=None)
def test_equal_sequences_match_as_a_whole(items: list[int]) -> None:
    assert matched(items, list(items)) == len(items)


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 30))
@settings(max_examples=80, deadline=None)
def test_one_item_taken_out_costs_one_match(items: list[int], at: int) -> None:
    if at < len(items):
        assert matched(items, items[:at] + items[at + 1 :]) == len(items) - 1


def test_repeated_items_are_matched_as_well_as_can_be() -> None:
    chance = random.Random(5)
    for _ in range(100):
        old, new = ([chance.randrange(2) for _ in range(chance.randrange(20))] for _ in range(2))
        unique_in_both = {item for item in (0, 1) if old.count(item) == new.count(item) == 1}
        if not unique_in_both:
            assert matched(old, new) == longest_common(old, new)


HOSTILE = {
    "two values": ([0, 1, 1, 0] * 10_000, [1, 0, 1, 1, 0] * 8_000),
    "backwards": (list(range(60_000)), list(range(60_000, 0, -1))),
    "chance": ([n * n % 1_009 for n in range(40_000)], [n * n * n % 1_009 for n in range(40_000)]),
    "one value": ([7] * 100_000, [7] * 50_000 + [8] + [7] * 50_000),
    "nothing alike": (list(range(0, 200_000, 2)), list(range(1, 200_000, 2))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sequences_are_aligned_within_seconds(name: str) -> None:
    began = time.process_time()
    old, new = HOSTILE[name]
    matched(old, new, budget=600_000)
    assert time.process_time() - began < 3


def test_a_coarse_alignment_says_so_and_still_finds_much() -> None:
    old = [n % 50 for n in range(20_000)]
    new = [n % 50 for n in range(20_000) if n % 7]
    alignment = align(old, new, budget=50_000)
    assert alignment.coarse
    assert sum(match.length for match in alignment.matches) > 1_000

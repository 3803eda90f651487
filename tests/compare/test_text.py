"""Texts: the changes make the new from the old, and a reader sees what happened."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.compare import (
    LineKind,
    LinePart,
    TextDiff,
    compare_texts,
    lay_out,
    mark_words,
    split_lines,
)

words = st.sampled_from(["vald", "linn", "Võru", "2026", "ja", "on", "suur", "<b>", "…"])
line = st.lists(words, min_size=1, max_size=6).map(" ".join)
lines = st.lists(line, max_size=15)


def apply_changes(old: Sequence[str], diff: TextDiff) -> list[str]:
    """The new lines."""
    lines: list[str] = []
    at = 0
    for change in diff.changes:
        lines += [*old[at : change.old_at], *change.new]
        at = change.old_at + len(change.old)
    return [*lines, *old[at:]]


def inverted(diff: TextDiff) -> TextDiff:
    from dataclasses import replace

    changes = tuple(
        replace(change, old=change.new, new=change.old, old_at=change.new_at, new_at=change.old_at)
        for change in diff.changes
    )
    return replace(diff, changes=changes, added=diff.removed, removed=diff.added)


@given(lines, lines)
@settings(max_examples=150, deadline=None)
def test_the_changes_make_the_new_text_from_the_old_and_back(old: list[str], new: list[str]) -> None:
    diff = compare_texts(old, new)
    assert apply_changes(old, diff) == new
    assert apply_changes(new, inverted(diff)) == old
    assert diff.same + diff.added == len(new)
    assert diff.same + diff.removed == len(old)
    assert bool(diff.changes) == (old != new)


@given(lines, lines, st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_the_layout_holds_both_texts(old: list[str], new: list[str], context: int) -> None:
    shown_old, shown_new = [], []
    for line in lay_out(old, compare_texts(old, new), context=context):
        if line.kind is LineKind.FOLDED:
            shown_old += old[line.old - 1 : line.old - 1 + line.count]
            shown_new += new[line.new - 1 : line.new - 1 + line.count]
            continue
        before = "".join(piece.text for piece in line.pieces if piece.part is not LinePart.ADDED)
        after = "".join(piece.text for piece in line.pieces if piece.part is not LinePart.REMOVED)
        if line.old:
            assert line.old == len(shown_old) + 1
            shown_old.append(before)
        if line.new:
            assert line.new == len(shown_new) + 1
            shown_new.append(after)
    assert (shown_old, shown_new) == (old, new)


@given(line, line)
@settings(max_examples=100, deadline=None)
def test_marked_words_are_both_lines(old: str, new: str) -> None:
    pieces = mark_words(old, new)
    assert "".join(piece.text for piece in pieces if piece.part is not LinePart.ADDED) == old
    assert "".join(piece.text for piece in pieces if piece.part is not LinePart.REMOVED) == new


def test_a_word_that_changed_is_marked_and_the_rest_is_folded() -> None:
    old = [f"rida {n}" for n in range(50)]
    new = list(old)
    old[25], new[25] = "Vallavanem on Katrin Paio.", "Vallavanem on Tõnu Õun."
    laid = list(lay_out(old, compare_texts(old, new)))
    assert [(line.kind, line.count) for line in laid if line.kind is not LineKind.SAME] == [
        (LineKind.FOLDED, 23),
        (LineKind.CHANGED, 0),
        (LineKind.FOLDED, 22),
    ]
    changed = next(line for line in laid if line.kind is LineKind.CHANGED)
    assert [(piece.part, piece.text) for piece in changed.pieces] == [
        (LinePart.SAME, "Vallavanem on "),
        (LinePart.REMOVED, "Katrin Paio"),
        (LinePart.ADDED, "Tõnu Õun"),
        (LinePart.SAME, "."),
    ]
    assert (changed.old, changed.new) == (26, 26)


def test_lines_that_have_nothing_in_common_are_removed_and_added() -> None:
    diff = compare_texts(["üks kaks kolm"], ["neli viis kuus"])
    assert [line.kind for line in lay_out(["üks kaks kolm"], diff)] == [LineKind.REMOVED, LineKind.ADDED]


def test_blank_lines_do_not_count() -> None:
    assert split_lines("a\n\n  \nb  \n") == ["a", "b"]


def test_a_line_without_end_is_shown_in_part() -> None:
    old, new = ["x y " * 50_000], ["x z " * 50_000]
    laid = list(lay_out(old, compare_texts(old, new)))
    assert sum(len(piece.text) for line in laid for piece in line.pieces) < 50_000

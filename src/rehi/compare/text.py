"""Texts compared line by line: the changes, and their layout for a reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rehi.compare.sequence import align
from rehi.compare.word_diff import LinePart, LinePiece, mark_words, pair_lines

CONTEXT = 2  # unchanged lines that are shown around a change
LONGEST = 8_000  # characters of a line that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """Lines that were replaced by others; either side may be empty."""

    old_at: int  # counted from 0
    new_at: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDiff:
    """The differences between two texts, and the number of lines that are the same."""

    changes: tuple[TextChange, ...]
    same: int  # lines
    added: int
    removed: int
    coarse: bool = False  # there may be more equal lines than were found


class LineKind(StrEnum):
    """What a line of the layout is."""

    SAME = "same"
    FOLDED = "folded"  # a number of lines that are the same
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the layout, with its numbers on both sides, from 1; 0 where it has none."""

    kind: LineKind
    old: int = 0
    new: int = 0
    pieces: tuple[LinePiece, ...] = ()
    count: int = 0  # of the lines that are folded


def split_lines(text: str) -> list[str]:
    """Return the lines to compare: without blank ones, and without white space at their ends."""
    return [line for line in map(str.rstrip, text.split("\n")) if line]


def compare_texts(old: Sequence[str], new: Sequence[str]) -> TextDiff:
    """Return the changes that turn the old lines into the new ones."""
    alignment = align(old, new)
    changes = tuple(
        TextChange(
            old_at=gap.old.start,
            new_at=gap.new.start,
            old=tuple(old[gap.old.start : gap.old.stop]),
            new=tuple(new[gap.new.start : gap.new.stop]),
        )
        for gap in alignment.gaps()
    )
    removed, added = sum(len(change.old) for change in changes), sum(len(change.new) for change in changes)
    return TextDiff(changes=changes, same=len(old) - removed, added=added, removed=removed, coarse=alignment.coarse)


def lay_out(old: Sequence[str], diff: TextDiff, *, context: int = CONTEXT) -> Iterator[Line]:
    """Yield a diff as lines to show: the changes with ``context`` lines around them, and the other lines folded."""
    at, shift = 0, 0
    for place, change in enumerate(diff.changes):
        yield from _unchanged(old, at, change.old_at, shift, context if place else 0, context)
        yield from _changed(change)
        at = change.old_at + len(change.old)
        shift = change.new_at + len(change.new) - at
    yield from _unchanged(old, at, len(old), shift, context if diff.changes else 0, 0)


def _unchanged(old: Sequence[str], start: int, end: int, shift: int, after: int, before: int) -> Iterator[Line]:
    """Yield the unchanged lines from ``start`` to ``end``: the first and last few as they are, the others folded."""
    head, tail = min(start + after, end), max(end - before, start)
    if tail - head <= 1:  # to fold a single line would save nothing
        head = tail = end
    for at in range(start, head):
        yield _plain_line(LineKind.SAME, old[at], old=at + 1, new=at + shift + 1)
    if tail > head:
        yield Line(kind=LineKind.FOLDED, old=head + 1, new=head + shift + 1, count=tail - head)
    for at in range(tail, end):
        yield _plain_line(LineKind.SAME, old[at], old=at + 1, new=at + shift + 1)


def _changed(change: TextChange) -> Iterator[Line]:
    i = j = 0
    for first, second in (*pair_lines(change.old, change.new), (len(change.old), len(change.new))):
        for at in range(i, first):
            yield _plain_line(LineKind.REMOVED, change.old[at], old=change.old_at + at + 1)
        for at in range(j, second):
            yield _plain_line(LineKind.ADDED, change.new[at], new=change.new_at + at + 1)
        if first < len(change.old) and second < len(change.new):
            yield Line(
                kind=LineKind.CHANGED,
                old=change.old_at + first + 1,
                new=change.new_at + second + 1,
                pieces=_cut_pieces(mark_words(change.old[first], change.new[second])),
            )
        i, j = first + 1, second + 1


_PARTS = {LineKind.ADDED: LinePart.ADDED, LineKind.REMOVED: LinePart.REMOVED}


def _plain_line(kind: LineKind, text: str, *, old: int = 0, new: int = 0) -> Line:
    return Line(kind=kind, old=old, new=new, pieces=(LinePiece(_PARTS.get(kind, LinePart.SAME), _cut(text, LONGEST)),))


def _cut_pieces(pieces: Sequence[LinePiece]) -> tuple[LinePiece, ...]:
    """Return the pieces of a long line, each shortened in its middle."""
    total = sum(len(piece.text) for piece in pieces)
    if total <= LONGEST:
        return tuple(pieces)
    share = max(100, LONGEST // len(pieces))
    return tuple(LinePiece(piece.part, _cut(piece.text, share)) for piece in pieces[: LONGEST // 20])


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} … {text[-half:]}"

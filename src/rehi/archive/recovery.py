"""Recovery: what the files hold beyond what the catalogue knows, and what to do with a torn tail.

A process that dies while it appends leaves an incomplete member at the end of its file. It is set aside, and the file
ends with its last whole record again. What is damaged in the middle is left where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rehi.archive.walk import SUFFIX, Bad, Kept, Walk
from rehi.ports import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn:
    """A part of a file that can't be read."""

    file: str
    offset: int
    length: int
    set_aside: bool  # False when it lies in the middle, and was left where it is
    why: str = ""  # for a record that can be read and yet is not what it says


def recover(
    shelf: Shelf, known_end: Callable[[str], int], *, owned: Callable[[str], bool] = lambda _: True
) -> Iterator[Kept | Torn]:
    """Go through the WARC files beyond their known ends. Nobody may be writing to the ``owned`` ones meanwhile."""
    for file, size in shelf.files():
        if file.endswith(SUFFIX) and owned(file):
            known = known_end(file)
            if size > known:
                yield from _recover(shelf, Walk(shelf, file, size), known)


def _recover(shelf: Shelf, walk: Walk, known: int) -> Iterator[Kept | Torn]:
    offset = known if walk.begins_record(known) else 0
    while True:
        for item in walk.steps(offset):
            offset = item.ref.end
            if offset <= known:
                continue
            if isinstance(item, Bad):
                yield _torn(walk, item.ref.offset, offset, why=item.why)
            elif item.kept is not None:
                yield item.kept
        if offset >= walk.size:
            return
        onward, readable = (None, False) if walk.ran_out else walk.look_onward(offset + 1)
        if onward is None:
            break
        yield _torn(walk, offset, onward)
        offset = onward
    movable = offset >= known and not readable
    if movable:
        shelf.set_aside(walk.name, offset)
    yield _torn(walk, offset, walk.size, set_aside=movable)


def _torn(walk: Walk, start: int, end: int, *, set_aside: bool = False, why: str = "") -> Torn:
    return Torn(file=walk.name, offset=start, length=end - start, set_aside=set_aside, why=why)

"""Recovery: finds records that the catalogue does not know of, and sets aside torn tails.

A process that dies while it appends leaves an incomplete member at the end of its file. It is set aside, and the file
ends with its last whole record again. What is damaged in the middle is left where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rehi.archive.walk import SUFFIX, DamagedPart, KeptVisit, Walk
from rehi.ports import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class TornPart:
    """A part of a file that can't be read."""

    file: str
    offset: int
    length: int
    set_aside: bool  # False when it lies in the middle, and was left where it is
    why: str = ""  # for a record that can be decompressed, but is not valid


def recover(
    shelf: Shelf, known_end: Callable[[str], int], *, owned: Callable[[str], object] = lambda _: True
) -> Iterator[KeptVisit | TornPart]:
    """Yield the visits and the damaged parts that are in the ``owned`` WARC files beyond their known ends.

    Torn tails are set aside. Nobody may be writing to these files meanwhile.
    """
    for file, size in shelf.files():
        if file.endswith(SUFFIX) and owned(file):
            known = known_end(file)
            if size > known:
                yield from _recover(shelf, Walk(shelf, file, size), known)
            elif size < known:  # nothing is appended to it: the places of what is lost must not hold something else
                why = f"the file ends at {size:,}, and it was {known:,} bytes long"
                yield TornPart(file=file, offset=size, length=known - size, set_aside=False, why=why)


def _recover(shelf: Shelf, walk: Walk, known: int) -> Iterator[KeptVisit | TornPart]:
    offset = known if walk.begins_record(known) else 0
    while True:
        for item in walk.records_until_damage(offset):
            offset = item.ref.end
            if offset <= known:
                continue
            if isinstance(item, DamagedPart):
                yield _torn(walk, item.ref.offset, offset, why=item.why)
            elif item.kept is not None:
                yield item.kept
        if offset >= walk.size:
            return
        next_record, readable = walk.find_next_record(offset + 1)
        if next_record is None:
            break
        yield _torn(walk, offset, next_record)
        offset = next_record
    at_end = offset >= known and not readable
    if at_end:
        shelf.set_aside(walk.name, offset)
    yield _torn(walk, offset, walk.size, set_aside=at_end)


def _torn(walk: Walk, start: int, end: int, *, set_aside: bool = False, why: str = "") -> TornPart:
    return TornPart(file=walk.name, offset=start, length=end - start, set_aside=set_aside, why=why)

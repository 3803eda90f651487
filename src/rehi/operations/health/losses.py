"""Losses: which records stood in the parts of files that can't be read, by what the catalogue knows of visits.

A request stands right before its answer, so that the one is named by the other. Bytes that are lost are listed as versions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from rehi.app import House
from rehi.model.capture import Capture, CaptureFilter
from rehi.model.visit import Outcome
from rehi.operations.health.mended import LostRecord
from rehi.operations.verification import Fault

REQUEST, REVISIT, REDIRECT = "request", "revisit", "redirect"
HEAD, UNKNOWN = "head of the file (warcinfo)", "record that the catalogue does not know"


@dataclass(slots=True)
class _LostPart:
    """A part of a file that can't be read, and what the catalogue knows of it."""

    start: int
    end: int
    inside: list[Capture] = field(default_factory=list)  # visits whose answers stood here
    last: int = 0  # where the last of them ended
    after: Capture | None = None  # the visit whose answer stands right behind it


def find_lost_records(house: House, faults: Collection[Fault]) -> Iterator[LostRecord]:
    """Yield the records without bytes of their own that stood where faults of the archive are."""
    parts: dict[str, list[_LostPart]] = defaultdict(list)
    for fault in sorted(faults, key=lambda one: (one.file, one.offset)):
        if fault.length and fault.digest is None:
            parts[fault.file].append(_LostPart(fault.offset, fault.offset + fault.length))
    if not parts:
        return
    for capture in house.catalogue.captures(CaptureFilter()):
        place = house.archive.place_of(capture.record)
        if place.file in parts:
            _enter(parts[place.file], capture, place.offset, place.end)
    for file, damaged in parts.items():
        for part in damaged:
            yield from _name(file, part)


def _enter(parts: list[_LostPart], capture: Capture, start: int, end: int) -> None:
    at = bisect_right(parts, start, key=lambda part: part.start) - 1
    if at >= 0 and start < parts[at].end:
        parts[at].inside.append(capture)
        parts[at].last = max(parts[at].last, end)
    behind = bisect_left(parts, start, key=lambda part: part.end)
    if behind < len(parts) and parts[behind].end == start:
        parts[behind].after = capture


def _name(file: str, part: _LostPart) -> Iterator[LostRecord]:
    """Name what stood in a part; of a visit that is lost with its request, the answer alone is named."""
    for capture in sorted(part.inside, key=lambda one: one.at):
        if capture.body != capture.record:
            kind = REDIRECT if capture.outcome is Outcome.REDIRECT else REVISIT
            yield _record(file, part, kind, capture)
    if part.after is not None and part.last < part.end:
        yield _record(file, part, REQUEST, part.after)
    elif not part.inside:
        kind = UNKNOWN if part.start else HEAD
        yield LostRecord(url="", at="", kind=kind, file=file, offset=part.start)


def _record(file: str, part: _LostPart, kind: str, capture: Capture) -> LostRecord:
    return LostRecord(url=capture.url, at=capture.at.isoformat(), kind=kind, file=file, offset=part.start)

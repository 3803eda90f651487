"""The history of a page, and of all pages of its host together, in about a hundred bytes each."""

from __future__ import annotations

import struct
from dataclasses import dataclass

EXPERTS = 3
CLOCK = 31  # counts of changes: 24 hours of the day, then 7 days of the week
_VERSION = 1
_PAGE = struct.Struct(f"<B3d{3 * EXPERTS}f{CLOCK}e")
_HOST = struct.Struct(f"<B{2 * EXPERTS}f{CLOCK}e")
_MOST = 1e12  # no honest number is larger
_MOST_COUNT = 60_000.0  # what half a float can hold


@dataclass(slots=True)
class PageHistory:
    """What the visits to one page have taught; a working copy, never shared."""

    first: float  # since when it has been watched
    visited: float  # the last visit, in seconds since 1970
    changed: float  # the last change that we know of, or our best guess at it
    changes: list[float]  # by expert: changes seen, the older the less they count
    exposure: list[float]  # by expert: the time in which they were seen, as the expert counts time
    trust: list[float]  # by expert: how well it foretold what we saw; together 1
    clock: list[float]


@dataclass(slots=True)
class HostHistory:
    """What the visits to all pages of one host have taught; a working copy, never shared."""

    changes: list[float]
    exposure: list[float]
    clock: list[float]


def new_page(visited: float, changed: float) -> PageHistory:
    """Return the history of a page that is seen for the first time."""
    return PageHistory(
        min(changed, visited),
        visited,
        changed,
        [0.0] * EXPERTS,
        [0.0] * EXPERTS,
        [1 / EXPERTS] * EXPERTS,
        [0.0] * CLOCK,
    )


def new_host() -> HostHistory:
    """Return the history of a host of which nothing is known."""
    return HostHistory([0.0] * EXPERTS, [0.0] * EXPERTS, [0.0] * CLOCK)


def _unpack(form: struct.Struct, packed: bytes) -> list[float] | None:
    """Return the numbers, if they are what we once wrote; a sum shows NaN and infinity at the speed of C."""
    if len(packed) != form.size or packed[0] != _VERSION:
        return None
    values = list(form.unpack(packed)[1:])
    return values if min(values) >= 0 and sum(values) < _MOST else None


def read_page(packed: bytes) -> PageHistory | None:
    """Return a page's history; None when there is none, or none that this version can read."""
    values = _unpack(_PAGE, packed)
    if values is None or max(values[0], values[2]) > values[1]:
        return None
    at = 3 + EXPERTS
    changes, exposure, trust = values[3:at], values[at : at + EXPERTS], values[at + EXPERTS : at + 2 * EXPERTS]
    if not 0.9 < sum(trust) < 1.1:
        return None
    return PageHistory(values[0], values[1], values[2], changes, exposure, trust, values[at + 2 * EXPERTS :])


def read_host(packed: bytes) -> HostHistory:
    """Return a host's history; an empty one when there is none, or none that this version can read."""
    values = _unpack(_HOST, packed)
    if values is None:
        return new_host()
    return HostHistory(values[:EXPERTS], values[EXPERTS : 2 * EXPERTS], values[2 * EXPERTS :])


def write_page(page: PageHistory) -> bytes:
    """Return a page's history as bytes."""
    return _PAGE.pack(
        _VERSION, page.first, page.visited, page.changed,
        *page.changes, *page.exposure, *page.trust, *_capped(page.clock),
    )  # fmt: skip


def write_host(host: HostHistory) -> bytes:
    """Return a host's history as bytes."""
    return _HOST.pack(_VERSION, *host.changes, *host.exposure, *_capped(host.clock))


def _capped(clock: list[float]) -> list[float]:
    return clock if max(clock) < _MOST_COUNT else [min(count, _MOST_COUNT) for count in clock]

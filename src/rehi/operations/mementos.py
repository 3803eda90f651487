"""Mementos: what was there at moments, each under the digits of its time, and which of them is closest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urljoin

from rehi.app import House
from rehi.errors import ArchiveError, NotFound
from rehi.model.capture import Capture, CaptureFilter
from rehi.operations.moments import digits_of
from rehi.sources import is_visitable, normalise


@dataclass(frozen=True, slots=True)
class Memento:
    """A capture under the digits by which it is asked for."""

    stamp: str  # 14 digits; 20 for another one within the same second
    capture: Capture


@dataclass(frozen=True, slots=True, kw_only=True)
class MementoPosition:
    """A memento among its neighbours."""

    first: Memento
    previous: Memento | None
    chosen: Memento
    following: Memento | None
    last: Memento


def mementos(house: House, url: str) -> Iterator[Memento]:
    """Return all captures of a URL in the order of time."""
    return stamped(house.catalogue.captures(CaptureFilter(url=url)))


def stamped(captures: Iterable[Capture]) -> Iterator[Memento]:
    """Yield captures with their digits: the first of a second has 14, those after it as many as tell them apart."""
    before = ("", "")
    for capture in captures:
        stamp = digits_of(capture.at)
        again = before == (capture.url, stamp)
        before = capture.url, stamp
        yield Memento(digits_of(capture.at, fine=True) if again else stamp, capture)


def find_memento(house: House, url: str, at: datetime | None = None, *, fine: bool = False) -> MementoPosition:
    """Return the memento closest to a moment, of two the earlier, or the newest; seconds count unless it is ``fine``."""
    first = previous = chosen = following = last = before = None
    least: timedelta | None = None
    for memento in mementos(house, url):
        first = first or memento
        taken = memento.capture.at if fine else memento.capture.at.replace(microsecond=0)
        apart = None if at is None else abs(taken - at)
        if least is None or apart is None or apart < least:
            previous, chosen, following, least = before, memento, None, apart
        elif following is None:
            following = memento
        before = last = memento
    if first is None or chosen is None or last is None:
        raise NotFound(f"nothing is kept of {url}")
    return MementoPosition(first=first, previous=previous, chosen=chosen, following=following, last=last)


def target_of(house: House, capture: Capture) -> str:
    """Return where a redirect led, in normal form; empty if it can't be visited or isn't known any more."""
    try:
        head = house.archive.read_headers(capture.record).http
    except ArchiveError:
        return ""
    location = head.header("Location") if head else ""
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")  # as most servers mean it
    try:
        target = normalise(urljoin(capture.url, location)) if location else None
    except ValueError:
        return ""
    return target if target and is_visitable(target) else ""

"""An estimate: what an update would visit, and how long that takes at the least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from rehi.app import House, utc_now
from rehi.frontier import politeness_for, zone_of
from rehi.model.host import NO_ORDERS, HostRow
from rehi.model.listing import DocumentFilter, Page
from rehi.sources import host_meant, normalise

_ROWS = 1_000
_COUNTED = 20_000  # pages of a source that are looked at one by one to know their hosts
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """So many pages on so many hosts; the host that takes longest sets the time."""

    pages: int
    hosts: int | None  # None where it would take too long to say
    seconds: float | None
    slowest: str  # the origin that takes longest
    left_alone: int = 0  # hosts that are not visited at all


def estimate_update(house: House, *, source_id: int | None = None, host: str = "", url: str = "") -> Estimate:
    """Return what an update would visit; NotFound if nothing matches."""
    if url:
        row = house.catalogue.document(normalise(url) or url)
        return Estimate(pages=1, hosts=1, seconds=0.0, slowest=row.host)
    if source_id is not None:
        return _of_source(house, house.catalogue.source(source_id).id)
    if host:
        rows = [facts.row for facts in house.catalogue.host(host_meant(host), now=utc_now())]
        return _of_hosts(house, ((row, row.resources) for row in rows))
    return _of_hosts(house, ((row, row.resources) for row in _all_hosts(house)))


def _of_source(house: House, source_id: int) -> Estimate:
    where = DocumentFilter(source_id=source_id)
    rows, total = house.catalogue.documents(where, Page(limit=_ROWS))
    if total > _COUNTED:
        return Estimate(pages=total, hosts=None, seconds=None, slowest="")
    counts = Counter(_origin(row.url) for row in rows)
    for offset in range(_ROWS, total, _ROWS):
        rows, _ = house.catalogue.documents(where, Page(limit=_ROWS, offset=offset))
        counts.update(_origin(row.url) for row in rows)
    return _of_hosts(house, ((row, counts[row.origin]) for row in _all_hosts(house) if row.origin in counts))


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])  # a URL that is kept is in its normal form


def _all_hosts(house: House) -> Iterator[HostRow]:
    offset, total = 0, 1
    while offset < total:
        rows, total = house.catalogue.hosts("", Page(limit=_ROWS, offset=offset))
        yield from rows
        offset += _ROWS


def _of_hosts(house: House, counted: Iterable[tuple[HostRow, int]]) -> Estimate:
    orders, settings, time_zone = house.catalogue.orders(since=_EVER), house.settings.fetch, zone_of(house.settings)
    pages = hosts = left_alone = 0
    longest, slowest = 0.0, ""
    for row, number in counted:
        manners = politeness_for(row.origin, orders.get(row.host_id, NO_ORDERS), settings=settings, time_zone=time_zone)
        if manners.left_alone:
            left_alone += 1
            continue
        pages, hosts = pages + number, hosts + 1
        seconds = number * max(row.delay, manners.pace.usual) / manners.connections
        if seconds > longest:
            longest, slowest = seconds, row.origin
    return Estimate(pages=pages, hosts=hosts, seconds=longest, slowest=slowest, left_alone=left_alone)

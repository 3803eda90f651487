"""Updates: everything, or a part of it, is visited now, whatever its schedule says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from rehi.app import House, utc_now
from rehi.errors import NotFound, SettingsError
from rehi.frontier import next_time, zone_of
from rehi.model.listing import Page
from rehi.model.update import RUNNING, Update, UpdateKind, open_update
from rehi.operations.parameters import ROWS, HostName, Limit, Offset, SourceId, Url
from rehi.sources import host_meant, normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateList:
    """A page of updates, the newest first, how many there are in all, and the one that runs."""

    total: int
    running: Update | None
    updates: Sequence[Update]


def list_updates(house: House, *, limit: Limit = ROWS, offset: Offset = 0) -> UpdateList:
    """List the updates, the newest first, and the one that runs."""
    rows, total = house.catalogue.updates(Page(limit=limit, offset=offset))
    return UpdateList(total=total, running=open_update(house.catalogue.updates(RUNNING, running=True)[0]), updates=rows)


def start_update(
    house: House,
    *,
    source: SourceId | None = None,
    host: HostName = "",
    url: Annotated[Url, Field(description="The URL of one page.")] = "",
) -> Update:
    """Have everything visited now, or what is of one source, one host or one URL."""
    if sum(map(bool, (source, host, url))) > 1:
        raise SettingsError("give one of source, host and url", names=("source", "host", "url"))
    return order_update(house, source_id=source, host=host, url=url)


def check_part(house: House, *, source_id: int | None = None, host: str = "", url: str = "") -> None:
    """Raise NotFound for a source, host or URL that is not known."""
    if source_id is not None:
        house.catalogue.source(source_id)
    if host:
        house.catalogue.host(host_meant(host), now=utc_now())
    if url:
        house.catalogue.document(normalise(url) or url)


def make_due(house: House, *, source_id: int | None = None, host: str = "", url: str = "") -> int:
    """Let what matches be due now; NotFound if nothing does."""
    if source_id is not None:
        house.catalogue.source(source_id)
    page = normalise(url) or url
    due = house.catalogue.make_due(source_id=source_id, host=host_meant(host) if host else "", url=page, now=utc_now())
    if not due and (source_id is not None or host or url):
        raise NotFound(f"nothing is known of {page or host or f'source {source_id}'} that could be visited again")
    return due


def order_update(
    house: House,
    *,
    source_id: int | None = None,
    host: str = "",
    url: str = "",
    kind: UpdateKind = UpdateKind.ORDERED,
) -> Update:
    """Let what matches be due now, and open a row for it; whoever harvests takes it from there."""
    due = make_due(house, source_id=source_id, host=host, url=url)
    # Under a name of its own: the worker of this folder may be at work on a row that it has opened itself.
    return house.catalogue.begin_update(kind, worker=f"{house.worker}/orders", due=due, now=utc_now())


def next_scheduled(house: House, *, since: datetime) -> datetime | None:
    """Return when the next update of everything is due, counted from the last; None if none is scheduled."""
    schedule = house.settings.revisit.schedule
    if not schedule:
        return None
    rows, _ = house.catalogue.updates(Page(limit=200))
    last = max((row.started_at for row in rows if row.kind is UpdateKind.SCHEDULED), default=since)
    return next_time(schedule, after=last, time_zone=zone_of(house.settings))

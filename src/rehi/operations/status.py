"""The status: what the running service is doing now, and the totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rehi.app import House, utc_now
from rehi.errors import EngineAway
from rehi.model.listing import Totals
from rehi.model.outage import Outage


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStatus:
    """What the service is doing now."""

    running: bool
    counts: Mapping[str, int]
    seconds: Mapping[str, float]
    reading: str = ""  # the source being taken in
    reading_share: float = 0.0
    error: str = ""  # why it stopped
    outages: Sequence[Outage] = ()  # engines that are away now and waited for


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStatus:
    """Whether the graph says all that it should."""

    incomplete: str  # why it does not; empty if it does
    left: int  # what is still to be written of it again


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What is being done now, and the totals."""

    service: ServiceStatus
    totals: Totals | None  # None while the catalogue is away
    outdated: int  # documents that another recipe has read than today's
    graph: GraphStatus | None  # None while the catalogue is away


class RunningService(Protocol):
    """The harvest that runs by itself, as operations see it."""

    @property
    def house(self) -> House:
        """The rooms and engines of its data folder."""

    @property
    def status(self) -> ServiceStatus:
        """What is being done now."""

    def start_source(self, source_id: int) -> None:
        """Have a waiting source taken in."""


def get_totals(house: House) -> Totals:
    """Return how much there is of everything now."""
    return house.catalogue.totals(now=utc_now())


def get_status(service: RunningService) -> Status:
    """Return what is being done now, and how much there is of everything."""
    from rehi.graph import rewritten_kinds

    house = service.house
    try:
        totals = get_totals(house)
        graph = GraphStatus(incomplete=house.graph_gap(), left=house.catalogue.graph_record(*rewritten_kinds()).left)
    except EngineAway as error:
        return Status(service=tell_outage(service.status, error), totals=None, outdated=0, graph=None)
    return Status(service=service.status, totals=totals, outdated=count_outdated(house, totals), graph=graph)


def tell_outage(status: ServiceStatus, error: EngineAway) -> ServiceStatus:
    """Return the status with what somebody has just found to be away, if the harvest has not noticed yet."""
    if any(outage.code == error.code for outage in status.outages):
        return status
    return replace(status, outages=(*status.outages, Outage.of(error, since=utc_now())))


def count_outdated(house: House, totals: Totals) -> int:
    """Return how many documents were read by another recipe than today's, as before a facet was installed or changed."""
    from rehi.pipeline.reading import current_recipe

    recipe = current_recipe(house.settings.work)
    return sum(n for other, n in totals.recipes.items() if other != recipe)

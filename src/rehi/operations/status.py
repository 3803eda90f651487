"""The status: what the running service is doing now, and the totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rehi.app import House, utc_now
from rehi.model.listing import Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStatus:
    """What the service is doing now."""

    running: bool
    counts: Mapping[str, int]
    seconds: Mapping[str, float]
    reading: str = ""  # the source being taken in
    reading_share: float = 0.0
    error: str = ""  # why it stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What is being done now, and the totals."""

    service: ServiceStatus
    totals: Totals
    outdated: int  # documents that another recipe has read than today's


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


def get_status(service: RunningService) -> Status:
    """Return what is being done now, and how much there is of everything."""
    totals = service.house.catalogue.totals(now=utc_now())
    return Status(service=service.status, totals=totals, outdated=count_outdated(service.house, totals))


def count_outdated(house: House, totals: Totals) -> int:
    """Return how many documents were read by another recipe than today's, as before a facet was installed or changed."""
    from rehi.pipeline.reading import current_recipe

    recipe = current_recipe(house.settings.work)
    return sum(n for other, n in totals.recipes.items() if other != recipe)

"""The budget: how many visits may be made in a day, and what a visit is worth under it."""

from __future__ import annotations

from datetime import datetime, timedelta

from rehi.frontier import adjust_price, allowance
from rehi.ports import Frontier

_LOOK_SECONDS = 60.0
UNLIMITED = 1 << 30


class Budget:
    """Looks at the day's visits once a minute; all workers of a catalogue share one budget."""

    def __init__(self, frontier: Frontier, visits_per_day: int) -> None:
        self._frontier, self._visits_per_day = frontier, visits_per_day
        self._look_at: datetime | None = None
        self._left = UNLIMITED
        self.price = 1.0

    def left(self, now: datetime) -> int:
        """Return how many visits may be begun now."""
        if self._visits_per_day and (self._look_at is None or now >= self._look_at):
            load = self._frontier.load(now=now)
            self.price = adjust_price(
                self.price, planned=load.planned, visited=load.visited, budget=self._visits_per_day
            )
            self._left = allowance(self._visits_per_day, visited=load.visited, now=now)
            self._look_at = now + timedelta(seconds=_LOOK_SECONDS)
        return self._left

    def spend(self, visits: int) -> None:
        """Count visits that were taken on."""
        if self._visits_per_day:
            self._left -= visits

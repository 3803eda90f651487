"""The budget: how many visits may be made in a day, and the price of a visit that keeps to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rehi.ports import Frontier

UNLIMITED = 2**31
# Minutes to correct a wrong price: plans follow it only as pages come due, so a faster change would overshoot.
_SLOWNESS = 600
_MOST = 8.0  # demand is never taken for more than this many times the budget, or less than its inverse
_BURST = 1 / 24  # of a day's visits may be made at once
_HIGHEST = 1e6
_LOOK_SECONDS = 60.0


def adjust_price(price: float, *, planned: int, visited: int, budget: int) -> float:
    """Return the price for the next minute, given the visits planned for the next day and made in the last one."""
    if budget <= 0:
        return 1.0
    demand = max(planned, visited, 1) / budget
    step = min(max(demand, 1 / _MOST), _MOST) ** (1 / _SLOWNESS)
    return min(max(price * step, 1.0), _HIGHEST) if price == price else 1.0


def allowance(budget: int, *, visited: int, now: datetime) -> int:
    """Return how many visits may be made now so that the budget lasts, given those made since midnight (UTC)."""
    if budget <= 0:
        return UNLIMITED
    day = now.astimezone(UTC)
    passed = (day.hour * 3_600 + day.minute * 60 + day.second) / 86_400
    return max(min(int(budget * min(passed + _BURST, 1.0) + 0.5), budget) - visited, 0)


@dataclass(slots=True)
class Budget:
    """Looks at the day's visits once a minute; all workers of a catalogue share one budget."""

    frontier: Frontier
    visits_per_day: int  # 0 for as many as there are
    left: int = UNLIMITED  # visits that may be begun now; whoever begins some takes them off
    price: float = 1.0
    _look_at: datetime | None = None

    def look(self, now: datetime) -> None:
        """Update the price and the visits that are left from the day's visits; at most once a minute."""
        if self._look_at is None or now >= self._look_at:
            load = self.frontier.load(now=now)
            self.price = adjust_price(
                self.price, planned=load.planned, visited=load.visited, budget=self.visits_per_day
            )
            self.left = allowance(self.visits_per_day, visited=load.visited, now=now)
            self._look_at = now + timedelta(seconds=_LOOK_SECONDS)

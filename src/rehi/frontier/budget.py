"""The budget: how many visits a day may have, and the price that keeps to it."""

from __future__ import annotations

from datetime import UTC, datetime

UNLIMITED = 2**31
_SLOWNESS = 600  # minutes to put a wrong price right: plans only follow as pages come due, so haste would overshoot
_MOST = 8.0  # demand is never taken for more than this many times the budget, or less than its inverse
_BURST = 1 / 24  # of a day's visits may be made at once
_HIGHEST = 1e6


def adjust_price(price: float, *, planned: int, visited: int, budget: int) -> float:
    """The price for the next minute; ``planned`` visits come due within a day, ``visited`` were made within one."""
    if budget <= 0:
        return 1.0
    demand = max(planned, visited, 1) / budget
    step = min(max(demand, 1 / _MOST), _MOST) ** (1 / _SLOWNESS)
    return min(max(price * step, 1.0), _HIGHEST) if price == price else 1.0


def allowance(budget: int, *, visited: int, now: datetime) -> int:
    """How many visits may be made now, if ``visited`` were made since midnight (UTC) and the budget is to last."""
    if budget <= 0:
        return UNLIMITED
    day = now.astimezone(UTC)
    passed = (day.hour * 3_600 + day.minute * 60 + day.second) / 86_400
    return max(min(int(budget * min(passed + _BURST, 1.0) + 0.5), budget) - visited, 0)

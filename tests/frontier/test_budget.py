"""A budget is kept, spread over the day, and its price settles."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rehi.frontier.budget import UNLIMITED, adjust_price, allowance

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)


def test_without_a_budget_visits_cost_nothing() -> None:
    assert adjust_price(17.0, planned=10**6, visited=10**6, budget=0) == 1.0
    assert allowance(0, visited=10**6, now=MIDNIGHT) == UNLIMITED


def test_the_price_settles_where_the_demand_meets_the_budget() -> None:
    price, demands = 1.0, []
    lagging = 100_000.0
    for _ in range(60 * 24 * 20):  # plans follow the price within a day
        lagging += (100_000 / price**0.7 - lagging) / (60 * 24)
        price = adjust_price(price, planned=int(lagging), visited=int(lagging), budget=10_000)
        demands.append(lagging)
    assert all(9_000 < demand < 11_000 for demand in demands[-60 * 24 * 3 :])


def test_a_price_falls_back_when_there_is_room_but_not_below_nothing() -> None:
    price = 50.0
    for _ in range(60 * 24 * 3):
        price = adjust_price(price, planned=10, visited=10, budget=1_000)
    assert price == 1.0


@given(st.integers(1, 10**7), st.integers(0, 10**7), st.integers(0, 86_399))
def test_no_more_than_the_days_budget_is_ever_allowed(budget: int, visited: int, second: int) -> None:
    left = allowance(budget, visited=visited, now=MIDNIGHT + timedelta(seconds=second))
    assert 0 <= left <= budget
    assert visited + left <= max(budget, visited)


def test_a_days_budget_is_spread_over_the_day() -> None:
    assert allowance(2_400, visited=0, now=MIDNIGHT) == 100
    assert allowance(2_400, visited=100, now=MIDNIGHT) == 0
    assert allowance(2_400, visited=1_200, now=MIDNIGHT + timedelta(hours=12)) == 100
    assert allowance(2_400, visited=0, now=MIDNIGHT + timedelta(hours=23, minutes=59)) == 2_400

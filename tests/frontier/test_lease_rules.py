"""The rules for leases that were lost, and for a clock that was set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rehi.frontier import HouseLeaseRules
from rehi.ports import LeaseRules

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULES: LeaseRules = HouseLeaseRules(least_rest=5.0, longest_rest=86_400.0, longest_lease=600.0)


@pytest.mark.parametrize(("delay", "rest"), [(0.0, 5.0), (5.0, 5.0), (7.5, 7.5)])
def test_a_host_whose_lease_was_lost_rests_for_its_own_delay_at_least(delay: float, rest: float) -> None:
    assert RULES.ready_after_loss(delay, NOW) == NOW + timedelta(seconds=rest)


@pytest.mark.parametrize(
    ("ahead", "noticed", "moves"),
    [(-60, False, False), (5, False, False), (6, True, False), (86_400, True, False), (86_401, True, True)],
)
def test_a_clock_that_went_back_is_noticed_and_plans_are_moved_if_that_is_worth_it(
    ahead: int, noticed: bool, moves: bool
) -> None:
    correction = RULES.correct_clock(NOW + timedelta(seconds=ahead), NOW)
    assert correction.ahead == (timedelta(seconds=ahead) if noticed else timedelta())
    assert correction.moves_plans is moves
    assert correction.rests_end == NOW + timedelta(days=1)
    assert correction.leases_end == NOW + timedelta(minutes=10)


def test_where_nobody_was_seen_before_no_clock_has_gone_back() -> None:
    assert RULES.correct_clock(None, NOW).ahead == timedelta()

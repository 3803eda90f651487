"""What a plan makes of a history that is known, whatever the pace of the world."""

from __future__ import annotations

import pytest

from rehi.frontier.adaptive import plan_adaptive
from rehi.frontier.history import CLOCK, DAY, HostHistory, new_page, write_host, write_page

AT = 1_800_000_000.0
CHANGES = 2_000.0  # seen on the host, so that the first guess of a host counts for nothing


def wait_of(*, taste: float, faster: float, rarer: float = 1.0) -> float:
    """Seconds until the next visit to a page of a host whose pages change every 20 days, in a world so many times as fast."""
    usual = 20 * DAY / faster
    page = new_page(AT, AT - 10 * usual)
    page.trust = [1.0, 0.0, 0.0]  # the other two experts count from an hour on, which no pace changes
    page.changes, page.exposure = [2.0] * 3, [2.0 * usual * rarer] * 3
    host = HostHistory([CHANGES] * 3, [CHANGES * usual] * 3, [0.0] * CLOCK)
    wait, _, _ = plan_adaptive(
        at=AT, changed=False, last_modified=None, promised=0.0, history=write_page(page),
        host_history=write_host(host), price=30.0 / faster, taste=taste, shortest=1.0, longest=20_000 * DAY, share=0.5,
    )  # fmt: skip
    return wait


@pytest.mark.parametrize("taste", [0.0, 0.5, 1.0])
def test_a_world_so_many_times_as_fast_is_visited_so_many_times_as_often(taste: float) -> None:
    for rarer in (0.2, 1.0, 5.0):
        slow, fast = (wait_of(taste=taste, faster=faster, rarer=rarer) for faster in (1.0, 20.0))
        assert 20 * fast == pytest.approx(slow, rel=0.02)


def test_with_versions_in_mind_busy_pages_gain_and_quiet_ones_lose() -> None:
    busy, quiet = (
        wait_of(taste=1.0, faster=20.0, rarer=rarer) / wait_of(taste=0.0, faster=20.0, rarer=rarer)
        for rarer in (0.2, 5.0)
    )
    assert busy < quiet

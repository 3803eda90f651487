"""What a host is doing follows from its times, the strongest reason first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rehi.model.host import HostState, HostTimes

NOW = datetime(2026, 3, 1, tzinfo=UTC)
AGO, SOON, LATER = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1), NOW + timedelta(hours=1)
READY = HostTimes(left_alone=False, leased_until=None, ready_at=AGO, not_before=AGO, why="it asked for that")


@pytest.mark.parametrize(
    ("times", "state", "ready_at", "why"),
    [
        (READY, HostState.READY, AGO, ""),
        (replace(READY, leased_until=SOON), HostState.VISITED, AGO, ""),
        (replace(READY, leased_until=AGO), HostState.READY, AGO, ""),
        (replace(READY, leased_until=SOON, left_alone=True), HostState.LEFT_ALONE, None, ""),
        (replace(READY, ready_at=None), HostState.IDLE, None, ""),
        (replace(READY, ready_at=LATER), HostState.IDLE, LATER, ""),
        (replace(READY, ready_at=SOON, not_before=SOON), HostState.WAITING, SOON, "it asked for that"),
        (replace(READY, ready_at=LATER, not_before=SOON), HostState.IDLE, LATER, ""),
        (replace(READY, group_until=SOON, pace_group="::1"), HostState.WAITING, SOON, "it shares its pace with other hosts (::1)"),
        (replace(READY, group_until=AGO), HostState.READY, AGO, ""),
    ],
)  # fmt: skip
def test_what_a_host_is_doing(times: HostTimes, state: HostState, ready_at: datetime | None, why: str) -> None:
    assert times.state_at(NOW) == (state, ready_at, why)

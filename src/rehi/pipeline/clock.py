"""The clock: the time by which a harvest goes. It never jumps, and notices when the machine's clock was set."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

JUMP = timedelta(seconds=30)  # what is less is followed: clocks are set in small steps all the time
_FOLLOW_SECONDS = 5.0  # between two looks
_SAME_TIME = timedelta(milliseconds=5)  # less than a query takes now and then


def steady_now() -> float:
    """Return seconds that pass evenly, whatever the clock says, also while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SharedClock:
    """A clock that goes with the catalogue's: workers on several machines keep a host's pace by the same time."""

    def __init__(
        self,
        ask: Callable[[], datetime],
        *,
        wall: Callable[[], datetime],
        steady: Callable[[], float] = steady_now,
    ) -> None:
        self._wall, self._steady = wall, steady
        self._look_at = self._began_at = steady()
        before, theirs, after = wall(), ask(), wall()
        ahead = theirs - (before + (after - before) / 2)
        self._ahead = timedelta() if abs(ahead) < _SAME_TIME else ahead
        self._began = before + self._ahead

    def __call__(self) -> datetime:
        """Return the time."""
        return self._began + timedelta(seconds=self._steady() - self._began_at)

    def look(self) -> timedelta | None:
        """Return by how much the machine's clock was set since the start, if that is much; what is little is followed."""
        steady = self._steady()
        if steady < self._look_at:
            return None
        self._look_at = steady + _FOLLOW_SECONDS
        drift = self._wall() + self._ahead - self()
        if abs(drift) >= JUMP:
            return drift
        self._began += drift
        return None

"""The clock of the practice web: it stands still, runs at any speed, or jumps ahead."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockState:
    """The time of the clock, and how fast it runs."""

    now: datetime
    speed: float  # seconds of the practice web in one of ours; 0 when it stands still


class WorldClock:
    """A clock that belongs to one practice web. Safe to use from several threads."""

    def __init__(
        self, *, start: datetime = START, speed: float = 0.0, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._ticks = ticks
        self._lock = threading.Lock()
        self._shown = start  # at the moment ``_since``
        self._since = ticks()
        self._speed = speed

    def now(self) -> datetime:
        """Return the time of the clock."""
        with self._lock:
            return self._read()

    def state(self) -> ClockState:
        """Return the time of the clock, and how fast it runs."""
        with self._lock:
            return ClockState(now=self._read(), speed=self._speed)

    def run(self, speed: float) -> None:
        """Run at this speed from now on."""
        if not 0 <= speed <= 1_000_000:
            raise ValueError("the clock's speed is a number from 0 to 1000000")
        with self._lock:
            self._settle()
            self._speed = speed

    def stop(self) -> None:
        """Stop the clock."""
        self.run(0.0)

    def advance(self, seconds: float) -> None:
        """Jump ahead; the clock never goes back."""
        if not 0 <= seconds <= 3_200_000_000:
            raise ValueError("the clock is advanced by 0 to 3200000000 seconds")
        with self._lock:
            self._settle()
            self._shown += timedelta(seconds=seconds)

    def _read(self) -> datetime:
        return self._shown + timedelta(seconds=(self._ticks() - self._since) * self._speed)

    def _settle(self) -> None:
        self._shown = self._read()
        self._since = self._ticks()

"""The clock: the time by which a harvest goes. It never jumps, and notices when the machine's clock was set.

What was dated by the wrong time is corrected then.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from rehi.errors import Disposition
from rehi.frontier import HouseLeaseRules
from rehi.model.problem import Problem, Stage
from rehi.pipeline.rooms import LEASE_SECONDS, Rooms

CLOCK_JUMPED = "clock-jumped"  # on the problems list
_MONTH = 30 * 86_400.0
_ADVICE = "See that the machine's clock is right. The next start strikes this out."
JUMP = timedelta(seconds=30)  # what is less is followed: clocks are set in small steps all the time
# Seconds that pass evenly, whatever the clock says, also while the machine sleeps.
_STEADY = partial(time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
_FOLLOW_SECONDS = 5.0  # between two looks
_SAME_TIME = timedelta(milliseconds=5)  # less than a query takes now and then

_log = logging.getLogger(__name__)


class SharedClock:
    """A clock that goes with the catalogue's: workers on several machines keep a host's pace by the same time."""

    def __init__(
        self,
        ask: Callable[[], datetime],
        *,
        wall: Callable[[], datetime],
        steady: Callable[[], float] = _STEADY,
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


@dataclass(slots=True)
class ClockWatch:
    """Compares the catalogue's last known time with the clock at the start, and the clock with itself after that."""

    _rooms: Rooms
    _say: Callable[[Problem], None]
    jumped: bool = False  # since the start

    def begin(self) -> None:
        """Shorten what waits for a time that lies too far ahead because the clock has gone back."""
        settings, now = self._rooms.settings, self._rooms.clock()
        longest = max(settings.revisit.longest, settings.fetch.robots_unreachable, _MONTH)
        rules = HouseLeaseRules(longest_rest=longest, longest_lease=LEASE_SECONDS)
        back = self._rooms.catalogue.settle_clock(worker=self._rooms.worker, rules=rules, now=now)
        if back:
            self._tell(-back)

    def look(self) -> bool:
        """Notice when the clock is set. The harvest goes on by the time that it began with, until it is begun again."""
        jump = None if self.jumped else self._rooms.clock.look()
        if jump is not None:
            if jump > timedelta():
                self._rooms.catalogue.forgive(by=jump)
            self.jumped = True
            self._tell(jump)
        return False

    def _tell(self, jump: timedelta) -> None:
        seconds, now = round(abs(jump.total_seconds())), self._rooms.clock()
        where = "ahead" if jump > timedelta() else "back"
        message = f"the clock was set {where} by {timedelta(seconds=seconds)}; rests, leases and grace periods go by what has passed"
        _log.warning("%s", message)
        self._say(
            Problem(
                stage=Stage.SERVICE,
                code=CLOCK_JUMPED,
                subject="clock",
                message=message,
                next_step=Disposition.SKIP,
                advice=_ADVICE,
                first_at=now,
                last_at=now,
            )
        )

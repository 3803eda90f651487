"""The clock watch: notices that the machine's clock was set, and has what was dated by the wrong time corrected."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from rehi.errors import Disposition
from rehi.model.problem import Problem, Stage
from rehi.pipeline.rooms import LEASE_SECONDS, Rooms

CLOCK_JUMPED = "clock-jumped"  # on the problems list
_MONTH = 30 * 86_400.0
_ADVICE = "See that the machine's clock is right. The next start strikes this out."

_log = logging.getLogger(__name__)


class ClockWatch:
    """Compares the catalogue's last known time with the clock at the start, and the clock with itself after that."""

    def __init__(self, rooms: Rooms, say: Callable[[Problem], None]) -> None:
        self._rooms, self._say = rooms, say
        self.jumped = False  # since the start

    def begin(self) -> None:
        """Shorten what waits for a time that lies too far ahead because the clock has gone back."""
        settings, now = self._rooms.settings, self._rooms.clock()
        longest = max(settings.revisit.longest, settings.fetch.robots_unreachable, _MONTH)
        back = self._rooms.catalogue.settle_clock(worker=self._rooms.worker, now=now, lease=LEASE_SECONDS, rest=longest)
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

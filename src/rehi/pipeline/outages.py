"""Outages: an engine that is away is waited for, in pauses that grow, and it is said.

A step of the wheel that finds its engine away is left alone for a while and done again. All others go on, so that a graph
that can't be written stops no visit. Every step can be repeated: it keeps what it had in hand until that is on record.
An outage is over when the engine itself has done something again, and then the step that was held back: a step that returns
may just have had nothing to do.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from rehi.errors import Disposition, RehiError
from rehi.model.outage import Outage, say
from rehi.model.problem import Problem, Stage
from rehi.pipeline.rooms import Progress

SHORTEST, LONGEST = 1.0, 15.0  # seconds until an engine is tried again: a quarter of the time that it has been away
LOOK_SECONDS = 0.1  # between two looks whether to stop
_ADVICE = "It was waited for, and everything has gone on. Nothing is lost."

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(slots=True)
class Outages:
    """The engines that are away now, and what is to be said of those that were."""

    clock: Callable[[], datetime]
    progress: Progress  # is told what is away
    probes: Mapping[str, Callable[[], object]] = field(default_factory=dict)  # by code: has the engine do something
    patience: float | None = None  # seconds after which an outage ends the harvest; None if it never does
    steady: Callable[[], float] = time.monotonic
    current: dict[str, Outage] = field(default_factory=dict)  # by code
    unlisted: list[Problem] = field(default_factory=list)  # what belongs on the problems list, and is not there yet
    over: bool = False  # since the last look, an engine has come back
    _began: dict[str, float] = field(default_factory=dict)
    _resting: dict[str, tuple[str, float]] = field(default_factory=dict)  # by step: the code, and until when

    def attempt(self, step: Callable[[], T], *, name: str = "") -> T | None:
        """Return what a step returns; None if its engine is away, or was so a moment ago."""
        name = name or step.__name__
        code, again_at = self._resting.get(name, ("", 0.0))
        if code and self.steady() < again_at:
            return None
        try:
            if code in self.probes:
                self.probes[code]()
            result = step()
        except RehiError as error:
            if error.disposition is not Disposition.WAIT:
                raise
            self._note(name, error)
            return None
        if code:
            self._end(code)
        return result

    def persist(self, work: Callable[[], object], *, stopped: Callable[[], bool]) -> None:
        """Do something that must be done before all else, as often as it takes."""

        def once() -> bool:
            work()
            return True

        while not self.attempt(once) and not stopped():
            time.sleep(LOOK_SECONDS)

    def _listed(self) -> Sequence[Outage]:
        """Return what is away now; the one that has been so for longest comes first."""
        return sorted(self.current.values(), key=lambda outage: outage.since)

    def _note(self, step: str, error: RehiError) -> None:
        now, steady = self.clock(), self.steady()
        known = self.current.get(error.code)
        if known is None:
            _log.warning("waiting, since %s", error)
            known = Outage.of(error, since=now)
            self._began[error.code] = steady
            self.unlisted.append(_problem(known, f"{known.message}, since {_moment(now)}", error.advice, now, count=1))
        else:
            known = replace(known, message=say(error), tries=known.tries + 1)
        self.current[error.code] = known
        self.progress.outages = self._listed()
        away = steady - self._began[error.code]
        if self.patience is not None and away >= self.patience:
            raise error
        before = self._resting.get(step, ("", 0.0))[0]
        self._resting[step] = (error.code, steady + min(max(away / 4, SHORTEST), LONGEST))
        if before and all(code != before for code, _ in self._resting.values()):
            self._end(before)  # the step has got beyond what it waited for, and nobody else waits for that

    def _end(self, code: str) -> None:
        """End an outage, since one step has found the engine back: none waits for it any more."""
        self._resting = {name: rest for name, rest in self._resting.items() if rest[0] != code}
        outage = self.current.pop(code, None)
        self.progress.outages = self._listed()
        if outage is None:
            return
        seconds = self.steady() - self._began.pop(code)
        _log.warning("it goes on after %.1f seconds: %s", seconds, outage.message)
        self.over = True
        message = f"{outage.message}: so it was for {seconds:.1f} seconds from {_moment(outage.since)} on"
        self.unlisted.append(_problem(outage, message, _ADVICE, self.clock(), count=0))  # it was counted when it began


def _problem(outage: Outage, message: str, advice: str, at: datetime, *, count: int) -> Problem:
    return Problem(
        stage=Stage.SERVICE,
        code=outage.code,
        subject=outage.code,
        message=message,
        next_step=Disposition.WAIT,
        advice=advice,
        count=count,
        first_at=outage.since,
        last_at=at,
    )


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"

"""The pace: how long a host rests after each answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

MOST_STRAIN = 64.0
_RELIEF = 0.8  # with each good answer: a host that was strained to the utmost is visited as before after 19 of them
_LEAST = 1.0  # the pause that strain multiplies, where there is hardly any


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Slower when a host answers slowly or says that it is overloaded, and faster again when it recovers."""

    own: float  # seconds that we rest by ourselves, or by an operator's order
    asked: float = 0.0  # seconds that the host asks for, capped
    slow_factor: float = 0.0  # a slow answer is followed by a pause so many times as long
    longest: float = 60.0  # no pause grows beyond this by itself
    strain: float = 1.0

    @property
    def usual(self) -> float:
        """The pause after an answer that took no time."""
        return self.pause_after(0.0)

    def pause_after(self, seconds: float) -> float:
        """How long to rest after an answer that took so long."""
        least = max(self.own, self.asked)
        pause = max(least, min(self.slow_factor * seconds, self.longest))
        strained = pause + (self.strain - 1.0) * max(pause, _LEAST)
        return max(least, min(strained, self.longest)) if self.strain > 1.0 else pause

    def asking(self, seconds: float) -> Pace:
        """The host asks for so long a pause."""
        return replace(self, asked=seconds)

    def tighten(self) -> Pace:
        """The host is overloaded."""
        return replace(self, strain=min(self.strain * 2, MOST_STRAIN))

    def relax(self) -> Pace:
        """The host has answered well."""
        if self.strain <= 1.0:
            return self
        strain = self.strain * _RELIEF
        return replace(self, strain=strain if strain > 1.0 else 1.0)

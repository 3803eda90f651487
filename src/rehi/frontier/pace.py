"""The pace: how long to pause after each answer of a host."""

from __future__ import annotations

from dataclasses import dataclass, replace

MOST_STRAIN = 64.0
_RELIEF = 0.8  # with each good answer: from the highest strain, a host is visited as before after 19 of them
_LEAST = 1.0  # seconds; a shorter pause counts as this long when strain multiplies it


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The pause between two requests to a host: longer while it is slow or overloaded, shorter again when it recovers."""

    own: float  # seconds of pause by the settings or an operator's order
    asked: float = 0.0  # seconds of pause that the host asks for (Crawl-delay), capped
    slow_factor: float = 0.0  # a slow answer is followed by a pause so many times as long
    longest: float = 60.0  # no pause grows beyond this by itself
    strain: float = 1.0  # factor of the pause, above 1 while the host is overloaded

    @property
    def usual(self) -> float:
        """The pause after an answer that took no time."""
        return self.pause_after(0.0)

    def pause_after(self, seconds: float) -> float:
        """Return the seconds to pause after an answer that took ``seconds``."""
        least = max(self.own, self.asked)
        pause = max(least, min(self.slow_factor * seconds, self.longest))
        strained = pause + (self.strain - 1.0) * max(pause, _LEAST)
        return max(least, min(strained, self.longest)) if self.strain > 1.0 else pause

    def asking(self, seconds: float) -> Pace:
        """Return the pace with the pause that the host asks for."""
        return replace(self, asked=seconds)

    def tighten(self) -> Pace:
        """Return the pace after an answer that says the host is overloaded."""
        return replace(self, strain=min(self.strain * 2, MOST_STRAIN))

    def relax(self) -> Pace:
        """Return the pace after a good answer."""
        if self.strain <= 1.0:
            return self
        strain = self.strain * _RELIEF
        return replace(self, strain=strain if strain > 1.0 else 1.0)

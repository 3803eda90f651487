"""The latency policy, for feeds: as often as its set-point says while a feed is active, ever more rarely if not."""

from __future__ import annotations

import struct

from rehi.frontier.policy import spread

_VERSION = 3
_FORM = struct.Struct("<Bddf")  # last visit, last change seen, mean seconds between changes
_SHORTEST, _LONGEST = 300.0, 43_200.0  # five minutes to twelve hours
_SHARE = 0.25  # a feed is asked four times between two changes, if its set-point does not ask for less
_LEARN = 0.3  # the newest interval's part in the mean


def plan_latency(
    *,
    at: float,
    changed: bool | None,
    setpoint: float,
    history: bytes,
    price: float,
    shortest: float,
    longest: float,
    share: float,
) -> tuple[float, bytes]:
    """Return the seconds until the next visit, and what to keep; ``price`` makes every interval so many times longer."""
    known = _read(history)
    if known is None or changed is None or at < known[0]:
        seen, mean = at, setpoint / _SHARE
    else:
        _, seen, mean = known
        if changed:
            mean += _LEARN * (at - seen - mean)
            seen = at
    quiet = max(mean, (at - seen) / 2)  # a feed that fell asleep is asked less before its next change
    wished = min(max(quiet * _SHARE, setpoint, _SHORTEST), max(_LONGEST, setpoint))
    wait = spread(wished * price, share=share, shortest=shortest, longest=longest)
    return wait, _FORM.pack(_VERSION, at, seen, min(mean, 1e12))


def _read(history: bytes) -> tuple[float, float, float] | None:
    if len(history) != _FORM.size or history[0] != _VERSION:
        return None
    _, visited, seen, mean = _FORM.unpack(history)
    return (visited, seen, mean) if 0 <= seen <= visited < 1e12 and 0 <= mean <= 1e12 else None

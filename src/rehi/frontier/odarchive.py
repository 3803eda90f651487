"""The rule of the ODArchive: the mean interval between new versions over the last visits, halved after a change."""

from __future__ import annotations

import struct

from rehi.frontier.policy import spread

_VERSION = 2
_SAMPLES = 5  # as in the thesis
_FIRST = 86_400.0  # until there is a sample
_FORM = struct.Struct(f"<BdB{_SAMPLES}f")  # last visit, bits of change (the newest lowest, a one in front), intervals


def plan_odarchive(
    *, at: float, changed: bool | None, history: bytes, price: float, shortest: float, longest: float, share: float
) -> tuple[float, bytes]:
    """Return the seconds until the next visit, and the samples to keep; ``price`` makes every interval so many times longer."""
    last, samples = _read(history)
    if changed is not None and last is not None and at > last:
        samples = [*samples, (changed, at - last)][-_SAMPLES:]
    interval = _mean(samples) if samples else _FIRST
    if changed:
        interval /= 2
    wait = spread(interval * price, share=share, shortest=shortest, longest=longest)
    return wait, _write(at, samples)


def _mean(samples: list[tuple[bool, float]]) -> float:
    """Return the mean over the intervals that begin with each new version."""
    runs: list[float] = []
    for changed, interval in samples:
        if changed or not runs:
            runs.append(interval)
        else:
            runs[-1] += interval
    return sum(runs) / len(runs)


def _read(history: bytes) -> tuple[float | None, list[tuple[bool, float]]]:
    if len(history) != _FORM.size or history[0] != _VERSION:
        return None, []
    _, last, bits, *intervals = _FORM.unpack(history)
    size = bits.bit_length() - 1
    if not 0 <= size <= _SAMPLES or not 0 <= last + sum(intervals) < 1e12 or min(intervals) < 0 or last < 0:
        return None, []
    return last, [(bool(bits >> (size - 1 - n) & 1), intervals[n]) for n in range(size)]


def _write(at: float, samples: list[tuple[bool, float]]) -> bytes:
    bits = 1
    for changed, _ in samples:
        bits = bits << 1 | changed
    intervals = [interval for _, interval in samples] + [0.0] * (_SAMPLES - len(samples))
    return _FORM.pack(_VERSION, at, bits, *intervals)

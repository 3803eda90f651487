"""The watch: how much processor time inputs of doubled sizes take, and whether that is out of proportion."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import process_time

from rehi.errors import RehiError
from tests.growth.shapes import Shape, smaller

TIMES, GROWTH = 4, 9.0  # times the size, and times the time: four is in proportion, sixteen the square
SMALLEST = 1_500  # bytes


@dataclass(frozen=True, slots=True)
class GrowthDoor:
    """Something that reads what others have written, with shapes of what comes in."""

    name: str
    read: Callable[[bytes], object]
    shapes: tuple[Shape, ...]
    most: int  # bytes that are tried: so many that a second is out of proportion
    dear: float = 12.0  # seconds for a million bytes that are too many, however they grow
    floor: float = 0.35  # seconds; what is done so quickly needs no proportion, and on a busy machine shows none


@dataclass(frozen=True, slots=True)
class Excess:
    """An input that takes too long."""

    door: GrowthDoor
    shape: Shape
    size: int
    seconds: float
    quarter: float  # seconds that a quarter of it takes

    def __str__(self) -> str:
        return f"{self.door.name}: {self.size:,} bytes took {self.seconds:.2f} s, a quarter of them {self.quarter:.2f} s: {self.shape}"


def seconds(door: GrowthDoor, shape: Shape, size: int, *, runs: int = 1) -> float:
    """Return the processor time of reading so many bytes, the least of some runs. An error of ours is an answer."""
    raw, least = shape.of(size), float("inf")
    for _ in range(runs):
        gc.collect(0)
        began = process_time()
        with suppress(RehiError):
            door.read(raw)
        least = min(least, process_time() - began)
    return least


def find_excess(door: GrowthDoor, shape: Shape, *, most: int) -> Excess | None:
    """Try larger and larger inputs, and return the first one that takes too long; None if none does."""
    size, before = min(SMALLEST, most), 0.0
    while True:
        took = seconds(door, shape, size)
        if before and took > door.floor and _is_excess(door, size, took, before):
            return confirm(door, shape, size)
        if size * TIMES > most or took * TIMES > 20 * door.floor:
            return None
        size, before = size * TIMES, took


def confirm(door: GrowthDoor, shape: Shape, size: int) -> Excess | None:
    """Measure again: others may have kept the machine busy, and something may have been loaded or have become another way."""
    took, half, quarter = (seconds(door, shape, at, runs=3) for at in (size, size // 2, size // TIMES))
    grows = took > GROWTH * quarter and took > 2.5 * half and half > 2.2 * quarter
    if took > door.floor and (grows or _is_dear(door, size, took)):
        return Excess(door, shape, size, took, quarter)
    return None


def shrink(excess: Excess, *, tries: int = 60) -> Excess:
    """Return an excess of as little as possible."""
    left = tries
    while left > 0:
        for shape in smaller(excess.shape):
            left -= 1
            took = seconds(excess.door, shape, excess.size)
            if (
                took > excess.door.floor
                and took > excess.seconds / 3
                and (found := confirm(excess.door, shape, excess.size))
            ):
                excess = found
                break
            if left <= 0:
                break
        else:
            break
    return excess


def _is_excess(door: GrowthDoor, size: int, took: float, quarter: float) -> bool:
    return took > GROWTH * quarter or _is_dear(door, size, took)


def _is_dear(door: GrowthDoor, size: int, took: float) -> bool:
    return took > door.dear * size / 1e6

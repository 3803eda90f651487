"""A draw: choices that look random, but are the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Choices that follow from a key alone, on every machine and version of Python."""

    def __init__(self, *key: object) -> None:
        self._key = "\x1f".join(str(part) for part in key)
        self._count = 0

    def number(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        self._count += 1
        digest = blake2b(f"{self._key}\x1f{self._count}".encode(), digest_size=8).digest()
        return low + int.from_bytes(digest, "big") % (high - low + 1)

    def pick(self, things: Sequence[T]) -> T:
        """Return one of these things."""
        return things[self.number(0, len(things) - 1)]

    def sample(self, things: Sequence[T], count: int) -> list[T]:
        """Return ``count`` of these things in any order, none twice; all of them if there are fewer."""
        left = list(things)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(count, len(left)))]

    def chance(self, percent: int) -> bool:
        """Return True in ``percent`` of a hundred cases."""
        return self.number(1, 100) <= percent

"""Waiting in tests: for what is needed, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0  # seconds after which a test takes it for a hang; no machine, however busy, should need them


def wait_until(condition: Callable[[], T], *, what: str, seconds: float = PATIENCE, pause: float = 0.02) -> T:
    """Return the first true value that ``condition`` returns; AssertionError with ``what`` if none comes in ``seconds``."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"it did not come to this in {seconds:g} seconds: {what}"
        time.sleep(pause)
    return value

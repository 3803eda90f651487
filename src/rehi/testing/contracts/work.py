"""Work for executors: what succeeds, fails, takes too much, and kills its process.

A module of its own, so that a worker which is to run it need not load a test framework within the task's time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rehi.errors import NotText
from rehi.testing.waiting import PATIENCE


def greet(name: str, *, mark: str = "!") -> str:
    """Work that succeeds."""
    return f"Tere, {name}{mark}"


def refuse(reason: str) -> None:
    """Work that raises one of our own errors."""
    raise NotText(reason)


def stumble() -> None:
    """Work that raises an ordinary error."""
    raise ValueError("no such number")


class Stubborn(Exception):
    """An error that can be pickled but not unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first)
        self.second = second


def raise_stubborn() -> None:
    """Work that raises an error which does not survive the journey."""
    raise Stubborn("one", "two")


def return_unpicklable() -> Any:
    """Work whose result can't travel."""
    return lambda: None


def hog(megabytes: int) -> int:
    """Work that takes memory, piece by piece; to touch it too would take a starved worker seconds."""
    held = [bytes(1 << 20) for _ in range(megabytes)]
    return len(held)


def sleep(seconds: float) -> float:
    """Work that takes its time."""
    time.sleep(seconds)
    return seconds


def mark_and_sleep(path: str, seconds: float, ballast: bytes = b"") -> float:
    """Work that leaves a file with its process's number when it begins, and takes its time."""
    part = Path(f"{path}.part")
    part.write_text(str(os.getpid()), encoding="ascii")
    part.rename(path)
    return sleep(seconds)


def die(number: int) -> None:
    """Work that kills its process by a signal."""
    os.kill(os.getpid(), number)
    time.sleep(PATIENCE)


def leave(code: int) -> None:
    """Work that ends its process without a word."""
    os._exit(code)


def ask_to_exit() -> None:
    """Work that thinks it is a program."""
    raise SystemExit(3)


def in_environment(environment: dict[str, str], work: Callable[..., Any], *args: Any) -> Any:
    """Work that needs what was put into the environment after the first worker was started."""
    os.environ.update(environment)
    return work(*args)

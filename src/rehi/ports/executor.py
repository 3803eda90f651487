"""Somewhere to run work that may go wrong."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Executor(Protocol):
    """Somewhere to run CPU work, where a crash, a hang or greed costs one task only."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start; the future raises ReaderCrashed, ReadTimeout or ReadTooLarge when the guard had to step in."""

    @property
    def workers(self) -> int:
        """How many run at once."""

    @property
    def restarts(self) -> int:
        """How often what runs tasks was lost as a whole, and brought again."""

    @property
    def trouble(self) -> str:
        """Why nothing can be run now, and what is submitted waits; empty if nothing is wrong."""

    def close(self) -> None:
        """Stop at once; what was running is lost."""

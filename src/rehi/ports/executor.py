"""An executor: runs work that may crash, hang or take too much memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Executor(Protocol):
    """Runs CPU work where a crash, a hang or greed costs one task only."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a task; its future raises ReaderCrashed, ReadTimeout or ReadTooLarge when the guard had to step in."""

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    @property
    def restarts(self) -> int:
        """How often what runs tasks was lost as a whole, and brought again."""

    @property
    def trouble(self) -> str:
        """Why nothing can be run now, and what is submitted waits; empty if nothing is wrong."""

    def close(self) -> None:
        """Stop at once; what was running is lost."""

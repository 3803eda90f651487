"""An executor that runs work where it is: for the walk, which must see every step in its own process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

from rehi.ports import Executor

P = ParamSpec("P")
T = TypeVar("T")


class OwnProcess:
    """Port ``Executor`` without processes and without guards."""

    workers = 1
    restarts = 0
    trouble = ""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do the work now; the future is done when it is returned."""
        future: Future[T] = Future()
        try:
            future.set_result(work(*args, **kwargs))
        except Exception as error:  # told to whoever holds the future, as every executor does
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing is running."""


def open_executor(uri: str, **_given: object) -> Executor:
    """Return the executor, whatever is asked for."""
    return OwnProcess()

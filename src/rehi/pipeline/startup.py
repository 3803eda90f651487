"""Startup: a harvest begins as soon as its engines answer, and says meanwhile what it waits for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from rehi.pipeline.outages import LOOK_SECONDS, Outages
from rehi.pipeline.rooms import Progress

if TYPE_CHECKING:
    from rehi.pipeline import Harvest


@contextmanager
def begin(
    open_harvest: Callable[[], AbstractContextManager[Harvest]],
    *,
    clock: Callable[[], datetime],
    progress: Progress,
    stopped: Callable[[], bool],
    patience: float | None = None,
    on_wait: Callable[[Progress], None] = lambda _: None,
) -> Iterator[Harvest | None]:
    """Give a harvest as soon as all engines that it needs answer; None if it was told to stop before.

    ``progress`` says what is away, and ``on_wait`` is called again and again meanwhile. After ``patience`` seconds the
    engine's error is raised; so is any other error at once.
    """
    outages = Outages(clock, progress, patience=patience)
    with ExitStack() as stack:
        opened: list[Harvest] = []

        def open_all() -> bool:
            opened.append(stack.enter_context(open_harvest()))
            return True

        while not outages.attempt(open_all) and not stopped():
            on_wait(progress)
            time.sleep(LOOK_SECONDS)
        if opened:
            opened[0].take_note(outages.unlisted)
        yield opened[0] if opened else None

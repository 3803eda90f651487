"""A harvest in the foreground: a bar while it goes, and a clean stop at Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from rehi.cli.progress import harvest_bar
from rehi.errors import EngineAway
from rehi.process import announce_end

if TYPE_CHECKING:
    from rehi.app import House
    from rehi.model.update import UpdateKind
    from rehi.pipeline import Harvest


def stop_on_signals() -> threading.Event:
    """Return an event that Ctrl-C and a polite kill set from now on, instead of ending the process where it stands."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        announce_end()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    return stop


def count_waiting(house: House) -> int:
    """Return how many pages are due; 0 while nobody can tell."""
    from rehi.operations.status import get_totals

    try:
        return get_totals(house).waiting
    except EngineAway:
        return 0


@contextmanager
def opened_harvest(house: House, *, stop: threading.Event, quiet: bool) -> Iterator[Harvest]:
    """Open a harvest; engines that are away are waited for as long as work.patience says, and Ctrl-C ends that."""
    from rehi.app import utc_now
    from rehi.pipeline import Progress
    from rehi.pipeline.startup import begin

    with (
        ExitStack() as waiting,
        begin(
            house.working,
            clock=utc_now,
            progress=Progress(),
            stopped=stop.is_set,
            patience=house.settings.work.patience,
            on_wait=waiting.enter_context(harvest_bar(quiet=quiet, waiting=lambda: 0)),
        ) as harvest,
    ):
        waiting.close()
        if harvest is None:
            raise KeyboardInterrupt
        yield harvest


def explain_rests(house: House) -> str:
    """Return until when hosts rest on which pages are due; empty if none does."""
    from rehi.app import utc_now
    from rehi.operations.status import get_totals

    waiting, ready = get_totals(house).waiting, house.catalogue.next_ready()
    if not waiting or ready is None or ready <= utc_now():
        return ""
    return (
        f"{waiting:,} pages are due on hosts that rest: the first may be visited at {ready:%Y-%m-%d %H:%M:%S} UTC. "
        "`rehi host` says why."
    )


def run_harvest(house: House, harvest: Harvest, *, kind: UpdateKind, stop: threading.Event, quiet: bool) -> None:
    """Visit what is due until nothing is left, or until told to stop."""
    with harvest_bar(quiet=quiet, waiting=partial(count_waiting, house)) as show:
        harvest.run(until_idle=True, stopped=stop.is_set, on_turn=show, kind=kind)

"""A harvest in the foreground: a bar while it goes, and a clean stop at Ctrl-C."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

from rehi.cli.progress import harvest_bar

if TYPE_CHECKING:
    from rehi.app import House
    from rehi.model.update import UpdateKind
    from rehi.pipeline import Harvest


def stop_on_signals() -> threading.Event:
    """Return an event that Ctrl-C and a polite kill set from now on, instead of ending the process where it stands."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    return stop


def run_harvest(house: House, harvest: Harvest, *, kind: UpdateKind, stop: threading.Event, quiet: bool) -> None:
    """Visit what is due until nothing is left, or until told to stop."""
    from rehi.app import utc_now

    def waiting() -> int:
        return house.catalogue.totals(now=utc_now()).waiting

    with harvest_bar(quiet=quiet, waiting=waiting) as show:
        harvest.run(until_idle=True, stopped=stop.is_set, on_turn=show, kind=kind)

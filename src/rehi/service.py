"""The service: sources are taken in and harvests run by themselves, while others look on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from rehi.app import House, utc_now
from rehi.errors import DataFolderBusy, EngineError, RehiError, SourceError
from rehi.model.source import SourceState
from rehi.model.update import UpdateKind
from rehi.operations.sources import read_in
from rehi.operations.status import ServiceStatus
from rehi.operations.updates import next_scheduled, order_update
from rehi.pipeline import Progress

SCHEDULE_SECONDS = 20.0  # how often it looks whether an update is due
IDLE_SECONDS = 1.0  # how often the intake looks for a source that someone else entered


@dataclass(slots=True)
class Service:
    """One harvest and one intake, each in a thread of its own, over one data folder."""

    house: House
    _stop: threading.Event = field(default_factory=threading.Event)
    _wanted: threading.Event = field(default_factory=threading.Event)
    _ready: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)
    _progress: Progress = field(default_factory=Progress)
    _reading: tuple[str, float] = ("", 0.0)
    _error: RehiError | None = None

    def start(self) -> None:
        """Begin; a folder that is busy, or an engine that does not answer, is raised here and not in a thread."""
        for work in (self._harvest, self._take_in):
            thread = threading.Thread(target=self._guard, args=(work,), name=f"rehi{work.__name__}", daemon=True)
            self._threads.append(thread)
        self._threads[0].start()
        self._ready.wait()
        if self._error is not None:
            raise self._error
        self._threads[1].start()

    def stop(self) -> None:
        """End cleanly: leases are given back and everything that arrived is kept."""
        self._stop.set()
        self._wanted.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=30)

    def start_source(self, source_id: int) -> None:
        """Have a waiting source taken in."""
        source = self.house.catalogue.source(source_id)
        if source.state in (SourceState.WAITING, SourceState.FAILED):
            self.house.catalogue.mark_source(source_id, SourceState.READING)
        self._wanted.set()

    @property
    def error(self) -> RehiError | None:
        """Why it stopped by itself, if it did."""
        return self._error

    @property
    def status(self) -> ServiceStatus:
        """What is being done now."""
        name, share = self._reading
        return ServiceStatus(
            running=any(thread.is_alive() for thread in self._threads) and self._error is None,
            counts=dict(self._progress.counts),
            seconds=dict(self._progress.seconds),
            reading=name,
            reading_share=share,
            error=str(self._error or ""),
        )

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except RehiError as error:
            self._error = error
            self._stop.set()
        except Exception as error:  # a fault of ours must not leave a page behind that says all is well
            logging.getLogger(__name__).exception("the service has failed")
            self._error = EngineError(f"it failed by a fault of its own: {type(error).__name__}: {error}")
            self._stop.set()
        finally:
            self._ready.set()

    def _harvest(self) -> None:
        with self.house.working() as harvest:
            self._progress = harvest.progress
            self._ready.set()
            harvest.run(until_idle=False, stopped=self._stop.is_set)

    def _take_in(self) -> None:
        catalogue, began = self.house.catalogue, utc_now()
        look_at = began
        while not self._stop.is_set():
            if utc_now() >= look_at:
                scheduled = next_scheduled(self.house, since=began)
                if scheduled is not None and scheduled <= utc_now():
                    order_update(self.house, kind=UpdateKind.SCHEDULED)
                look_at = utc_now() + timedelta(seconds=SCHEDULE_SECONDS)
            for source in catalogue.sources():
                if source.state is SourceState.READING and not self._stop.is_set():
                    size = max(1, source.size)

                    def show(done: int, name: str = source.name, size: int = size) -> None:
                        self._reading = (name, min(1.0, done / size))

                    show(0)
                    with suppress(SourceError, DataFolderBusy):  # on the problems list, or taken in by someone else
                        read_in(self.house, source.id, on_progress=show, cancelled=self._stop.is_set)
                    self._reading = ("", 0.0)
            self._wanted.wait(IDLE_SECONDS)
            self._wanted.clear()

"""The service: the harvest runs by itself, with all that sources bring, while others look on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rehi.app import House, utc_now
from rehi.errors import EngineAway, EngineError, RehiError
from rehi.model.update import UpdateKind
from rehi.operations.sources import enter
from rehi.operations.status import ServiceStatus
from rehi.operations.updates import next_scheduled, order_update
from rehi.pipeline import Harvest, Progress
from rehi.pipeline.startup import begin

_log = logging.getLogger(__name__)

SCHEDULE_SECONDS = 20.0  # how often it looks whether an update is due


@dataclass(slots=True)
class Service:
    """One harvest and one schedule of updates, each in a thread of its own, over one data folder."""

    house: House
    sources: list[str] = field(default_factory=list)  # files and URLs that are taken in first
    _stop: threading.Event = field(default_factory=threading.Event)
    _ready: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)
    _progress: Progress = field(default_factory=Progress)
    _error: RehiError | None = None

    def start(self) -> None:
        """Begin, as soon as the engines answer. A busy folder, or an engine that can't be used, is raised here and not in a thread."""
        for work in (self._harvest, self._keep_schedule):
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
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=30)

    def start_source(self, source_id: int) -> None:
        """Have a waiting source taken in."""
        self.house.catalogue.start_source(source_id, now=utc_now())

    @property
    def error(self) -> RehiError | None:
        """Why it stopped by itself, if it did."""
        return self._error

    @property
    def status(self) -> ServiceStatus:
        """What is being done now."""
        return ServiceStatus(
            running=any(thread.is_alive() for thread in self._threads) and self._error is None,
            counts=dict(self._progress.counts),
            seconds=dict(self._progress.seconds),
            reading=self._progress.reading,
            reading_share=self._progress.reading_share,
            error=str(self._error or ""),
            outages=self._progress.outages,
        )

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except RehiError as error:
            self._error = error
            self._stop.set()
        except Exception as error:  # a fault of ours must not leave a page behind that says all is well
            _log.exception("the service has failed")
            self._error = EngineError(f"it failed by a fault of its own: {type(error).__name__}: {error}")
            self._stop.set()
        finally:
            self._ready.set()

    def _harvest(self) -> None:
        while not self._stop.is_set():  # it is begun again when the clock was set
            with begin(
                self._open_all,
                clock=utc_now,
                progress=self._progress,
                stopped=self._stop.is_set,
                on_wait=lambda _: self._ready.set(),
            ) as harvest:
                if harvest is None:
                    return
                self._progress = harvest.progress
                self._ready.set()
                harvest.run(until_idle=False, stopped=self._stop.is_set)

    @contextmanager
    def _open_all(self) -> Iterator[Harvest]:
        """Open the harvest, and enter the sources that were given."""
        with self.house.working() as harvest:
            while self.sources:
                self.start_source(enter(self.house, self.sources[0]).id)
                del self.sources[0]
            yield harvest

    def _keep_schedule(self) -> None:
        """Order the updates that the settings ask for, when they are due, or when the catalogue is back."""
        began = utc_now()
        while True:
            try:
                scheduled = next_scheduled(self.house, since=began)
                if scheduled is not None and scheduled <= utc_now():
                    order_update(self.house, kind=UpdateKind.SCHEDULED)
            except EngineAway as error:  # the harvest says it, and waits for it too
                _log.info("no update is ordered now: %s", error)
            if self._stop.wait(SCHEDULE_SECONDS):
                return

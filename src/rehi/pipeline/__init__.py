"""The pipeline: the rooms connected, on one screen. Here alone it is decided on retry, skip and quarantine.

    lease ─▶ visit ─▶ keep ─▶ read ─▶ describe
    frontier  fetch   archive  extract, enrich, link   graph

Nothing is acknowledged before it is on disk: first the archive's records, then one catalogue transaction per batch,
then the graph from the outbox. Each step may be repeated, so a kill at any point costs only work.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from rehi.graph import describe_vocabulary
from rehi.pipeline.descriptions import Descriptions
from rehi.pipeline.readings import Readings
from rehi.pipeline.rooms import Progress, Rooms
from rehi.pipeline.visits import Visits

__all__ = ["Harvest", "Progress", "Rooms"]


class Harvest:
    """One worker's wheel through all rooms."""

    def __init__(self, rooms: Rooms) -> None:
        self.progress = Progress()
        self._rooms = rooms
        self._visits = Visits(rooms, self.progress)
        self._readings = Readings(rooms, self.progress)
        self._descriptions = Descriptions(rooms, self.progress)
        self._steps = (
            self._visits.lease,
            self._visits.visit,
            self._visits.keep,
            self._readings.read,
            self._descriptions.describe,
        )

    def run(
        self, *, until_idle: bool, stopped: Callable[[], bool], on_turn: Callable[[Progress], None] = lambda _: None
    ) -> None:
        """Turn the wheel until told to stop, or until nothing is left that is due now."""
        self._recover()
        try:
            while not stopped():
                for step in self._steps:
                    began = perf_counter()
                    if step():
                        self._stir()
                    self.progress.seconds[step.__name__] += perf_counter() - began
                on_turn(self.progress)
                if until_idle and self.settled and self._visits.is_dry:
                    break
        finally:
            self._leave()

    @property
    def settled(self) -> bool:
        """Whether all that has come so far is kept, read, described and published."""
        return self._visits.is_settled and self._readings.is_settled and self._descriptions.is_settled

    def _stir(self) -> None:
        """The catalogue has changed: there may be work for every room."""
        self._visits.stir()
        self._readings.stir()
        self._descriptions.stir()

    def _recover(self) -> None:
        """Enter what the archive holds beyond the catalogue, and take back what this worker held when it was killed."""
        rooms = self._rooms
        rooms.catalogue.forget_leases(worker=rooms.worker)
        rooms.derived.forget_tail(rooms.catalogue.known_end)
        self._visits.recover()
        rooms.graph.write([describe_vocabulary(rooms.settings.base)])
        rooms.graph.publish()

    def _leave(self) -> None:
        self._visits.leave()
        self._rooms.catalogue.forget_leases(worker=self._rooms.worker)
        self._rooms.graph.publish()

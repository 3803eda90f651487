"""The rooms that the pipeline connects, what a step of its wheel is, and what it says of its progress."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rehi.archive import Archive, DerivedFiles
from rehi.model.document import Reading
from rehi.model.outage import Outage
from rehi.ports import Catalogue, Executor, Graph
from rehi.settings import Settings

if TYPE_CHECKING:
    from rehi.pipeline.clock import SharedClock
    from rehi.pipeline.discovery import Discovery

BATCH = 200  # visits or readings per transaction
BATCH_BYTES = 16_000_000  # of bodies in a batch: what waits to be kept lies in memory
BATCH_SECONDS = 0.5  # nothing waits longer than this to be acknowledged
LEASE_SECONDS = 600.0
DRY_SECONDS = 0.5  # how long an empty list is left alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """What the pipeline connects."""

    settings: Settings
    worker: str
    clock: SharedClock
    catalogue: Catalogue
    archive: Archive
    derived: DerivedFiles
    graph: Graph
    graph_owner: str  # the other worker that alone writes the graph; empty if this one does
    executor: Executor
    open_archive: Callable[[], Archive]  # for other processes; pickles
    reading_of: Callable[[int], Reading]  # what a document shows, made again from the archive if its text is not here
    spool: Path  # for bodies that are too large for memory
    discovery: Discovery


@dataclass(slots=True)
class Progress:
    """What has happened since the start, for bars and pages."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    reading: str = ""  # the source that is being read
    reading_share: float = 0.0  # of it, that is done
    outages: Sequence[Outage] = ()  # engines that are away and waited for


class Step:
    """A step of the wheel. It looks for its work in the catalogue: at once when there may be some, else now and then."""

    def __init__(self, rooms: Rooms, progress: Progress) -> None:
        self._rooms, self._progress = rooms, progress
        self._look_at = rooms.clock()
        self._dry = False  # whether the last look found nothing

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way here, and nothing waits."""
        return self._dry

    def stir(self) -> None:
        """Look at once: another step has brought something."""
        self._dry = False
        self._look_at = self._rooms.clock()

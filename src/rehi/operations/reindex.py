"""Reindex: the catalogue's index made anew from the archive's files alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from rehi.app import House, lock_folder, utc_now
from rehi.archive import DamagedPart, KeptVisit, TornPart, WholeRecord, is_tombstone
from rehi.errors import SettingsError
from rehi.frontier import VISIT_RULES, zone_of
from rehi.model.problem import Problem
from rehi.operations.retention import apply_tombstone
from rehi.pipeline.judgement import Judge, complaint

BATCH = 500  # visits in a transaction


@dataclass(slots=True)
class Reindexed:
    """The result of a reindex: what was read from the files."""

    files: int = 0
    records: int = 0
    visits: int = 0
    versions: int = 0  # that the catalogue did not know
    damaged: int = 0
    bytes: int = 0


def set_catalogue_aside(house: House, *, locked: bool = False) -> Path:
    """Give the embedded catalogue another name, so that a new one is begun; SettingsError for any other.

    ``locked`` says that this process has the folder for itself already.
    """
    path = house.settings.data / "catalogue.db"
    if house.settings.catalogue_uri != f"sqlite:///{house.settings.data.resolve()}/catalogue.db":
        raise SettingsError("only the embedded catalogue can be begun anew; name an empty database instead")
    with nullcontext() if locked else lock_folder(house.settings.data):
        aside = path.with_name(f"catalogue-{utc_now():%Y%m%d%H%M%S}.db")
        for suffix in ("-wal", "-shm", ""):
            before = path.with_name(path.name + suffix)
            if before.exists():
                before.rename(aside.with_name(aside.name + suffix))
    return aside


def reindex(house: House, *, on_progress: Callable[[int], None] = lambda _: None) -> Reindexed:
    """Go through all files and enter what the catalogue does not know yet. What it knows stays as it is."""
    with ExitStack() as stack:
        for name in ("compact.lock", "intake.lock", "lock"):
            stack.enter_context(lock_folder(house.settings.data, name=name))
        house.begin_catalogue()
        before = house.catalogue.totals(now=utc_now()).versions
        run = _Run(house)
        for item in run.through(on_progress):
            run.take(item)
        run.finish()
        run.done.versions = house.catalogue.totals(now=utc_now()).versions - before
    return run.done


class _Run:
    """One reindex, from the first file to the last."""

    def __init__(self, house: House) -> None:
        self.done = Reindexed()
        self._house, self._catalogue = house, house.catalogue
        self._judge = Judge(house.archive, house.catalogue, settings=house.settings, time_zone=zone_of(house.settings))
        self._batch: list[KeptVisit] = []
        self._later: list[KeptVisit] = []  # visits that repeat bytes which lie further on, or nowhere any more
        self._tombstones: list[WholeRecord] = []

    def through(self, on_progress: Callable[[int], None]) -> Iterator[WholeRecord | DamagedPart]:
        """Yield all records of all files."""
        for walk in self._house.archive.walks():
            for item in walk.records():
                yield item
                on_progress(self.done.bytes + item.ref.end)
            self.done.files += 1
            self.done.bytes += walk.size

    def take(self, item: WholeRecord | DamagedPart) -> None:
        """Keep a record in mind until there is a batch of them; damaged parts go on the problems list."""
        if isinstance(item, DamagedPart):
            self.done.damaged += 1
            self._catalogue.note([_complaint(item)])
            return
        self.done.records += 1
        if is_tombstone(item.fields):
            self._tombstones.append(item)
        elif item.kept is not None:
            self.done.visits += 1
            self._batch.append(item.kept)
            if len(self._batch) >= BATCH:
                self._enter()

    def finish(self) -> None:
        """Enter what waits, and let go again of what was dropped."""
        self._enter()
        for start in range(0, len(self._later), BATCH):
            self._record(self._later[start : start + BATCH])
        for tombstone in self._tombstones:
            apply_tombstone(self._house, tombstone)

    def _enter(self) -> None:
        batch, self._batch = self._batch, []
        new = {item.digest for item in batch if not item.revisit}
        known = new.union(self._catalogue.find_bodies(item.digest for item in batch))
        self._later += [item for item in batch if item.digest not in known]
        self._record([item for item in batch if item.digest in known])

    def _record(self, kept: Sequence[KeptVisit]) -> None:
        """Record visits; those of crawls made elsewhere don't make their pages due."""
        visited = [
            replace(seen, next_at=None) if seen.record is not None and "-import-" in seen.record.file else seen
            for seen in self._judge.remember(kept)
        ]
        self._catalogue.record(visited, [], rules=VISIT_RULES, worker=self._house.worker, now=utc_now())


def _complaint(bad: DamagedPart) -> Problem:
    place = bad.ref
    torn = TornPart(file=place.file, offset=place.offset, length=place.length, set_aside=False, why=bad.why)
    return complaint(torn, utc_now())

"""Restoring: a house from a backup, all of it or some of its parts, with which a harvest goes on.

All of it is put together in a folder beside the data folder, which gets its name at the end: a restore that was broken off
is no house, and the next one goes on with what it has. Parts are put into a house that is there. What they replace is set
aside and never deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rehi.app import House, lock_folder, utc_now
from rehi.backup import Backup, BackupFile, BackupPart, Repository
from rehi.errors import DataFolderBusy, EngineError, SettingsError
from rehi.frontier import HouseLeaseRules
from rehi.graph import compare_marks, mark_graph, read_mark
from rehi.model.generation import GraphCondition
from rehi.operations.reindex import set_catalogue_aside
from rehi.operations.restored_files import FileRestorer
from rehi.operations.workers import SILENT, describe_anew
from rehi.settings import Settings

LOCKS = ("compact.lock", "prune.lock", "intake.lock", "lock")
ALL = frozenset(BackupPart)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was restored."""

    backup: int
    data: Path
    worker: str
    parts: tuple[str, ...]
    files: int  # that were written
    kept: int  # that were there as they should be
    left_in_bucket: int  # that the archive's own bucket still has
    bytes: int
    aside: Path | None  # where what was there before is
    graph_anew: bool  # whether the next harvest writes the graph again
    notes: tuple[str, ...] = ()


def restore_house(
    settings: Settings,
    repository: Repository,
    backup: Backup,
    *,
    force: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Restored:
    """Restore all of a backup as the data folder; SettingsError if there is one that is not empty, unless ``force`` moves it aside."""
    data = settings.data.resolve()
    staging, aside = data.with_name(f"{data.name}.restoring"), data.with_name(f"{data.name}-{utc_now():%Y%m%d%H%M%S}")
    occupied = data.is_dir() and any(data.iterdir())
    if occupied and not force:
        raise SettingsError(f"{data} is not empty: name another folder with --to, or use --force, which moves it aside")
    with ExitStack() as stack:
        if occupied:
            stack.enter_context(_alone(data))
        staging.mkdir(parents=True, exist_ok=True)
        stack.enter_context(lock_folder(staging))
        run = _RestoreRun(
            settings.model_copy(update={"data": staging}), repository, backup, staging / "aside", on_progress
        )
        run.restore(ALL)
        if occupied:
            data.rename(aside)
        elif data.is_dir():
            data.rmdir()
        (staging / "lock").unlink()
        staging.rename(data)
    return run.result(data, ALL, aside if occupied else None)


def restore_parts(
    settings: Settings,
    repository: Repository,
    backup: Backup,
    parts: Collection[str],
    *,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Restored:
    """Restore some parts of a house, in which nobody may be working; what they replace is set aside."""
    data, chosen = settings.data.resolve(), frozenset(map(BackupPart, parts))
    data.mkdir(parents=True, exist_ok=True)
    aside = data / "aside" / f"{utc_now():%Y%m%d%H%M%S}"
    with _alone(data):
        run = _RestoreRun(settings, repository, backup, aside, on_progress)
        run.check_worker()
        run.restore(chosen)
    return run.result(data, chosen, aside if aside.exists() else None)


def _without_marks(house: House) -> bool:
    """Whether nobody can tell by its mark what a graph holds: it is on a server, or of a version that gave it none."""
    return house.graph.shared or house.catalogue.graph_record().mark is None


def _is_whole(house: House) -> bool:
    """Whether the graph bears the mark that the catalogue knows, by which a harvest and the doctor judge it."""
    try:
        mark = read_mark(house.graph.read(mark_graph(house.settings.base)))
    except EngineError:
        return False
    return compare_marks(house.catalogue.graph_record(), mark, size=0, shared=False) is GraphCondition.WHOLE


@contextmanager
def _alone(data: Path) -> Iterator[None]:
    with ExitStack() as stack:
        for name in LOCKS:
            stack.enter_context(lock_folder(data, name=name))
        yield


class _RestoreRun:
    """One restore while it goes on."""

    def __init__(
        self,
        settings: Settings,
        repository: Repository,
        backup: Backup,
        aside: Path,
        on_progress: Callable[[int], None],
    ) -> None:
        self._settings, self._repository, self._backup = settings, repository, backup
        self._on_progress = on_progress
        self._files = FileRestorer(repository, aside)
        self._left = self._done = 0
        self._graph_anew = False

    def check_worker(self) -> None:
        """Raise SettingsError if the folder is another worker's, and DataFolderBusy if the worker lives elsewhere."""
        name, path = self._backup.worker, self._settings.data / "worker"
        if path.exists() and (mine := path.read_text(encoding="ascii").strip()) != name:
            raise SettingsError(
                f"this data folder is the worker {mine}'s, and the backup is {name}'s: name the right one"
            )
        if self._settings.catalogue and not path.exists():
            with House(self._settings) as house:
                catalogue = house.begin_catalogue()
                now = catalogue.clock()
                alive = [one for one in catalogue.workers(now=now) if one.ended_at is None]
            if any(one.name == name and now - one.seen_at < SILENT for one in alive):
                raise DataFolderBusy(
                    f"the worker {name} gave a sign of life just now: stop it before another takes its name"
                )

    def restore(self, parts: frozenset[BackupPart]) -> None:
        """Restore these parts; the catalogue comes last, so that it never knows more than there is."""
        files = [file for file in self._repository.files(self._backup) if file.part in parts]
        data = self._settings.data
        worker = data / "worker"
        if not worker.exists():
            worker.write_text(self._backup.worker, encoding="ascii")
        with House(self._settings) as house:
            if BackupPart.CATALOGUE in parts and self._settings.catalogue and house.begin_catalogue().known_files():
                raise SettingsError("the catalogue that the settings name is not empty: name an empty database")
            self._restore_shelves(
                house, [file for file in files if file.part in (BackupPart.ARCHIVE, BackupPart.DERIVED)]
            )
            self._restore_files(data / "sources", [file for file in files if file.part is BackupPart.SOURCES])
            graph = [file for file in files if file.part is BackupPart.GRAPH]
            self._restore_graph(house, graph, drop=BackupPart.CATALOGUE in parts)
        if BackupPart.CATALOGUE in parts:
            self._restore_catalogue([file for file in files if file.part is BackupPart.CATALOGUE])
        if parts & {BackupPart.CATALOGUE, BackupPart.GRAPH}:
            self._settle(parts, with_graph=bool(graph))

    def result(self, data: Path, parts: Collection[BackupPart], aside: Path | None) -> Restored:
        """Return what was done."""
        counts = self._files.counts
        return Restored(
            backup=self._backup.number,
            data=data,
            worker=self._backup.worker,
            parts=tuple(part.value for part in BackupPart if part in parts),
            files=counts.written,
            kept=counts.kept,
            left_in_bucket=self._left,
            bytes=counts.bytes,
            aside=aside,
            graph_anew=self._graph_anew,
            notes=self._backup.notes,
        )

    def _restore_shelves(self, house: House, files: list[BackupFile]) -> None:
        """Restore the archive's and the derived files, but for those that the archive's own bucket still has."""
        folders = {BackupPart.ARCHIVE: house.archive_folder, BackupPart.DERIVED: self._settings.data / "derived"}
        for part, shelf in ((BackupPart.ARCHIVE, house.open_files()), (BackupPart.DERIVED, house.open_derived())):
            wanted = [file for file in files if file.part is part]
            in_bucket = dict(shelf.files()) if wanted and shelf.shared else {}
            for file in wanted:
                if in_bucket.get(file.path) == file.size and not (folders[part] / file.path).exists():
                    self._left += 1
                    self._count(file)
                else:
                    self._restore_files(folders[part], [file])

    def _restore_files(self, folder: Path, files: list[BackupFile]) -> None:
        for file in files:
            self._files.restore(file, folder)
            self._count(file)

    def _restore_graph(self, house: House, files: list[BackupFile], *, drop: bool) -> None:
        """Put the graph in its place; one that does not go with the catalogue any more is set aside to be written again."""
        if house.graph.shared or not (files or drop):
            return
        place = self._settings.data / "graph.restoring"
        place.mkdir(exist_ok=True)
        self._restore_files(place, files)
        house.graph.restore(place)

    def _restore_catalogue(self, files: list[BackupFile]) -> None:
        if (self._settings.data / "catalogue.db").exists() and not self._settings.catalogue:
            with House(self._settings) as house:
                set_catalogue_aside(house, locked=True)
        with House(self._settings) as house:
            catalogue = house.begin_catalogue()
            catalogue.load_dump((file.path, self._repository.read(file)) for file in files)
        for file in files:
            self._count(file)

    def _settle(self, parts: frozenset[BackupPart], *, with_graph: bool) -> None:
        """Forget what workers held when the backup was made, and have the graph written again if it is not the catalogue's."""
        with House(self._settings) as house:
            now = house.catalogue.clock()
            for one in house.catalogue.workers(now=now) if BackupPart.CATALOGUE in parts else ():
                house.catalogue.forget_leases(
                    worker=one.name, rules=HouseLeaseRules(least_rest=self._settings.fetch.delay), now=now
                )
            whole = parts == ALL and with_graph and self._backup.graph_is_current
            self._graph_anew = not (whole if _without_marks(house) else _is_whole(house))
            if self._graph_anew:
                describe_anew(house)

    def _count(self, file: BackupFile) -> None:
        self._done += file.size
        self._on_progress(self._done)

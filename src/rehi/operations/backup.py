"""A backup: catalogue, archive, derived files and graph as they were at one moment, while a harvest goes on.

The catalogue is dumped first, in one transaction; the archive's files, the derived ones and the graph come after it. Each may
be ahead of the catalogue then, as it may be after a kill, and none behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from rehi import __version__
from rehi.app import House, lock_folder, utc_now
from rehi.app.places import open_repository
from rehi.archive import is_derived
from rehi.backup import Backup, BackupFile, BackupPart, BackupWriter, Repository, writing
from rehi.backup.chunk import cut
from rehi.errors import BackupDamaged, NotFound, RecordMissing, SettingsError
from rehi.model.inventory import KnownFile
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.model.version import RecordRef
from rehi.operations.backup_files import TORN, ListedFile, ShelfListing, plain_files
from rehi.ports import ShelfEngine
from rehi.settings import describe_settings

LOCKS = ("compact.lock", "prune.lock")  # no file may be replaced meanwhile
_PACKED = (".gz", ".zst", ".sst")
_TRIES = 5  # lists of a bucket, when files go while they are copied


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupResult:
    """What a backup came to."""

    backup: Backup
    where: str
    reused_files: int  # that were not even read, since they have not changed
    seconds: float


def make_backup(
    house: House,
    place: str,
    *,
    read_all: bool = False,
    with_bucket: bool = True,
    on_progress: Callable[[int], None] = lambda _: None,
) -> BackupResult:
    """Back the house up to a folder or a bucket, and return what was stored; only what is new there takes room.

    ``read_all`` reads files again whose size and time have not changed. Without ``with_bucket``, what is safe in the archive's
    own bucket is left there.
    """
    began, settings = monotonic(), house.settings
    if "://" not in place:
        _check_apart(house, place)
    repository = open_repository(place, settings.archive)
    with ExitStack() as stack:
        for name in LOCKS:
            stack.enter_context(lock_folder(settings.data, name=name))
        writer = stack.enter_context(writing(repository, utc_now))
        run = _BackupRun(house, writer, _last_files(repository, house.worker), read_all, on_progress)
        shelves = {BackupPart.ARCHIVE: house.open_files(), BackupPart.DERIVED: house.open_derived()}
        for shelf in shelves.values():
            stack.enter_context(closing(shelf))
        run.copy_all(shelves, with_bucket=with_bucket)
        backup = writer.finish(run.describe, now=utc_now())
    return BackupResult(
        backup=backup, where=repository.where, reused_files=run.reused, seconds=round(monotonic() - began, 3)
    )


def backup_size(house: House) -> int:
    """Return about how many bytes a backup reads, if it reads all."""
    sizes = [size for shelf in (house.open_files(), house.open_derived()) for _, size in shelf.files()]
    return sum(sizes)


def _check_apart(house: House, place: str) -> None:
    target, data = Path(place).resolve(), house.settings.data.resolve()
    if target == data or data in target.parents or target in data.parents:
        raise SettingsError(
            f"{place} and the data folder {data} lie in each other: what destroys one must spare the other"
        )


def _last_files(repository: Repository, worker: str) -> dict[tuple[BackupPart, str], BackupFile]:
    """Return the files of this worker's last backup, which need not be read again; none if it is damaged."""
    with suppress(NotFound, BackupDamaged):
        return {(file.part, file.path): file for file in repository.files(repository.newest(worker=worker))}
    return {}


class _BackupRun:
    """One backup while it is made."""

    def __init__(
        self,
        house: House,
        writer: BackupWriter,
        last: Mapping[tuple[BackupPart, str], BackupFile],
        read_all: bool,
        on_progress: Callable[[int], None],
    ) -> None:
        self._house, self._writer, self._last, self._on_progress = house, writer, last, on_progress
        self._read_all = read_all
        self._notes: list[str] = []
        self._bytes = self.reused = 0
        self._graph_is_current = False

    def copy_all(self, shelves: Mapping[BackupPart, ShelfEngine], *, with_bucket: bool) -> None:
        """Copy everything, in the order in which nothing can be behind the catalogue."""
        house = self._house
        folders = {BackupPart.ARCHIVE: house.archive_folder, BackupPart.DERIVED: house.settings.data / "derived"}
        listings = {part: ShelfListing.of(part, folders[part], shelf) for part, shelf in shelves.items()}
        with house.catalogue.dump() as files:
            published = self._published()  # what is published after this knows all that is dumped
            for name, pieces in files:
                self._writer.add(BackupPart.CATALOGUE, name, self._counted(pieces))
        known_files = house.catalogue.known_files()
        known_ends = {file.name: file.known_end for file in known_files}
        for part, shelf in shelves.items():
            self._copy_shelf(listings[part], shelf, known_ends, with_bucket=with_bucket)
            self._copy_plain(plain_files(part, folders[part], below=TORN))
        self._copy_plain(plain_files(BackupPart.SOURCES, house.settings.data / "sources"))
        self._copy_graph(published)
        self._note_damage(known_files, listings[BackupPart.ARCHIVE])

    def describe(self, backup: Backup) -> Backup:
        """Return the backup with what the house knows of it."""
        rows = describe_settings(self._house.settings)
        return replace(
            backup,
            rehi=__version__,
            worker=self._house.worker,
            graph_is_current=self._graph_is_current,
            settings={row.name: _shown(row.value) for row in rows if row.value not in (row.default, "", [])},
            notes=tuple(self._notes),
        )

    def _copy_shelf(
        self, listing: ShelfListing, shelf: ShelfEngine, known_ends: Mapping[str, int], *, with_bucket: bool
    ) -> None:
        """Copy the files of a shelf, and those that replace them while another worker compacts a shared bucket."""
        sizes = dict(shelf.files())
        waiting = listing.choose(known_ends, sizes)
        seen: set[str] = set()
        for _ in range(_TRIES):
            gone = [file for file in waiting if (file.local or with_bucket) and not self._copy(file, shelf)]
            seen.update(file.name for file in waiting)
            if not gone or not shelf.shared:
                break
            later = ShelfListing.of(listing.part, listing.folder, shelf)
            waiting = [file for file in later.choose({}, later.sizes) if file.sealed and file.name not in seen]
        if shelf.shared:
            gone = [file for file in gone if file.name in dict(shelf.files())]
        self._note_unreadable(gone)

    def _copy(self, file: ListedFile, shelf: ShelfEngine | None = None) -> bool:
        """Copy a file, or take it over from the last backup; return whether it could be had."""
        last, modified = self._last.get((file.part, file.name)), file.modified
        if last is not None and not self._read_all and _is_unchanged(file, last) and self._take_over(last):
            return True
        try:
            with shelf.open(RecordRef(file.name, 0, file.end)) if shelf else file.open() as stream:
                self._add(file, stream, modified)
        except (RecordMissing, OSError):
            if last is None or not self._take_over(last):
                return False
            self._notes.append(f"{file.part}/{file.name} can't be read: this backup has it as it was in the last one")
        return True

    def _copy_plain(self, files: list[ListedFile]) -> None:
        self._note_unreadable([file for file in files if not self._copy(file)])

    def _note_unreadable(self, files: list[ListedFile]) -> None:
        self._notes += [f"{file.part}/{file.name} can't be read, and is not in this backup" for file in files]

    def _add(self, file: ListedFile, stream: BinaryIO, modified: int) -> None:
        packed = file.name.endswith(_PACKED)
        pieces = self._counted(cut(stream, file.end))
        self._writer.add(file.part, file.name, pieces, modified=modified, sealed=file.sealed, packed=packed)

    def _take_over(self, last: BackupFile) -> bool:
        if not self._writer.add_again(last):
            return False
        self.reused += 1
        self._count(last.size)
        return True

    def _published(self) -> int:
        with self._house.graph.hold_published() as files:
            return files.number if files else 0

    def _copy_graph(self, published: int) -> None:
        """Copy what was last published. It is current if that was after the dump, or nobody has written since."""
        house = self._house
        if house.graph.shared:
            self._notes.append(
                "the graph is on a server, and not in this backup: it is written again from the catalogue"
            )
            return
        if owner := house.graph_owner:
            self._notes.append(f"the graph lies with the worker {owner}, and is not in this backup")
            return
        now = house.catalogue.clock()
        stopped = [one.name for one in house.catalogue.workers(now=now) if one.ended_at is not None]
        with house.graph.hold_published() as files:
            if files is None:
                return
            self._graph_is_current = files.number > published or house.worker in stopped
            self._copy_plain(plain_files(BackupPart.GRAPH, files.folder))

    def _note_damage(self, known_files: Sequence[KnownFile], listing: ShelfListing) -> None:
        """Say what is wrong in the archive as far as it is known; it is backed up as it is, and what is gone as it was."""
        house = self._house
        for file in known_files:
            if is_derived(file.name) or file.owner not in ("", house.worker):
                continue
            name = f"archive/{file.name}"
            if file.name in listing.sizes:
                if listing.sizes[file.name] < file.known_end:
                    self._notes.append(f"{name} is shorter than the catalogue says")
            elif not house.archive.has_file(file.name):
                last = self._last.get((BackupPart.ARCHIVE, file.name))
                again = last is not None and self._take_over(last)
                self._notes.append(
                    f"{name} is gone: this backup has {'it as it was in the last one' if again else 'no copy'}"
                )
        _, classes = house.catalogue.problems(stage=Stage.ARCHIVE, page=Page(limit=1))
        bad = sum(one.problems for one in classes)
        if bad:
            self._notes.append(
                f"{bad:,} places in the archive are on the problems list; they are backed up as they are"
            )

    def _counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._count(len(piece))
            yield piece

    def _count(self, size: int) -> None:
        self._bytes += size
        self._on_progress(self._bytes)


def _is_unchanged(file: ListedFile, last: BackupFile) -> bool:
    """Whether a file is as it was: by its size and time, or by its size if nothing is ever appended to it."""
    if (last.size, last.modified) != (file.end, file.modified):
        return False
    return bool(last.modified) or (file.sealed and last.sealed)


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | list | dict) else str(value)

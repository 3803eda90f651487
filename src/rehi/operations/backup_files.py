"""The files of a backup: which of a shelf's files belong to it, and how much of each.

The archive is written before the catalogue. So what the catalogue knows is in the files, and what lies beyond the ends that
it knows may be half a record. Files are listed before the catalogue is dumped, and their known ends are asked for after
that: what was sealed by then is taken whole, what is appended to is taken up to its known end, and what came later is left to
the next backup. So all that the dump knows is there, and records that it does not know yet are whole, and found when the
restored house starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rehi.archive.seal import index_name
from rehi.archive.tombstone import tombstone_files
from rehi.archive.walk import SUFFIX
from rehi.backup import BackupPart
from rehi.ports import Shelf

TORN = "torn"  # below a part's folder: tails that were set aside


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file that belongs to a backup."""

    part: BackupPart
    name: str
    end: int  # how much of it is taken
    sealed: bool  # nothing is ever appended to it
    local: Path | None  # None if it is in a bucket only

    def open(self) -> BinaryIO:
        """Open a file that lies in this house's own folder."""
        if self.local is None:
            raise FileNotFoundError(self.name)
        return self.local.open("rb")

    @property
    def modified(self) -> int:
        """When it was last changed, in nanoseconds; 0 if nobody knows."""
        try:
            return self.local.stat().st_mtime_ns if self.local else 0
        except OSError:
            return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfListing:
    """The files of a shelf at a moment."""

    part: BackupPart
    folder: Path
    sizes: Mapping[str, int]
    open: frozenset[str]  # files to which somebody may append

    @classmethod
    def of(cls, part: BackupPart, folder: Path, shelf: Shelf) -> ShelfListing:
        """List the files of a shelf now."""
        sizes = dict(shelf.files())
        whole = {file for file, _ in tombstone_files(shelf)}
        appended = (file for file in sizes if file.endswith(SUFFIX) and file not in whole)
        if part is BackupPart.ARCHIVE:
            appended = (file for file in appended if index_name(file) not in sizes)
        return cls(part=part, folder=folder, sizes=sizes, open=frozenset(appended))

    def choose(self, known_ends: Mapping[str, int], sizes: Mapping[str, int]) -> list[ListedFile]:
        """Return the files that belong to a backup, by their ends as the catalogue knows them and their sizes now."""
        begun = {name for name in sizes if name not in self.sizes and known_ends.get(name)}  # since the listing
        chosen = []
        for name in sorted(self.sizes.keys() | begun):
            is_open = name in self.open or name in begun
            whole = self.sizes.get(name, 0)
            path = self.folder / name
            chosen.append(
                ListedFile(
                    part=self.part,
                    name=name,
                    end=min(known_ends.get(name) or whole, sizes.get(name, whole)) if is_open else whole,
                    sealed=not is_open,
                    local=path if path.exists() else None,
                )
            )
        return chosen


def plain_files(part: BackupPart, folder: Path, *, below: str = "") -> list[ListedFile]:
    """Return the files of a folder that are on no shelf, each as a whole."""
    place = folder / below
    paths = sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else []
    return [
        ListedFile(
            part=part,
            name=f"{below}/{path.name}" if below else path.name,
            end=path.stat().st_size,
            sealed=False,
            local=path,
        )
        for path in paths
        if not path.name.startswith(".")
    ]

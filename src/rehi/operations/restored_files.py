"""Restored files: each is written beside its place, checked, and only then put there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rehi.archive.walk import SUFFIX
from rehi.backup import BackupFile, Repository
from rehi.backup.chunk import CHUNK, cut, digest_of
from rehi.engines.folder import sync_folder, translate_os_error


@dataclass(slots=True)
class FileCounts:
    """How many files were written, were there already, or were set aside."""

    written: int = 0
    kept: int = 0  # that were there as they should be
    set_aside: int = 0  # that were there and damaged
    bytes: int = 0  # that were written


class FileRestorer:
    """Puts the files of a backup into a folder. What is there and is not as it was goes to the folder ``aside``."""

    def __init__(self, repository: Repository, aside: Path) -> None:
        self._repository, self._aside = repository, aside
        self.counts = FileCounts()

    def restore(self, file: BackupFile, folder: Path) -> None:
        """Put a file into a folder, unless it is there; one that has grown since the backup stays as long as it is."""
        target = folder / file.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_file() and _begins_with(target, file):
                self.counts.kept += 1
                return
            part = target.with_name(f".{target.name}.part")
            with part.open("wb") as out:
                for piece in self._repository.read(file):
                    out.write(piece)
                    self.counts.bytes += len(piece)
                _append_rest(out, target, file)
                out.flush()
                os.fsync(out.fileno())
            self._set_aside(target, file)
            part.rename(target)
            if file.modified and target.stat().st_size == file.size:
                os.utime(target, ns=(file.modified, file.modified))
            sync_folder(target.parent)
        except OSError as error:
            raise translate_os_error(error, f"{target} can't be restored") from error
        self.counts.written += 1

    def _set_aside(self, target: Path, file: BackupFile) -> None:
        if target.exists() or target.is_symlink():
            place = self._aside / file.part / file.path
            place.parent.mkdir(parents=True, exist_ok=True)
            target.rename(place)
            self.counts.set_aside += 1


def _begins_with(path: Path, file: BackupFile) -> bool:
    """Whether a file begins with what the backup has of it; only files that are appended to may be longer."""
    size = path.stat().st_size
    if size < file.size or (size > file.size and not path.name.endswith(SUFFIX)):
        return False
    with path.open("rb") as stream:
        return tuple(map(digest_of, cut(stream, file.size))) == file.chunks


def _append_rest(out: BinaryIO, before: Path, file: BackupFile) -> None:
    """Append what a damaged file has got since the backup: it is appended to only, so that is as good as ever."""
    if file.path.endswith(SUFFIX) and before.is_file() and before.stat().st_size > file.size:
        with before.open("rb") as stream:
            stream.seek(file.size)
            while piece := stream.read(CHUNK):
                out.write(piece)

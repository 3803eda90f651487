"""Backups in a folder: each object is a file, which is there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rehi.engines.folder import sync_folder, translate_os_error
from rehi.errors import NotFound

_PART = ".part-"  # before the name of a file that is being written


class FolderBackups:
    """Port ``BackupStore`` on a folder, as on a disk of its own or a share. Others can't look into it: it holds everything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed: set[Path] = set()  # folders whose names are not on disk for good yet

    @property
    def where(self) -> str:
        """The folder's path."""
        return str(self._folder)

    def read(self, name: str) -> bytes:
        """Return a file's bytes."""
        try:
            return (self._folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NotFound(f"there is no {name} in {self._folder}") from error
        except OSError as error:
            raise translate_os_error(error, f"{name} in {self._folder} can't be read") from error

    def write(self, name: str, content: bytes) -> None:
        """Write a file under another name first, and have its bytes on disk before it is renamed."""
        with self._written(name, content) as part:
            part.rename(self._folder / name)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file unless there is one of that name."""
        with self._written(name, content) as part:
            try:
                (self._folder / name).hardlink_to(part)
            except FileExistsError:
                return False
            return True

    def list(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield the files below a folder; those that were never finished are left out."""
        root = self._folder / folder
        for path, _, names in os.walk(root, onerror=_raise_unless_missing):
            for name in sorted(names):
                file = Path(path) / name
                if not name.startswith(_PART):
                    try:
                        yield file.relative_to(self._folder).as_posix(), file.stat().st_size
                    except FileNotFoundError:  # deleted just now
                        continue

    def delete(self, name: str) -> None:
        """Delete a file."""
        try:
            (self._folder / name).unlink()
            self._changed.add((self._folder / name).parent)
        except FileNotFoundError:
            return
        except OSError as error:
            raise translate_os_error(error, f"{name} in {self._folder} can't be deleted") from error

    def sync(self) -> None:
        """Bring the names of new files to disk."""
        changed, self._changed = self._changed, set()
        for folder in sorted(changed):
            sync_folder(folder)

    @contextmanager
    def _written(self, name: str, content: bytes) -> Iterator[Path]:
        path = self._folder / name
        part = path.with_name(f"{_PART}{secrets.token_hex(8)}")
        try:
            self._make(path.parent)
            with part.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            yield part
        except OSError as error:
            raise translate_os_error(error, f"{name} can't be written to {self._folder}") from error
        finally:
            part.unlink(missing_ok=True)
        self._changed.add(path.parent)

    def _make(self, folder: Path) -> None:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._changed.add(folder.parent)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise translate_os_error(error, f"{error.filename} can't be read") from error


def open_backups(uri: str, **_: object) -> FolderBackups:
    """Return the backups in ``file:///path``."""
    return FolderBackups(Path(unquote(urlsplit(uri).path)))

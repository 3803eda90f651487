"""Marks: small files in the data folder that note which files are sealed, and which of them are uploaded."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rehi.engines.folder import sync_folder, translate_os_error
from rehi.errors import EngineError

_SEALED = ".sealed"  # to be uploaded
_UPLOADED = ".brought"  # safely in the bucket; the local file is a copy
_ERRORS = ".trouble"  # the error of a file that could not be uploaded yet


@dataclass(frozen=True, slots=True)
class Mark:
    """A sealed file that waits to be uploaded, and whether it replaces what the bucket has under its name."""

    file: str
    replaces: bool
    token: str  # another one each time that a file is sealed


class Marks:
    """The marks of one folder. They outlive the process. A file that is being appended to has none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def seal(self, file: str, *, replaces: bool) -> None:
        """Mark a file as sealed; on disk for good when this returns."""
        with _writing(f"{file} can't be sealed"):
            self._write(_SEALED, file, f"{'replace' if replaces else 'new'} {secrets.token_hex(8)}")
            (self._folder / _UPLOADED / file).unlink(missing_ok=True)

    def waiting(self) -> list[Mark]:
        """Return the files that wait to be uploaded, in the order of their names."""
        marks = (self.mark(file) for file in self._names(_SEALED))
        return [mark for mark in marks if mark is not None]

    def mark(self, file: str) -> Mark | None:
        """Return the mark of a file that waits to be uploaded; None if it does not."""
        try:
            content = (self._folder / _SEALED / file).read_text("ascii")
        except OSError:
            return None
        how, _, token = content.partition(" ")
        return Mark(file, how == "replace", token)

    def is_sealed(self, file: str) -> bool:
        """Whether nothing may be appended to a file any more."""
        return (self._folder / _SEALED / file).exists() or (self._folder / _UPLOADED / file).exists()

    def mark_uploaded(self, file: str) -> None:
        """Note that the bucket has a file. Not synced: after a power cut the bucket is asked again."""
        with _writing(f"the mark of {file} can't be written"):
            (self._folder / _UPLOADED).mkdir(exist_ok=True)
            (self._folder / _SEALED / file).rename(self._folder / _UPLOADED / file)
        self.clear_error(file)

    def uploaded(self) -> list[str]:
        """Return the local files that the bucket has too, the oldest first."""
        return sorted(self._names(_UPLOADED), key=lambda file: (_age(self._folder / _UPLOADED / file), file))

    def forget(self, file: str) -> None:
        """Remove all marks of a file."""
        with _writing(f"the mark of {file} can't be removed"):
            for kind in (_SEALED, _UPLOADED, _ERRORS):
                (self._folder / kind / file).unlink(missing_ok=True)

    def note_error(self, file: str, message: str) -> None:
        """Note why a file could not be uploaded."""
        with _writing(f"the mark of {file} can't be written"):
            self._write(_ERRORS, file, message, lasting=False)

    def clear_error(self, file: str) -> None:
        """Remove the error of a file."""
        with _writing(f"the mark of {file} can't be removed"):
            (self._folder / _ERRORS / file).unlink(missing_ok=True)

    def upload_errors(self) -> list[tuple[str, str]]:
        """Return the files that could not be uploaded, and why."""
        errors = []
        for file in sorted(self._names(_ERRORS)):
            try:
                errors.append((file, (self._folder / _ERRORS / file).read_text("utf-8", "replace")))
            except OSError:  # removed just now
                continue
        return errors

    def _names(self, kind: str) -> list[str]:
        try:
            return sorted(path.name for path in (self._folder / kind).iterdir() if not path.name.startswith("."))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise EngineError(f"{self._folder / kind} can't be read: {error.strerror}") from error

    def _write(self, kind: str, file: str, content: str, *, lasting: bool = True) -> None:
        folder = self._folder / kind
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            sync_folder(self._folder)
        part = folder / f".{file}"
        with part.open("wb") as mark:
            mark.write(content.encode("utf-8", "replace"))
            if lasting:
                mark.flush()
                os.fsync(mark.fileno())
        part.rename(folder / file)
        if lasting:
            sync_folder(folder)


@contextmanager
def _writing(action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise translate_os_error(error, action) from error


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

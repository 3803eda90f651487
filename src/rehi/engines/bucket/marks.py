"""Marks: small files in the data folder that say which files are sealed, and which of them the bucket has."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rehi.engines.folder import sync_folder, translated
from rehi.errors import EngineError

_SEALED = ".sealed"  # to be brought to the bucket
_BROUGHT = ".brought"  # safely there; what lies here is a copy
_TROUBLE = ".trouble"  # what went wrong with a file, as long as it does


@dataclass(frozen=True, slots=True)
class Mark:
    """A sealed file, and whether it replaces what the bucket has under its name."""

    file: str
    replaces: bool
    token: str  # another one each time that a file is sealed


class Marks:
    """The marks of one folder. They outlive the process; a file that is being appended to has none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def seal(self, file: str, *, replaces: bool) -> None:
        """On disk for good when this returns."""
        with _writing(f"{file} can't be sealed"):
            self._write(_SEALED, file, f"{'replace' if replaces else 'new'} {secrets.token_hex(8)}")
            (self._folder / _BROUGHT / file).unlink(missing_ok=True)

    def waiting(self) -> list[Mark]:
        """The files that are to be brought, in the order of their names."""
        marks = (self.mark(file) for file in self._names(_SEALED))
        return [mark for mark in marks if mark is not None]

    def mark(self, file: str) -> Mark | None:
        """What is to be done with a file, if it waits to be brought."""
        try:
            said = (self._folder / _SEALED / file).read_text("ascii")
        except OSError:
            return None
        how, _, token = said.partition(" ")
        return Mark(file, how == "replace", token)

    def is_sealed(self, file: str) -> bool:
        """Whether nothing may be appended to a file any more."""
        return (self._folder / _SEALED / file).exists() or (self._folder / _BROUGHT / file).exists()

    def bring(self, file: str) -> None:
        """The bucket has it now. Not synced: after a power cut the bucket is asked again."""
        with _writing(f"the mark of {file} can't be written"):
            (self._folder / _BROUGHT).mkdir(exist_ok=True)
            (self._folder / _SEALED / file).rename(self._folder / _BROUGHT / file)
        self.settle(file)

    def brought(self) -> list[str]:
        """The files that are copies of what the bucket has, the oldest first."""
        return sorted(self._names(_BROUGHT), key=lambda file: (_age(self._folder / _BROUGHT / file), file))

    def forget(self, file: str) -> None:
        """There is nothing more to say of a file."""
        with _writing(f"the mark of {file} can't be removed"):
            for kind in (_SEALED, _BROUGHT, _TROUBLE):
                (self._folder / kind / file).unlink(missing_ok=True)

    def complain(self, file: str, message: str) -> None:
        """Remember what went wrong with a file, for whoever looks."""
        with _writing(f"the mark of {file} can't be written"):
            self._write(_TROUBLE, file, message, lasting=False)

    def settle(self, file: str) -> None:
        """Nothing is wrong with a file any more."""
        with _writing(f"the mark of {file} can't be removed"):
            (self._folder / _TROUBLE / file).unlink(missing_ok=True)

    def troubles(self) -> list[tuple[str, str]]:
        """The files with which something is wrong, and what."""
        found = []
        for file in sorted(self._names(_TROUBLE)):
            try:
                found.append((file, (self._folder / _TROUBLE / file).read_text("utf-8", "replace")))
            except OSError:  # settled just now
                continue
        return found

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
def _writing(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise translated(error, what) from error


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

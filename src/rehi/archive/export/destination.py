"""A destination: an export is made beside it, and moved there when it is complete."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from rehi.errors import DiskFull, UserError

MARK = "export.json"  # the file that marks a folder as an export; only such a folder is ever replaced
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Workplace:
    """The temporary folder in which an export is made."""

    target: Path  # a folder that exists, or a file that is to be made
    spool: Path  # a folder for temporary files


@contextmanager
def export_folder(dest: Path, *, force: bool) -> Iterator[Workplace]:
    """Give a new folder that is moved to ``dest`` at the end; only an older export is replaced there."""
    place = _absolute(dest)
    if place.is_dir():
        _check_replaceable(place, force=force)
    elif os.path.lexists(place):
        raise UserError(f"{dest} is a file; name a folder that is not there yet")
    with _workplace(place) as work:
        work.target.mkdir()
        yield work
        before = work.spool.parent / "before"
        if place.is_dir():
            _check_replaceable(place, force=force)
            place.rename(before)
        try:
            work.target.rename(place)
        except OSError:
            if before.exists():
                before.rename(place)
            raise


@contextmanager
def export_package(dest: Path, *, force: bool) -> Iterator[Workplace]:
    """Give a new file that is moved to ``dest`` at the end."""
    place = _absolute(dest)
    if place.is_dir():
        raise UserError(f"{dest} is a folder; name a file, as in {dest / 'export.wacz'}")
    _check_free(place, dest, force=force)
    with _workplace(place) as work:
        yield work
        with work.target.open("rb") as made:
            os.fsync(made.fileno())
        _check_free(place, dest, force=force)
        work.target.replace(place)


def mark_folder(folder: Path, facts: dict[str, object]) -> None:
    """Write the mark of an export into its folder, with facts about it."""
    text = json.dumps({"rehi_export": 1, **facts}, indent=2, ensure_ascii=False)
    (folder / MARK).write_text(text, encoding="utf-8", errors="replace")


@contextmanager
def _workplace(place: Path) -> Iterator[Workplace]:
    part: Path | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part = Path(mkdtemp(dir=place.parent, prefix=f".{place.name[:100]}.", suffix=".part"))
        spool = part / "spool"
        spool.mkdir()
        yield Workplace(part / "made", spool)
    except OSError as error:
        raise translate_os_error(error, place) from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def translate_os_error(error: OSError, path: Path) -> UserError:
    """Return the error of ours for an OSError at a path."""
    if error.errno in _FULL:
        return DiskFull(f"the disk of {path} is full; nothing was left there: make room and start again")
    return UserError(f"{path} can't be written: {error.strerror or error}")


def _absolute(dest: Path) -> Path:
    place = Path(os.path.abspath(dest))  # noqa: PTH100 - a link is replaced, not followed
    if not place.name:
        raise UserError(f"{dest} can't be an export; name a folder or a file that is not there yet")
    try:
        place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:  # an impossible name, which is better reported before the work than after it
        raise translate_os_error(error, place) from error
    return place


def _check_free(place: Path, dest: Path, *, force: bool) -> None:
    if os.path.lexists(place) and not (force and place.is_file()):
        raise UserError(f"{dest} is there already; add --force to replace it, or name another one")


def _check_replaceable(place: Path, *, force: bool) -> None:
    try:
        if next(place.iterdir(), None) is None:
            return
        ours = "rehi_export" in json.loads((place / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        ours = False
    if not ours:
        raise UserError(f"{place} holds something else and is not replaced; name a folder that is not there yet")
    if not force:
        raise UserError(f"{place} is there already; add --force to replace it, or name another one")

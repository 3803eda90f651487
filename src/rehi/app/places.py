"""Places: where files lie, and what opens them: the archive's, somebody else's that it reads, and backups."""

from __future__ import annotations

import hashlib
import re
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rehi.app.folder_lock import translate_error
from rehi.builtin import is_built_in, load, package_of
from rehi.errors import RehiError, SettingsError
from rehi.process import utc_now
from rehi.settings import ArchiveSettings

if TYPE_CHECKING:
    from rehi.archive import Archive
    from rehi.backup import Repository
    from rehi.ports import ShelfEngine


def name_worker(path: Path) -> str:
    """Return the name that a file keeps for a worker; the first who asks makes one up, after the machine and by lot."""
    if not path.exists():
        host = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().partition(".")[0].lower())[:40].strip("-")
        name = f"{host or 'rehi'}-{secrets.token_hex(3)}"
        new = path.with_name(f".{name}")
        new.write_text(name, encoding="ascii")
        with suppress(FileExistsError):  # another process was first
            path.hardlink_to(new)
        new.unlink()
    return path.read_text(encoding="ascii").strip()


def open_shelf(folder: Path, settings: ArchiveSettings, *, part: str = "") -> ShelfEngine:
    """Return where files lie: in the folder, or in a bucket when they are sealed; ``part`` names a place below that."""
    uri = settings.uri or f"file://{folder.resolve()}"
    shelf: ShelfEngine = load("shelf", uri.partition(":")[0])(
        f"{uri.rstrip('/')}/{part}" if settings.uri and part else uri,
        folder=folder,
        endpoint=settings.endpoint,
        region=settings.region,
        local_bytes=settings.local_bytes,
    )
    return shelf


def open_repository(place: str, settings: ArchiveSettings) -> Repository:
    """Return the backups in a folder or a bucket, which is reached as the archive's is."""
    from rehi.backup import Repository

    scheme, slashes, _ = place.partition("://")
    uri = place if slashes else Path(place).resolve().as_uri()
    open_backups = load("backup", scheme if slashes else "file")
    try:
        return Repository(open_backups(uri, endpoint=settings.endpoint, region=settings.region))
    except Exception as error:
        if isinstance(error, RehiError) or not slashes or is_built_in("backup", scheme):
            raise
        brought = package_of("backup", scheme)
        why = f"{type(error).__name__}: {error}"
        raise SettingsError(
            f"{place} can't be opened: the place for backups {scheme} of {brought} failed: {why}"
        ) from error


def open_archive(folder: Path, settings: ArchiveSettings) -> Archive:
    """Return the archive for reading; a module-level function, so that it pickles to worker processes."""
    from rehi.archive import Archive

    return Archive(open_shelf(folder, settings), file_bytes=1, worker="reader", software="", clock=utc_now)


def adopt_file(folder: Path, path: Path, *, worker: str) -> str:
    """Let the archive in a folder know a file that stays where it is; return its name there. It is only ever read."""
    from rehi.engines.folder import sync_folder

    target = path.resolve()
    mark = hashlib.sha256(f"{worker} {target}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", target.name.partition(".")[0]).strip("-")[:80]
    link = folder / f"adopted-{stem}-{mark}.warc"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            link.symlink_to(target)
            sync_folder(folder)
    except OSError as error:
        raise translate_error(error, folder) from error
    return link.name

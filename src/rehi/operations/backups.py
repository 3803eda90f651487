"""Backups in a place: listed, checked, pruned and found."""

from __future__ import annotations

from collections.abc import Callable

from rehi.app import House, utc_now
from rehi.app.places import open_repository
from rehi.backup import Backup, BackupVerification, Pruned, Repository, prune, set_aside, verify
from rehi.operations.moments import parse_moment
from rehi.settings import Settings


def list_backups(house: House, place: str) -> list[Backup]:
    """Return the backups in a place, the oldest first."""
    return open_repository(place, house.settings.archive).backups()


def find_backup(settings: Settings, place: str, *, at: str | None = None) -> tuple[Repository, Backup]:
    """Return a backup by its number, as the last one until a moment, or the newest; NotFound if there is none."""
    repository = open_repository(place, settings.archive)
    repository.check()
    if at is None:
        return repository, repository.newest()
    if at.isdecimal() and len(at) < 8:  # more digits are a day
        return repository, repository.backup(int(at))
    return repository, repository.newest(until=parse_moment(at))


def verify_backups(
    house: House,
    place: str,
    *,
    number: int | None = None,
    percent: float = 100,
    mend: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> BackupVerification:
    """Check one backup or all: every chunk is looked for, and all or a share of them are read."""
    repository = open_repository(place, house.settings.archive)
    backups = repository.backups() if number is None else [repository.backup(number)]
    done = verify(repository, backups, sample=percent / 100, on_progress=on_progress)
    if mend and done.damaged:
        set_aside(repository, done.damaged, utc_now)
    return done


def prune_backups(house: House, place: str, *, keep: int, dry_run: bool = False) -> Pruned:
    """Delete all but the newest backups of each worker."""
    repository = open_repository(place, house.settings.archive)
    repository.check()
    return prune(repository, keep=keep, clock=utc_now, dry_run=dry_run)

"""The upkeep of a repository: whether all is there and as it was, and what may go."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from rehi.backup import chunk, manifest
from rehi.backup.manifest import Backup
from rehi.backup.repository import Repository
from rehi.backup.repository_lock import Use, use_repository
from rehi.errors import BackupDamaged

DAMAGED = "damaged"  # where damaged chunks go


@dataclass(slots=True)
class BackupVerification:
    """The result of a verification: how much was checked, and what is wrong."""

    backups: int = 0
    files: int = 0
    chunks: int = 0  # that the backups need
    read: int = 0  # chunks that were read
    bytes: int = 0  # that were in them
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # in words, with the files and backups that are hurt

    @property
    def ok(self) -> bool:
        """Whether every backup that was looked at can be restored."""
        return not self.faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """The result of pruning: the backups and chunks that were deleted."""

    backups: tuple[int, ...]  # their numbers
    chunks: int
    bytes: int  # that they took
    kept: int  # backups that stay


def verify(
    repository: Repository,
    backups: Iterable[Backup],
    *,
    sample: float = 1.0,
    chance: random.Random | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> BackupVerification:
    """Look for every chunk of these backups, and read them, or a share of them chosen by lot, and check their digests."""
    done, users = BackupVerification(), defaultdict[str, list[str]](list)
    for backup in backups:
        done.backups += 1
        try:
            for digest in backup.listing:
                users[digest].append(f"the list of files of backup {backup.number}")
            for file in repository.files(backup):
                done.files += 1
                for digest in file.chunks:
                    users[digest].append(f"{file.part}/{file.path} of backup {backup.number}")
        except BackupDamaged as error:
            done.faults.append(f"backup {backup.number}: {error}")
    sizes = dict(repository.chunk_sizes())
    done.chunks, done.missing = len(users), sorted(users.keys() - sizes)
    lot = chance or random.Random()  # noqa: S311 - nothing secret
    wanted = [digest for digest in sorted(users.keys() & sizes) if sample >= 1 or lot.random() < sample]
    for digest in wanted:
        try:
            done.bytes += len(repository.read_chunk(digest))
        except BackupDamaged:
            done.damaged.append(digest)
        done.read += 1
        on_progress(done.bytes)
    for fault, digests in (("is missing", done.missing), ("is damaged", done.damaged)):
        done.faults += [f"the chunk {digest[:16]}… {fault}: {_in_words(users[digest])}" for digest in digests]
    return done


def set_aside(repository: Repository, digests: Iterable[str], clock: Callable[[], datetime]) -> int:
    """Move damaged chunks away, so that the next backup stores them again if the house still has their bytes."""
    count = 0
    with use_repository(repository.store, Use.DELETE, clock):
        for digest in digests:
            name = chunk.name_of(digest)
            repository.store.write(f"{DAMAGED}/{digest}.zst", repository.store.read(name))
            repository.store.delete(name)
            count += 1
    return count


def prune(repository: Repository, *, keep: int, clock: Callable[[], datetime], dry_run: bool = False) -> Pruned:
    """Delete all but the newest backups of each worker, and the chunks that none of those needs."""
    with use_repository(repository.store, Use.DELETE, clock) as lock:
        by_worker = defaultdict[str, list[Backup]](list)
        for backup in repository.backups():
            by_worker[backup.worker].append(backup)
        kept = [one for backups in by_worker.values() for one in sorted(backups, key=lambda one: one.number)[-keep:]]
        numbers = {backup.number for backup in kept}
        gone = [number for number in repository.numbers() if number not in numbers]
        needed = {digest for backup in kept for digest in backup.listing}
        for backup in kept:
            needed.update(digest for file in repository.files(backup) for digest in file.chunks)
        unused = [(digest, size) for digest, size in repository.chunk_sizes() if digest not in needed]
        if not dry_run:
            _delete(repository, [manifest.manifest_name(number) for number in gone], lock.renew)
            repository.store.sync()  # no manifest may be there whose chunks are not
            _delete(repository, [chunk.name_of(digest) for digest, _ in unused], lock.renew)
    return Pruned(backups=tuple(gone), chunks=len(unused), bytes=sum(size for _, size in unused), kept=len(kept))


def _delete(repository: Repository, names: Iterable[str], renew: Callable[[], None]) -> None:
    for name in names:
        repository.store.delete(name)
        renew()


def _in_words(users: list[str]) -> str:
    return users[0] + (f" and {len(users) - 1:,} more" if len(users) > 1 else "")

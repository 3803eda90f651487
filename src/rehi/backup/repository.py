"""A repository: backups in one place, which share the chunks that they have in common.

repository.json           what this is, and its format
backups/00000001.json     a manifest for each backup, written last
chunks/ab/abcd….zst       pieces of files and of the lists of files, by the SHA-256 of their bytes
locks/….json              who writes or deletes here, and until when
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime

from rehi.backup import chunk, manifest
from rehi.backup.manifest import Backup, BackupFile
from rehi.errors import BackupDamaged, NotFound, StoreVersionError
from rehi.ports import BackupStore

MARK = "repository.json"
_MANIFEST = re.compile(rf"{manifest.FOLDER}/([0-9]{{8,}})\.json")


class Repository:
    """The backups in a store, for reading."""

    def __init__(self, store: BackupStore) -> None:
        self.store = store
        self.where = store.where

    def begin(self) -> None:
        """Make it a repository if nothing is there yet; NotFound if something else is."""
        try:
            self.check()
        except NotFound:
            if next(self.store.list(""), None) is not None:
                raise NotFound(f"{self.where} holds something else than backups: name an empty place") from None
            self.store.create(MARK, json.dumps({"what": "backups of rehi", "format": manifest.FORMAT}).encode())

    def check(self) -> None:
        """Raise NotFound if there are no backups here, and StoreVersionError if a newer rehi has made them."""
        try:
            mark = json.loads(self.store.read(MARK))
            newest = int(mark["format"])
        except NotFound:
            raise NotFound(f"there are no backups in {self.where}; `rehi backup {self.where}` makes one") from None
        except (ValueError, KeyError, TypeError) as error:
            raise BackupDamaged(f"{MARK} in {self.where} can't be read: it is damaged, or not of rehi") from error
        if newest > manifest.FORMAT:
            raise StoreVersionError(
                f"{self.where} has format {newest}, and this rehi reads {manifest.FORMAT}: upgrade rehi"
            )

    def numbers(self) -> list[int]:
        """Return the numbers of all backups, the oldest first."""
        names = (_MANIFEST.fullmatch(name) for name, _ in self.store.list(manifest.FOLDER))
        return sorted(int(match[1]) for match in names if match)

    def backup(self, number: int) -> Backup:
        """Return the backup of that number."""
        name = manifest.manifest_name(number)
        try:
            backup = manifest.decode(self.store.read(name), where=f"{name} in {self.where}")
        except NotFound:
            raise NotFound(f"there is no backup {number} in {self.where}") from None
        if backup.number != number:
            raise BackupDamaged(f"{name} in {self.where} is the manifest of another backup, {backup.number}")
        return backup

    def backups(self) -> list[Backup]:
        """Return all backups, the oldest first."""
        self.check()
        return [self.backup(number) for number in self.numbers()]

    def newest(self, *, worker: str = "", until: datetime | None = None) -> Backup:
        """Return the newest backup, of a worker if one is named, made until then; NotFound if there is none or they differ."""
        backups = [one for one in self.backups() if not worker or one.worker == worker]
        workers = sorted({one.worker for one in backups})
        if len(workers) > 1:
            raise NotFound(
                f"{self.where} has backups of several workers ({', '.join(workers)}): name one by its number, with --at"
            )
        backups = [one for one in backups if until is None or one.made_at <= until]
        if not backups:
            raise NotFound(f"there is no backup in {self.where}" + (f" from before {until}" if until else ""))
        return max(backups, key=lambda one: (one.made_at, one.number))

    def files(self, backup: Backup) -> Iterator[BackupFile]:
        """Yield the files of a backup."""
        return manifest.decode_files(map(self.read_chunk, backup.listing))

    def read(self, file: BackupFile) -> Iterator[bytes]:
        """Yield the bytes of a file piece by piece, each checked; BackupDamaged if they are not all there."""
        size = 0
        for digest in file.chunks:
            piece = self.read_chunk(digest)
            size += len(piece)
            yield piece
        if size != file.size:
            raise BackupDamaged(f"{file.part}/{file.path} has {size:,} bytes in {self.where} instead of {file.size:,}")

    def read_chunk(self, digest: str) -> bytes:
        """Return the bytes of a chunk, checked."""
        try:
            packed = self.store.read(chunk.name_of(digest))
        except NotFound:
            raise BackupDamaged(
                f"the chunk {digest[:16]}… is missing in {self.where}; `rehi backup verify` says which backups need it"
            ) from None
        return chunk.unpack(packed, digest, where=self.where)

    def chunk_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the digests of all chunks that are there, and the bytes that each takes."""
        for name, size in self.store.list(chunk.FOLDER):
            if size and (digest := chunk.digest_in(name)):
                yield digest, size

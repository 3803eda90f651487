"""The writer of a backup: files in, chunks that are not there yet out, and at the end the manifest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from threading import Lock

from rehi.backup import chunk, manifest
from rehi.backup.manifest import Backup, BackupFile, BackupPart
from rehi.backup.repository import Repository
from rehi.backup.repository_lock import RepositoryLock, Use, use_repository
from rehi.errors import BackupDamaged

THREADS = 4  # that pack and store: packing leaves Python to others, and a bucket's answers are waited for
_AHEAD = 2 * THREADS  # pieces in memory


class BackupWriter:
    """One backup while it is made. A chunk that is there is not stored again."""

    def __init__(self, repository: Repository, lock: RepositoryLock, pool: ThreadPoolExecutor) -> None:
        self._repository, self._lock, self._pool = repository, lock, pool
        self._there = dict(repository.chunk_sizes())
        self._guard = Lock()
        self._used: set[str] = set()
        self._new: set[str] = set()
        self.files: list[BackupFile] = []

    def add(
        self,
        part: BackupPart,
        path: str,
        pieces: Iterable[bytes],
        *,
        modified: int = 0,
        sealed: bool = False,
        packed: bool = False,
    ) -> BackupFile:
        """Store a file, given in pieces; ``packed`` says that its bytes are compressed already."""
        size, digests = 0, []
        waiting: deque[Future[str]] = deque()
        try:
            for piece in pieces:
                size += len(piece)
                waiting.append(self._pool.submit(self._keep, piece, packed))
                if len(waiting) >= _AHEAD:
                    digests.append(waiting.popleft().result())
        finally:
            digests += [future.result() for future in waiting]
        file = BackupFile(part=part, path=path, size=size, chunks=tuple(digests), modified=modified, sealed=sealed)
        self.files.append(file)
        self._lock.renew()
        return file

    def add_again(self, file: BackupFile) -> bool:
        """Take a file over from an earlier backup without reading it; return whether all its chunks are there."""
        if not all(digest in self._there for digest in file.chunks):
            return False
        self._used.update(file.chunks)
        self.files.append(file)
        return True

    def finish(self, describe: Callable[[Backup], Backup], *, now: datetime) -> Backup:
        """Make sure that all chunks are there, then write the manifest; ``describe`` says what the house knows of it."""
        listing = [self._keep(piece, False) for piece in manifest.encode_files(self.files)]
        self._repository.store.sync()
        self._check()
        number = max(self._repository.numbers(), default=0)
        while True:
            number += 1
            backup = Backup(
                number=number, made_at=now, rehi="", worker="", listing=tuple(listing), files=len(self.files),
                bytes=sum(file.size for file in self.files), chunks=len(self._used), new_chunks=len(self._new),
                new_bytes=sum(self._there[digest] for digest in self._new), graph_is_current=False,
            )  # fmt: skip
            backup = describe(backup)
            self._lock.confirm()
            if self._repository.store.create(manifest.manifest_name(number), manifest.encode(backup)):
                break  # else somebody else's has got this number
        self._repository.store.sync()
        return backup

    def _keep(self, piece: bytes, packed: bool) -> str:
        digest = chunk.digest_of(piece)
        with self._guard:
            self._used.add(digest)
            if digest in self._there:
                return digest
            self._there[digest] = 0  # it is being written: the same piece again is not
            self._new.add(digest)
        content = chunk.pack(piece, compressed=packed)
        self._repository.store.write(chunk.name_of(digest), content)
        self._there[digest] = len(content)
        return digest

    def _check(self) -> None:
        """Raise BackupDamaged if a chunk of this backup is not there, or not as long as what was written."""
        sizes = dict(self._repository.chunk_sizes())
        bad = [digest for digest in self._used if sizes.get(digest) != self._there[digest]]
        if bad:
            raise BackupDamaged(
                f"{len(bad):,} of {len(self._used):,} chunks that were stored in {self._repository.where} are not there: "
                "the backup was not finished, look at that place and start again"
            )


@contextmanager
def writing(repository: Repository, clock: Callable[[], datetime]) -> Iterator[BackupWriter]:
    """Make a backup; nobody deletes chunks meanwhile."""
    repository.begin()
    with use_repository(repository.store, Use.WRITE, clock) as lock, ThreadPoolExecutor(THREADS) as pool:
        yield BackupWriter(repository, lock, pool)

"""Ways to keep the versions of a file: ours, and what others do. Each writes to disk for good, batch by batch.

Peers are counted without what they would need to find anything again: one file is appended to, and it holds nothing but
compressed bytes and, for chunks, the list of each version's chunks. Ours is counted with everything in its folder. What
a fetcher has done before (the body's SHA-256 is known, and what is larger than 1 MB lies in a temporary file) counts for
nobody.
"""

from __future__ import annotations

import io
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import BinaryIO, Protocol

from rehi.archive import Archive
from rehi.engines.folder import FolderShelf
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Answer, Visit
from rehi.settings import ArchiveSettings

LEVEL = 3
FIXED = 255 * 1024  # bytes of a chunk: the default of the store that the ODArchive uses
AVERAGE = 16 * 1024  # bytes of a chunk whose ends follow from its content
IN_MEMORY = 1_000_000  # bytes of a body, as the fetcher holds it


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVersion:
    """One version on its way to be kept."""

    url: str
    at: datetime
    media_type: str
    body: bytes


class Way(Protocol):
    """A way to keep versions of one resource."""

    def write(self, version: PageVersion) -> None:
        """Take the next version."""

    def sync(self) -> None:
        """All that was written is on disk for good."""

    def finish(self) -> None:
        """Nothing more comes."""

    def stored(self) -> int:
        """Bytes on disk."""

    def read(self, number: int) -> bytes:
        """A version by its number, from 0."""

    def cpu(self) -> float:
        """Seconds of CPU that were spent so far."""

    @property
    def packing_cpu(self) -> float:
        """How many of them went into finishing."""


class Ours:
    """The archive on a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shelf = FolderShelf(folder)
        self._archive = Archive(
            self._shelf, file_bytes=ArchiveSettings().file_bytes, worker="bench", software="rehi",
            clock=lambda: datetime.now(UTC),
        )  # fmt: skip
        self._refs: list[RecordRef] = []
        self._untaken = 0.0
        self.packing_cpu = 0.0

    def write(self, version: PageVersion) -> None:
        """As a visit that a fetcher brought."""
        began = process_time()
        with as_visit(version) as visit:
            self._untaken += process_time() - began
            if self._refs:
                self._refs.append(self._archive.keep_change(visit, base=self._refs[-1]))
            else:
                self._refs.append(self._archive.keep(visit))

    def sync(self) -> None:
        """Once per batch, as the pipeline does."""
        self._archive.sync()

    def finish(self) -> None:
        """Give the files back."""
        self._shelf.close()

    def stored(self) -> int:
        """All files: records with their headers, requests, whatever lies beside them."""
        return folder_size(self._folder)

    def read(self, number: int) -> bytes:
        """By an archive that has not read anything before."""
        archive = Archive(
            FolderShelf(self._folder), file_bytes=1, worker="reader", software="", clock=lambda: datetime.now(UTC)
        )
        with archive.open_body(self._refs[number]) as body:
            return body.read()

    def cpu(self) -> float:
        """Of this process, without what the fetcher does."""
        return process_time() - self._untaken


class _Pack:
    """A file that is appended to, with the places of its pieces."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._path = folder / "pack"
        self._file = self._path.open("wb")
        self._end = 0
        self.packing_cpu = 0.0

    def append(self, piece: bytes) -> tuple[int, int]:
        self._file.write(piece)
        place = (self._end, len(piece))
        self._end += len(piece)
        return place

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def finish(self) -> None:
        self._file.close()

    def stored(self) -> int:
        return self._path.stat().st_size

    def cpu(self) -> float:
        return process_time()

    def pieces(self, places: list[tuple[int, int]]) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            for offset, length in places:
                file.seek(offset)
                yield file.read(length)


class ZstdPerVersion(_Pack):
    """Each version by itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._places: list[tuple[int, int]] = []

    def write(self, version: PageVersion) -> None:
        """One frame."""
        from backports import zstd

        self._places.append(self.append(zstd.compress(version.body, LEVEL)))

    def read(self, number: int) -> bytes:
        """Decompress the frame, and check it as we do."""
        from backports import zstd

        (piece,) = self.pieces([self._places[number]])
        body = zstd.decompress(piece)
        sha256(body).digest()
        return body


class _Chunks(_Pack):
    """Chunks that are stored once, each compressed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._known: dict[bytes, tuple[int, int]] = {}
        self._lists: list[list[tuple[int, int]]] = []

    def cut(self, body: bytes) -> Iterator[bytes | memoryview]:
        raise NotImplementedError

    def write(self, version: PageVersion) -> None:
        """The chunks that are new, and the list of all of them."""
        from backports import zstd

        digests = []
        for chunk in self.cut(version.body):
            digest = sha256(chunk).digest()
            digests.append(digest)
            if digest not in self._known:
                self._known[digest] = self.append(zstd.compress(chunk, LEVEL))
        self.append(b"".join(digests))
        self._lists.append([self._known[digest] for digest in digests])

    def read(self, number: int) -> bytes:
        """All chunks of the list, checked as ours are."""
        from backports import zstd

        body = b"".join(zstd.decompress(piece) for piece in self.pieces(self._lists[number]))
        sha256(body).digest()
        return body


class FixedChunks(_Chunks):
    """Chunks of 255 KB, as the ODArchive has them."""

    def cut(self, body: bytes) -> Iterator[bytes | memoryview]:
        """By length."""
        view = memoryview(body)
        return (view[start : start + FIXED] for start in range(0, len(view), FIXED))


class ContentChunks(_Chunks):
    """Chunks whose ends follow from the content, by FastCDC."""

    def cut(self, body: bytes) -> Iterator[bytes | memoryview]:
        """Some 16 KB each."""
        from pyfastcdc import FastCDC

        return (chunk.data for chunk in FastCDC(AVERAGE).cut_buf(body))


class Git:
    """One ``git fast-import`` for all commits, and ``git gc --aggressive`` at the end; CPU is that of its processes.

    fast-import is git's quickest way in: one process, which is fed by a pipe and writes one pack. A process for each
    ``add`` and ``commit`` would be charged mostly for being started.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self._count = 0
        self._name = ""
        self._began = children_cpu()
        self.packing_cpu = 0.0
        self._git("init", "--quiet")
        self._import = subprocess.Popen(
            self._command("fast-import", "--quiet", "--done"), stdin=subprocess.PIPE, env=self._environment()
        )

    def write(self, version: PageVersion) -> None:
        """One commit; what is the same twice in a row is a version too."""
        stream = self._import.stdin
        assert stream is not None
        self._name = version.url.rpartition("/")[2]
        self._count += 1
        message = f"{version.at:%Y-%m-%d %H:%M:%S}".encode()
        stream.write(
            b"commit refs/heads/main\nmark :%d\ncommitter bench <bench@localhost> %d +0000\ndata %d\n%s\n"
            % (self._count, int(version.at.timestamp()), len(message), message)
        )
        stream.write(b"M 100644 inline %s\ndata %d\n" % (self._name.encode(), len(version.body)))
        stream.write(version.body)
        stream.write(b"\n")

    def sync(self) -> None:
        """Do nothing: git is spared the waiting for the disk, and a checkpoint would begin another pack."""

    def finish(self) -> None:
        """End the import, and bring all objects into one pack."""
        self._import.communicate(b"done\n")
        if self._import.returncode:
            raise RuntimeError(f"git fast-import ended with {self._import.returncode}")
        began = children_cpu()
        self._git("gc", "--aggressive", "--prune=now", "--quiet")
        self.packing_cpu = children_cpu() - began

    def stored(self) -> int:
        """The objects with their index; neither the log of references nor the sample hooks."""
        return folder_size(self._folder / ".git" / "objects")

    def read(self, number: int) -> bytes:
        """Return a version; the start of a process is a part of it."""
        back = self._count - 1 - number
        return self._git("cat-file", "blob", f"main~{back}:{self._name}")

    def cpu(self) -> float:
        """Seconds of its processes that have ended."""
        return children_cpu() - self._began

    def _git(self, *words: str) -> bytes:
        done = subprocess.run(self._command(*words), stdout=subprocess.PIPE, check=True, env=self._environment())
        return done.stdout

    def _command(self, *words: str) -> list[str]:
        settings = {"user.name": "bench", "user.email": "bench@localhost", "gc.auto": "0", "core.fsync": "none"}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return ["git", "-C", str(self._folder), *options, *words]

    def _environment(self) -> dict[str, str]:
        """Nobody's own settings count: this file does not exist."""
        return {**os.environ, "GIT_CONFIG_GLOBAL": str(self._folder / "no-settings"), "GIT_CONFIG_NOSYSTEM": "1"}


@contextmanager
def as_visit(version: PageVersion) -> Iterator[Visit]:
    """A version as the fetcher brings it."""
    body = version.body
    headers = (
        ("Date", f"{version.at:%a, %d %b %Y %H:%M:%S GMT}"),
        ("Server", "nginx/1.24.0"),
        ("Content-Type", version.media_type),
        ("Content-Length", str(len(body))),
        ("Last-Modified", f"{version.at:%a, %d %b %Y %H:%M:%S GMT}"),
        ("ETag", f'"{int(version.at.timestamp()):x}-{len(body):x}"'),
        ("Cache-Control", "max-age=300"),
    )
    request = (("User-Agent", "rehi/bench"), ("Accept", "*/*"), ("Accept-Encoding", "gzip, deflate, br, zstd"))
    with _spooled(body) as stream:
        answer = Answer(
            status=200, reason="OK", http_version="1.1", request_headers=request, headers=headers, address="192.0.2.7",
            body=stream, size=len(body), digest=Digest(f"sha256:{sha256(body).hexdigest()}"),
        )  # fmt: skip
        yield Visit(url=version.url, started_at=version.at, seconds=0.1, answer=answer)


@contextmanager
def _spooled(body: bytes) -> Iterator[BinaryIO]:
    if len(body) <= IN_MEMORY:
        yield io.BytesIO(body)
        return
    with tempfile.TemporaryFile() as spool:
        spool.write(body)
        spool.seek(0)
        yield spool


def children_cpu() -> float:
    """Seconds of CPU of the processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def folder_size(folder: Path) -> int:
    """Bytes of all files in a folder, also in those in it."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

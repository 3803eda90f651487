"""Ways to keep small objects: ours, and others. Each brings a batch to disk for good before it goes on.

All do the same work: both heads and the body of each visit, the body's SHA-256 checked, gzip members by the compressor of
our archive at its level, and one wait for the disk per batch. A plain file has it all as one member; a row of SQLite has
URL, time and digest beside it, and no index, for our files have none either. warcio writes what we write, a request and a
response record with their digests. Its writer as it comes, with zlib at level 9 and SHA-1, is shown beside.
"""

from __future__ import annotations

import io
import os
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from bench.archive_ways import folder_size
from bench.warcio_writer import open_writer
from rehi.archive import Archive
from rehi.archive.member import LEVEL, pack
from rehi.engines.folder import FolderShelf
from rehi.model.visit import Answer, Visit
from rehi.settings import ArchiveSettings

_BUFFER = 1 << 20  # bytes that a peer's file holds before it writes: one call for many records, as ours does


class Keeper(Protocol):
    """A way to keep visits."""

    def keep(self, batch: Sequence[Visit]) -> None:
        """Take a batch; when it returns, all of it is on disk for good."""

    def close(self) -> None:
        """Nothing more comes."""

    def stored(self) -> int:
        """Bytes on disk."""


class OurArchive:
    """The archive on a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._shelf = folder, FolderShelf(folder)
        self._archive = Archive(
            self._shelf, file_bytes=ArchiveSettings().file_bytes, worker="bench", software="rehi",
            clock=lambda: datetime.now(UTC),
        )  # fmt: skip

    def keep(self, batch: Sequence[Visit]) -> None:
        """Request and response of each, and one sync."""
        for visit in batch:
            self._archive.keep(visit)
        self._archive.sync()

    def close(self) -> None:
        """Give the files back."""
        self._shelf.close()

    def stored(self) -> int:
        """All files."""
        return folder_size(self._folder)


class PlainFiles:
    """A file for each object, named by its digest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)

    def keep(self, batch: Sequence[Visit]) -> None:
        """All are written, then each is synced, and then the folder that has their names: the disk may take them together."""
        with ExitStack() as stack:
            files = []
            for visit in batch:
                answer = _answer(visit)
                path = self._folder / answer.digest.removeprefix("sha256:")
                files.append(stack.enter_context(path.open("wb")))
                files[-1].write(_packed(visit, answer))
                files[-1].flush()
            for file in files:
                os.fsync(file.fileno())
        handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(handle)
        os.close(handle)

    def close(self) -> None:
        """There is nothing to close."""

    def stored(self) -> int:
        """Without what the file system takes for each."""
        return folder_size(self._folder)


class SqliteBlobs:
    """A row for each object, a transaction for each batch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self._connection = sqlite3.connect(folder / "objects.db", isolation_level=None)
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "PRAGMA wal_autocheckpoint = 16000",
            "CREATE TABLE object (id INTEGER PRIMARY KEY, digest TEXT, url TEXT, at TEXT, packed BLOB)",
        ):
            self._connection.execute(statement)

    def keep(self, batch: Sequence[Visit]) -> None:
        """All rows in one transaction, which waits for the disk."""
        rows = []
        for visit in batch:
            answer = _answer(visit)
            rows.append((answer.digest, visit.url, visit.started_at.isoformat(), _packed(visit, answer)))
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO object (digest, url, at, packed) VALUES (?, ?, ?, ?)", rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """The log is written back into the database."""
        self._connection.close()

    def stored(self) -> int:
        """The database; its log is gone when it is closed."""
        return folder_size(self._folder)


class Warcio:
    """The writer of warcio with our compressor and digests, the file synced after each batch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self._file = (folder / "objects.warc.gz").open("wb", buffering=_BUFFER)
        self._writer = self._make_writer(self._file)

    def _make_writer(self, file: BinaryIO) -> Any:
        return open_writer(file, level=LEVEL)

    def keep(self, batch: Sequence[Visit]) -> None:
        """Request and response of each."""
        from warcio.statusandheaders import StatusAndHeaders

        for visit in batch:
            answer = _answer(visit)
            extra = {"WARC-IP-Address": answer.address, "WARC-Date": f"{visit.started_at:%Y-%m-%dT%H:%M:%S.%fZ}"}
            status = StatusAndHeaders(f"{answer.status} {answer.reason}", list(answer.headers), protocol="HTTP/1.1")
            response = self._writer.create_warc_record(
                visit.url, "response", payload=answer.body, length=answer.size, http_headers=status,
                warc_headers_dict={**extra},
            )  # fmt: skip
            asked = StatusAndHeaders(
                f"GET {_target(visit.url)} HTTP/1.1", list(answer.request_headers), is_http_request=True
            )
            request = self._writer.create_warc_record(
                visit.url, "request", payload=io.BytesIO(), length=0, http_headers=asked, warc_headers_dict={**extra}
            )
            self._writer.write_request_response_pair(request, response)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def stored(self) -> int:
        """The file."""
        return folder_size(self._folder)


class WarcioDefault(Warcio):
    """The writer of warcio as it comes."""

    def _make_writer(self, file: BinaryIO) -> Any:
        from warcio.warcwriter import WARCWriter

        return WARCWriter(file, gzip=True, warc_version="1.1")


def _packed(visit: Visit, answer: Answer) -> bytes:
    """Return both heads and the body as one gzip member; ValueError if the body is not what its digest says."""
    body = answer.body.read()
    if f"sha256:{sha256(body).hexdigest()}" != answer.digest:
        raise ValueError(f"the body of {visit.url} has changed")
    heads = "\r\n\r\n".join(
        "\r\n".join(map(": ".join, headers)) for headers in (answer.request_headers, answer.headers)
    )
    return pack(heads.encode() + b"\r\n\r\n" + body)


def _answer(visit: Visit) -> Answer:
    if visit.answer is None:
        raise ValueError(f"the visit to {visit.url} brought nothing")
    return visit.answer


def _target(url: str) -> str:
    return "/" + url.split("/", 3)[3]

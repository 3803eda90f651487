"""Ways to keep small objects: ours, and three others. Each brings a batch to disk for good before it goes on.

The others keep no more than they must. A plain file holds the body and nothing else; a row of SQLite has the URL, the time,
the digest, both heads and the body, as they are; warcio writes what we write, a request and a response record with their
digests, each a gzip member, in its own way and with its own defaults.
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
from typing import Protocol

from bench.archive_ways import folder_size
from rehi.archive import Archive
from rehi.engines.folder import FolderShelf
from rehi.model.visit import Answer, Visit
from rehi.settings import ArchiveSettings


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
                files[-1].write(answer.body.read())
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
            "CREATE TABLE object (digest TEXT PRIMARY KEY, url TEXT, at TEXT, request TEXT, head TEXT, body BLOB)",
        ):
            self._connection.execute(statement)

    def keep(self, batch: Sequence[Visit]) -> None:
        """All rows at once; the digest is checked, as we do."""
        rows = []
        for visit in batch:
            answer = _answer(visit)
            body = answer.body.read()
            if f"sha256:{sha256(body).hexdigest()}" != answer.digest:
                raise ValueError(f"the body of {visit.url} has changed")
            heads = ("\r\n".join(map(": ".join, headers)) for headers in (answer.request_headers, answer.headers))
            rows.append((answer.digest, visit.url, visit.started_at.isoformat(), *heads, body))
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO object VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """The log is written back into the database."""
        self._connection.close()

    def stored(self) -> int:
        """The database; its log is gone when it is closed."""
        return folder_size(self._folder)


class Warcio:
    """The writer of warcio, with the file synced after each batch."""

    def __init__(self, folder: Path) -> None:
        from warcio.warcwriter import WARCWriter

        self._folder = folder
        folder.mkdir(parents=True)
        self._file = (folder / "objects.warc.gz").open("wb")
        self._writer = WARCWriter(self._file, gzip=True, warc_version="1.1")

    def keep(self, batch: Sequence[Visit]) -> None:
        """Request and response of each."""
        from warcio.statusandheaders import StatusAndHeaders

        for visit in batch:
            answer = _answer(visit)
            extra = {"WARC-IP-Address": answer.address}
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


def _answer(visit: Visit) -> Answer:
    if visit.answer is None:
        raise ValueError(f"the visit to {visit.url} brought nothing")
    return visit.answer


def _target(url: str) -> str:
    return "/" + url.split("/", 3)[3]

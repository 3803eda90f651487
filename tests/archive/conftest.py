"""Visits made by hand, and a check of every file by warcio."""

from __future__ import annotations

import hashlib
import io
from argparse import Namespace
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rehi.archive import Archive
from rehi.engines.folder import FolderShelf
from rehi.model.version import Digest
from rehi.model.visit import Answer, Visit

NOON = datetime(2024, 3, 9, 12, 0, 0, 123_456, tzinfo=UTC)


@pytest.fixture
def make_visit() -> Callable[..., Visit]:
    """A visit that brought ``body``; each is a second later than the one before."""
    made = [0]

    def make_visit(url: str = "http://www.rehemaa.test/", body: bytes = b"<p>Tere", **facts: Any) -> Visit:
        made[0] += 1
        answer: dict[str, Any] = {
            "status": 200,
            "reason": "OK",
            "http_version": "1.1",
            "request_headers": (("Host", "www.rehemaa.test"), ("User-Agent", "rehi/test"), ("Accept", "*/*")),
            "headers": (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body)))),
            "address": "127.0.0.1",
            "body": io.BytesIO(body),
            "size": len(body),
            "digest": Digest(f"sha256:{hashlib.sha256(body).hexdigest()}"),
        }
        at = facts.pop("at", NOON + timedelta(seconds=made[0]))
        return Visit(url=url, started_at=at, seconds=0.1, answer=Answer(**{**answer, **facts}))

    return make_visit


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def shelf(folder: Path) -> Iterator[FolderShelf]:
    shelf = FolderShelf(folder)
    yield shelf
    shelf.close()


@pytest.fixture
def open_archive(shelf: FolderShelf) -> Callable[..., Archive]:
    """The archive on the shelf, opened again with each call."""

    def open_archive(**changes: Any) -> Archive:
        arguments = {"file_bytes": 10**9, "worker": "w1", "software": "rehi/test", "clock": lambda: NOON, **changes}
        return Archive(arguments.pop("shelf", shelf), **arguments)

    return open_archive


@pytest.fixture
def archive(open_archive: Callable[..., Archive]) -> Archive:
    return open_archive()


@pytest.fixture
def read_files(folder: Path) -> Callable[[], list[Any]]:
    """All records as warcio reads them, each with its ``content``, after its checker has passed every file."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.checker import Checker

    def read_files() -> list[Any]:
        files = sorted(folder.glob("*.warc.gz"))
        checker = Checker(Namespace(inputs=[str(file) for file in files], verbose=False))
        assert checker.process_all() == 0
        records = []
        for file in files:
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.content = record.content_stream().read()
                    records.append(record)
        return records

    return read_files

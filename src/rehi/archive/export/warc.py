"""Plain WARC 1.1: captures as records in files of a size, and the lines of their index."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from rehi.archive.cdxj import REVISIT, SortedLines, cdxj_line
from rehi.archive.export.exchange import Expander
from rehi.archive.export.tally import Exported
from rehi.archive.export.written import Written
from rehi.archive.record import block_fields, record_id, warc_date, write_record
from rehi.errors import ArchiveError
from rehi.model.capture import Capture
from rehi.ports import Shelf

_CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an export says of itself."""

    software: str
    title: str
    description: str
    made_at: datetime


class Files(Protocol):
    """A place in which files are made, one after the other."""

    def open(self, name: str) -> BinaryIO:
        """A new file; its close makes it whole."""


class WarcExport:
    """Captures go in, files of records and a sorted index come out. What is written has been checked."""

    def __init__(
        self,
        shelf: Shelf,
        files: Files,
        *,
        folder: str,
        spool: Path,
        statement: Statement,
        file_bytes: int,
        exported: Exported,
    ) -> None:
        self._expander = Expander(shelf)
        self._warcs = _WarcFiles(files, folder, statement, file_bytes, exported)
        self._written = Written(spool)
        self.index = SortedLines(spool)
        self._exported = exported

    def add(self, capture: Capture) -> bool:
        """Write a capture; False if it had to be left out."""
        exported = self._exported
        if capture.dropped:
            exported.leave_out(capture)
            return False
        digest = capture.digest
        original = None if digest is None else self._written.find(digest, at=warc_date(capture.at))
        try:
            outgoing = self._expander.expand(capture, original=original)
        except ArchiveError as error:
            exported.leave_out(capture, error)
            return False
        file, offset, length = self._warcs.write(outgoing.request, outgoing.answer)
        if digest is not None and outgoing.original is not None:
            self._written.add(digest, outgoing.original)
        self.index.add(
            cdxj_line(
                url=capture.url,
                at=capture.at,
                mime=outgoing.mime,
                status=outgoing.status,
                digest=outgoing.digest,
                length=length,
                offset=offset,
                filename=file,
            )
        )
        exported.captures += 1
        kind = "redirects" if digest is None else "revisits" if outgoing.mime == REVISIT else "whole"
        exported.counts[kind] += 1
        return True

    def finish(self) -> None:
        """Make the last file whole; the index is complete then."""
        self._warcs.finish()

    def close(self) -> None:
        """Give everything back."""
        self._warcs.abandon()
        self._written.close()
        self.index.close()


class _WarcFiles:
    """Files that begin with what the export says of itself, rolled at a size."""

    def __init__(self, files: Files, folder: str, statement: Statement, file_bytes: int, exported: Exported) -> None:
        self._files, self._folder, self._statement = files, folder, statement
        self._file_bytes, self._exported = file_bytes, exported
        self._stream: BinaryIO | None = None
        self._name = ""
        self._end = 0

    def write(self, request: bytes, answer: Iterable[bytes]) -> tuple[str, int, int]:
        """Both records, side by side; the file, the offset and the length of the second."""
        if self._stream is None or self._end >= self._file_bytes:
            self._begin()
        self._put([request])
        start = self._end
        self._put(answer)
        return self._name, start, self._end - start

    def finish(self) -> None:
        if self._stream is not None:
            stream, self._stream = self._stream, None
            stream.close()

    def abandon(self) -> None:
        with suppress(OSError, ValueError):  # what went wrong first is what counts
            self.finish()

    def _begin(self) -> None:
        self.finish()
        number, made_at = len(self._exported.files) + 1, self._statement.made_at
        self._name = f"export-{made_at.astimezone(UTC):%Y%m%d%H%M%S}-{number:05}.warc.gz"
        self._exported.files.append(self._name)
        self._stream = self._files.open(f"{self._folder}{self._name}")
        self._end = 0
        self._put(self._warcinfo())

    def _put(self, chunks: Iterable[bytes]) -> None:
        assert self._stream is not None
        for chunk in chunks:
            self._stream.write(chunk)
            self._end += len(chunk)
            self._exported.bytes += len(chunk)

    def _warcinfo(self) -> Iterable[bytes]:
        said: Mapping[str, str] = {
            "software": self._statement.software,
            "isPartOf": self._statement.title,
            "description": self._statement.description,
            "format": "WARC File Format 1.1",
            "conformsTo": _CONFORMS_TO,
        }
        lines = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in said.items())
        date = warc_date(self._statement.made_at)
        fields = (
            ("WARC-Type", "warcinfo"),
            ("WARC-Record-ID", record_id("export", "warcinfo", date, self._name)),
            ("WARC-Date", date),
            ("WARC-Filename", self._name),
            *block_fields(block := lines.encode("utf-8", "replace"), "application/warc-fields"),
        )
        return write_record(fields, [block])


class FolderFiles:
    """Files in a folder, on disk for good when they are closed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> BinaryIO:
        """A new file."""
        return io.BufferedWriter(_Lasting(self._folder / name, "xb"), 1 << 20)


class _Lasting(io.FileIO):
    def close(self) -> None:
        if not self.closed:
            try:
                os.fsync(self.fileno())
            finally:
                super().close()


class FolderWarcs:
    """A folder of plain WARC files with their sorted index beside them."""

    INDEX = "index.cdxj"

    def __init__(
        self, shelf: Shelf, folder: Path, *, spool: Path, statement: Statement, file_bytes: int, exported: Exported
    ) -> None:
        self._files = FolderFiles(folder)
        self._warcs = WarcExport(
            shelf, self._files, folder="", spool=spool, statement=statement, file_bytes=file_bytes, exported=exported
        )

    def add(self, capture: Capture) -> None:
        """Write a capture."""
        self._warcs.add(capture)

    def finish(self) -> None:
        """Make all files whole, and write the index."""
        self._warcs.finish()
        with self._files.open(self.INDEX) as index:
            for line in self._warcs.index:
                index.write(line.encode() + b"\n")

    def close(self) -> None:
        """Give everything back."""
        self._warcs.close()

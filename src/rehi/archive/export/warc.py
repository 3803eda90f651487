"""Plain WARC 1.1: captures as records in files of a limited size, and the lines of their index."""

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
from rehi.archive.export.written_bodies import WrittenBodies
from rehi.archive.record import block_fields, field_lines, pack_record, record_id, warc_date
from rehi.errors import ArchiveError
from rehi.model.capture import Capture
from rehi.ports import Shelf

_CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportInfo:
    """The description of an export, which is written into it."""

    software: str
    title: str
    description: str
    made_at: datetime


class NewFiles(Protocol):
    """Opens the files of an export one after another."""

    def open(self, name: str) -> BinaryIO:
        """Return a new file; closing it completes it."""


class WarcExport:
    """Writes captures into WARC files, and collects the sorted lines of their index. What is written has been checked."""

    def __init__(
        self,
        shelf: Shelf,
        files: NewFiles,
        *,
        folder: str,
        spool: Path,
        info: ExportInfo,
        file_bytes: int,
        exported: Exported,
    ) -> None:
        self._expander = Expander(shelf)
        self._warcs = _WarcFiles(files, folder, info, file_bytes, exported)
        self._written = WrittenBodies(spool)
        self.index = SortedLines(spool)
        self._exported = exported

    def add(self, capture: Capture) -> bool:
        """Write a capture; return False if it had to be left out."""
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
        """Complete the last file; the index is complete then."""
        self._warcs.finish()

    def close(self) -> None:
        """Close all files."""
        self._warcs.abandon()
        self._written.close()
        self.index.close()


class _WarcFiles:
    """WARC files that begin with the description of the export, and are rolled at a size."""

    def __init__(self, files: NewFiles, folder: str, info: ExportInfo, file_bytes: int, exported: Exported) -> None:
        self._files, self._folder, self._info = files, folder, info
        self._file_bytes, self._exported = file_bytes, exported
        self._stream: BinaryIO | None = None
        self._name = ""
        self._end = 0

    def write(self, request: bytes, answer: Iterable[bytes]) -> tuple[str, int, int]:
        """Write a request and an answer; return the file, the offset and the length of the answer."""
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
        with suppress(OSError, ValueError):  # the first error is the one to raise
            self.finish()

    def _begin(self) -> None:
        self.finish()
        number, made_at = len(self._exported.files) + 1, self._info.made_at
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
        values: Mapping[str, str] = {
            "software": self._info.software,
            "isPartOf": self._info.title,
            "description": self._info.description,
            "format": "WARC File Format 1.1",
            "conformsTo": _CONFORMS_TO,
        }
        lines = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in values.items())
        date = warc_date(self._info.made_at)
        fields = (
            ("WARC-Type", "warcinfo"),
            ("WARC-Record-ID", record_id("export", "warcinfo", date, self._name)),
            ("WARC-Date", date),
            ("WARC-Filename", self._name),
            *block_fields(block := lines.encode("utf-8", "replace"), "application/warc-fields"),
        )
        return [pack_record(field_lines(fields), block)]


class FolderFiles:
    """Makes files in a folder, on disk for good when they are closed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> BinaryIO:
        """Return a new file to write."""
        return io.BufferedWriter(_SyncedFile(self._folder / name, "xb"), 1 << 20)


class _SyncedFile(io.FileIO):
    """A file that is synced to disk when it is closed."""

    def close(self) -> None:
        if not self.closed:
            try:
                os.fsync(self.fileno())
            finally:
                super().close()


class FolderWarcs:
    """Writes captures into a folder of plain WARC files, with their sorted index beside them."""

    INDEX = "index.cdxj"

    def __init__(
        self, shelf: Shelf, folder: Path, *, spool: Path, info: ExportInfo, file_bytes: int, exported: Exported
    ) -> None:
        self._files = FolderFiles(folder)
        self._warcs = WarcExport(
            shelf, self._files, folder="", spool=spool, info=info, file_bytes=file_bytes, exported=exported
        )

    def add(self, capture: Capture) -> None:
        """Write a capture."""
        self._warcs.add(capture)

    def finish(self) -> None:
        """Complete all files, and write the index."""
        self._warcs.finish()
        with self._files.open(self.INDEX) as index:
            for line in self._warcs.index:
                index.write(line.encode() + b"\n")

    def close(self) -> None:
        """Close all files."""
        self._warcs.close()

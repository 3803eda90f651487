"""CDXJ: an index of records, one line each, sorted by SURT and time; lines that don't fit into memory are sorted on disk."""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from rehi.archive.surt import surt

REVISIT = "warc/revisit"  # in place of the media type, for a revisit record
_MEMORY = 32 << 20  # bytes of lines that are sorted at once
_OVERHEAD = 80  # bytes that each takes besides
_RUNS = 64  # files that are merged at once


def cdxj_line(
    *, url: str, at: datetime, mime: str, status: int, digest: str, length: int, offset: int, filename: str
) -> str:
    """Return the line of a record, without a line end. All values are strings, as other tools write them."""
    values = {
        "url": url,
        "mime": mime.partition(";")[0].strip() or "unk",
        "status": str(status),
        "digest": digest,
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    return f"{surt(url)} {timestamp(at)} {json.dumps(values)}"


def timestamp(at: datetime) -> str:
    """Return a moment in UTC as the fourteen digits of web archives."""
    return f"{at.astimezone(UTC):%Y%m%d%H%M%S}".rjust(14, "0")


class SortedLines:
    """Lines that are added in any order and read sorted by their bytes; what does not fit into memory is kept on disk."""

    def __init__(self, folder: Path | None = None, *, memory: int = _MEMORY) -> None:
        self._folder, self._memory = folder, memory
        self._held: list[bytes] = []
        self._size = 0
        self._runs: list[BinaryIO] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, line: str) -> None:
        """Add a line, without its line end."""
        raw = line.encode("utf-8", "replace")
        if b"\n" in raw:
            raise ValueError("a line of an index has the end of a line in it")
        self._held.append(raw + b"\n")
        self._size += len(raw) + _OVERHEAD
        if self._size >= self._memory:
            self._spill()

    def __iter__(self) -> Iterator[str]:
        """Yield all lines in order; one iteration at a time."""
        self._held.sort()
        for run in self._runs:
            run.seek(0)
        for raw in heapq.merge(*self._runs, self._held):
            yield raw[:-1].decode("utf-8")

    def close(self) -> None:
        """Delete what is on disk."""
        for run in self._runs:
            run.close()
        self._runs, self._held, self._size = [], [], 0

    def _spill(self) -> None:
        self._held.sort()
        self._keep_run(iter(self._held))
        self._held, self._size = [], 0
        if len(self._runs) >= _RUNS:  # a process may have only so many files open
            merged = self._runs
            self._runs = []
            for run in merged:
                run.seek(0)
            self._keep_run(heapq.merge(*merged))
            for run in merged:
                run.close()

    def _keep_run(self, lines: Iterator[bytes]) -> None:
        run = tempfile.TemporaryFile(dir=self._folder, prefix="rehi-lines-")  # noqa: SIM115 - closed by close()
        self._runs.append(run)
        run.writelines(lines)
        run.flush()

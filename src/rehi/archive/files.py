"""A series of WARC files: named, begun with a ``warcinfo`` record, rolled when they are large enough."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import chain

from rehi.archive.record import block_fields, field_lines, pack_record, record_id, warc_date
from rehi.archive.seal import index_name
from rehi.model.version import RecordRef
from rehi.ports import Shelf

_CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class FileSeries:
    """The WARC files of one worker, appended to one after the other."""

    def __init__(
        self,
        shelf: Shelf,
        *,
        name: str,
        worker: str,
        dated: bool,
        file_bytes: int,
        clock: Callable[[], datetime],
        info: Mapping[str, str],
    ) -> None:
        self.worker = re.sub(r"[^A-Za-z0-9_-]+", "-", worker).strip("-")[:64] or "worker"
        self._shelf, self._name, self._dated = shelf, name, dated
        self._file_bytes, self._clock, self._info = file_bytes, clock, info
        stem = rf"{name}-{r'[0-9]{14}-' if dated else ''}{self.worker}-([0-9]{{5,}})"
        # Whether a file is one of this series and worker, by its name; the group is its number.
        self.owns = re.compile(rf"{stem}\.warc\.gz").fullmatch
        self._replaced = re.compile(rf"{stem}-c[0-9]+\.warc\.gz")  # what took the place of one: its number is taken
        self._lock = threading.Lock()
        self._looked = False  # whether this worker's last file was looked for
        self._abandoned: set[str] = set()
        self._file = ""  # the one that is appended to
        self._number = self._end = 0
        self._began_at: datetime | None = None  # when this process began the file, if it did
        self.rolled = 0  # grows when there is a file to seal

    def append(self, chunks: Iterable[bytes]) -> RecordRef:
        """Append a record, or several as one piece; return its range."""
        with self._lock:
            ref = self._shelf.append(self._current(), chunks)
            self._end = ref.end
            return ref

    def append_beside(self, first: bytes, second: Iterable[bytes]) -> RecordRef:
        """Append two records as one piece; return the range of the second."""
        pair = self.append(chain([first], second))
        return RecordRef(pair.file, pair.offset + len(first), pair.length - len(first))

    def finished(self) -> list[tuple[str, int]]:
        """Return the files that nothing is appended to any more, with their sizes."""
        with self._lock:
            self._look()
            return [
                (file, size)
                for file, size in self._shelf.files()
                if self.owns(file) and (file != self._file or file in self._abandoned)
            ]

    def close(self, *, began_before: datetime | None = None) -> str:
        """Close the open file for good, if it holds anything and was begun before then; return its name, or nothing."""
        with self._lock:
            self._look()
            file = self._file
            young = began_before is not None and self._began_at is not None and self._began_at >= began_before
            if not file or file in self._abandoned or self._end == 0 or young:
                return ""
            self._abandoned.add(file)
            self.rolled += 1
            return file

    def look_again(self) -> None:
        """Look at the files anew, now: later the place may be out of reach, and appending must go on."""
        with self._lock:
            self._file, self._looked = "", False
            self._look()

    def abandon(self, file: str) -> None:
        """Never append to a file again, as when it is damaged: other tools read no further than the damage."""
        with self._lock:
            self._abandoned.add(file)
            self._file, self._looked = "", False

    def _current(self) -> str:
        self._look()
        if not self._file or self._end >= self._file_bytes or self._file in self._abandoned:
            now = self._clock().astimezone(UTC)
            self._number += 1
            self.rolled += bool(self._file)
            stamp = f"{now:%Y%m%d%H%M%S}-" if self._dated else ""
            self._file, self._end = f"{self._name}-{stamp}{self.worker}-{self._number:05}.warc.gz", 0
            self._began_at = now
        if self._end == 0:
            self._end = self._shelf.append(self._file, [self._warcinfo(self._file)]).end
        return self._file

    def _look(self) -> None:
        """Find this worker's last file, if that was not done: it is appended to while it is small enough and not sealed."""
        if self._looked:
            return
        files = dict(self._shelf.files())
        for file, size in files.items():
            match = self.owns(file)
            if match and int(match[1]) >= self._number:
                self._number, self._file, self._end = int(match[1]), file, size
        taken = [int(match[1]) for file in files if (match := self._replaced.fullmatch(file))]
        if max(taken, default=0) > self._number:
            self._number, self._file, self._end = max(taken), "", 0
        # It has an index when files are to be larger than they were, and none if it is no part of the archive itself.
        if self._file and (index_name(self._file) in files or self._shelf.is_sealed(self._file)):
            self._abandoned.add(self._file)
        before = (file for file in files if file != self._file and self.owns(file))
        self.rolled += any(index_name(file) not in files for file in before)
        self._looked = True

    def _warcinfo(self, file: str) -> bytes:
        """Return the record with which a file begins."""
        info = {**self._info, "format": "WARC File Format 1.1", "conformsTo": _CONFORMS_TO}
        block = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in info.items()).encode(
            "utf-8", "replace"
        )
        now = self._clock()
        fields = (
            ("WARC-Type", "warcinfo"),
            ("WARC-Record-ID", record_id("warcinfo", file, warc_date(now))),
            ("WARC-Date", warc_date(now)),
            ("WARC-Filename", file),
            *block_fields(block, "application/warc-fields"),
        )
        return pack_record(field_lines(fields), block)

"""An answer on its way in: its head, read line by line, and its body, decoded, counted, hashed and spooled as it streams."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from rehi.errors import BadAnswer, TooLarge
from rehi.fetch.checksum import Checksums
from rehi.fetch.coding import Decoder, decoders_for
from rehi.model.http import Headers, parse_headers
from rehi.model.version import Digest

# Of all lines of an answer together, interim answers and trailers included; each counts for as much as it costs, so that
# neither a thousand short lines nor half a megabyte of long ones get through.
_ROOM = 524_288  # bytes
_PER_LINE = 512
IN_MEMORY = 1_000_000  # bytes; what is larger goes to a temporary file, which has no name and so is never left behind


@dataclass(slots=True)
class Head:
    """Collects the header lines that libcurl hands over; interim answers (1xx) and trailers are passed over."""

    status: int = 0
    reason: str = ""  # the status line's phrase
    http_version: str = ""  # as in "1.1"
    headers: Headers = ()
    complete: bool = False  # the headers of the final answer have ended
    _lines: list[bytes] = field(default_factory=list)
    _room: int = _ROOM

    def add(self, line: bytes) -> bool:
        """Add a line; return whether it ended the headers of the final answer. BadAnswer if it can't be a header line."""
        self._room -= len(line) + _PER_LINE
        if self._room < 0:
            raise BadAnswer("the headers of the answer do not end")
        if self.complete:
            return False
        if line != b"\r\n" and line != b"\n":
            self._lines.append(line)
            return False
        self._end()
        return self.complete

    def _end(self) -> None:
        text = b"".join(self._lines).decode("latin-1")
        first, *lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
        self._lines = []
        words = first.split(None, 2)
        if len(words) < 2 or not words[1].isdecimal():
            raise BadAnswer("the answer has no status")
        self.status = int(words[1][:3])
        self.http_version = words[0].removeprefix("HTTP/")
        self.reason = words[2].strip() if len(words) > 2 else ""
        if self.status == 101:
            raise BadAnswer("the answer changes to a protocol that nobody asked for")
        if self.status >= 200:
            self.headers = parse_headers(lines)
            self.complete = True


class IncomingBody:
    """Takes the bytes of one answer: no more than ``max_bytes`` of them once decoded, and the first ``cut_at``."""

    def __init__(
        self,
        *,
        content_encoding: str,
        max_bytes: int,
        cut_at: int | None = None,
        checksums: Headers = (),
        spool: Path | None,
    ) -> None:
        self.size = 0
        self.cut = False  # the rest is not wanted
        self._decoders = decoders_for(content_encoding) if content_encoding else ()
        self._received = 0  # bytes before they were decoded
        self._max_bytes = max_bytes
        self._cut_at = cut_at
        # With several codings nobody knows after which of them a sum was made.
        several = len(self._decoders) > 1
        self._checksums = Checksums(checksums, coded=bool(self._decoders)) if checksums and not several else None
        self._hash = hashlib.sha256()
        # Whoever gets the answer closes it, and close() does when nobody gets one.
        self._file: BinaryIO = BytesIO()
        self._in_memory = True
        self._spool = spool

    def write(self, data: bytes) -> None:
        """Take bytes as they came; TooLarge, BadEncoding or Truncated when they can't be the body."""
        if self._checksums is not None:
            self._checksums.add_wire(data)
        if self._decoders:
            self._received += len(data)
            if self._received > self._max_bytes:  # padding behind a compressed body would never show in its size
                raise self._too_large()
            self._pass(data, self._decoders)
        else:
            self._keep(data)

    def finish(self) -> tuple[BinaryIO, int, Digest]:
        """Return the whole body from its start, its size and its digest."""
        for place, decoder in enumerate(() if self.cut else self._decoders):
            for piece in decoder.finish():
                self._pass(piece, self._decoders[place + 1 :])
        if self._checksums is not None and not self.cut:
            self._checksums.check()
        self._file.seek(0)
        return self._file, self.size, Digest(f"sha256:{self._hash.hexdigest()}")

    def close(self) -> None:
        """Close the body and drop its bytes."""
        self._file.close()

    def _pass(self, data: bytes, decoders: tuple[Decoder, ...]) -> None:
        if not decoders:
            self._keep(data)
            return
        for piece in decoders[0].feed(data):
            self._pass(piece, decoders[1:])
            if self.cut:
                return

    def _keep(self, data: bytes) -> None:
        if self._cut_at is not None and self.size + len(data) > self._cut_at:
            data = data[: self._cut_at - self.size]
            self.cut = True
        self.size += len(data)
        if self.size > self._max_bytes:
            raise self._too_large()
        if self._checksums is not None:
            self._checksums.add_plain(data)
        self._hash.update(data)
        if self._in_memory and self.size > IN_MEMORY:
            self._move_to_disk()
        self._file.write(data)

    def _move_to_disk(self) -> None:
        small, self._file = self._file, TemporaryFile(dir=self._spool)  # noqa: SIM115
        self._in_memory = False
        small.seek(0)
        self._file.write(small.read())
        small.close()

    def _too_large(self) -> TooLarge:
        return TooLarge(f"the body is larger than the {self._max_bytes:,} bytes that are allowed")

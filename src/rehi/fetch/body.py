"""A body on its way in: decoded, counted, hashed and spooled as it streams."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from rehi.errors import TooLarge
from rehi.fetch.checksum import Checksums
from rehi.fetch.coding import Decoder, decoders_for
from rehi.model.version import Digest
from rehi.model.visit import Headers

IN_MEMORY = 1_000_000  # bytes; what is larger goes to a temporary file, which has no name and so is never left behind


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
        self._came = 0  # bytes before they were decoded
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
            self._came += len(data)
            if self._came > self._max_bytes:  # padding behind a compressed body would never show in its size
                raise self._too_large()
            self._pass(data, self._decoders)
        else:
            self._keep(data)

    def finish(self) -> tuple[BinaryIO, int, Digest]:
        """Return the whole body from its start, its size and its digest."""
        if not self.cut:
            self._end()
        self._file.seek(0)
        return self._file, self.size, Digest(f"sha256:{self._hash.hexdigest()}")

    def close(self) -> None:
        """Let go of the bytes."""
        self._file.close()

    def _end(self) -> None:
        for place, decoder in enumerate(self._decoders):
            for piece in decoder.finish():
                self._pass(piece, self._decoders[place + 1 :])
        if self._checksums is not None and not self.cut:
            self._checksums.check()

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

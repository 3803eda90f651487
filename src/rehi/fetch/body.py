"""A body on its way in: decoded, counted, hashed and spooled as it streams."""

from __future__ import annotations

import hashlib
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from rehi.errors import TooLarge
from rehi.fetch.coding import Decoder, decoders_for
from rehi.model.version import Digest

IN_MEMORY = 1_000_000  # bytes; what is larger goes to a temporary file


class Body:
    """Takes the bytes of one answer, and never more than ``max_bytes`` of them once decoded."""

    def __init__(self, *, content_encoding: str, max_bytes: int, spool: Path | None) -> None:
        self.size = 0
        self._decoders = decoders_for(content_encoding) if content_encoding else ()
        self._max_bytes = max_bytes
        self._hash = hashlib.sha256()
        # Whoever gets the answer closes it, and close() does when nobody gets one.
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY, dir=str(spool) if spool else None)  # noqa: SIM115

    def write(self, data: bytes) -> None:
        """Take bytes as they came; TooLarge, BadEncoding or Truncated when they can't be the body."""
        self._pass(data, self._decoders)

    def finish(self) -> tuple[BinaryIO, int, Digest]:
        """The whole body from its start, its size and its digest."""
        for place, decoder in enumerate(self._decoders):
            for piece in decoder.finish():
                self._pass(piece, self._decoders[place + 1 :])
        self._file.seek(0)
        return cast(BinaryIO, self._file), self.size, Digest(f"sha256:{self._hash.hexdigest()}")

    def close(self) -> None:
        """Let go of the bytes."""
        self._file.close()

    def _pass(self, data: bytes, decoders: tuple[Decoder, ...]) -> None:
        if decoders:
            for piece in decoders[0].feed(data):
                self._pass(piece, decoders[1:])
            return
        self.size += len(data)
        if self.size > self._max_bytes:
            raise TooLarge(f"the body is larger than the {self._max_bytes:,} bytes that are allowed")
        self._hash.update(data)
        self._file.write(data)

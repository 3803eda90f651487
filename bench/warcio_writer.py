"""warcio's writer with a compressor and digests that can be chosen: for comparisons at equal work.

It imports nothing of rehi, for peers that run in an environment of their own use it too.
"""

from __future__ import annotations

from typing import Any, BinaryIO

GZIP = 31  # window bits that ask for a gzip header and trailer


class _MemberFile:
    """What warcio writes a record to: one gzip member, ended by the flush that warcio ends a record with."""

    def __init__(self, file: BinaryIO, level: int) -> None:
        from isal import isal_zlib

        self._file = file
        self._deflate = isal_zlib.compressobj(level, isal_zlib.DEFLATED, GZIP)

    def write(self, plain: bytes) -> None:
        """Take the next bytes of the record."""
        self._file.write(self._deflate.compress(plain))

    def flush(self) -> None:
        """End the member; the file itself is flushed with its batch."""
        self._file.write(self._deflate.flush())


def open_writer(file: BinaryIO, *, level: int) -> Any:
    """Return a writer of warcio that compresses with ISA-L at a level, and digests with SHA-256."""
    from warcio.utils import Digester
    from warcio.warcwriter import WARCWriter

    class EqualWriter(WARCWriter):  # type: ignore[misc,unused-ignore]
        def _write_warc_record(self, out: BinaryIO, record: Any) -> None:
            super()._write_warc_record(_MemberFile(out, level), record)

        @staticmethod
        def _create_digester() -> Any:
            return Digester("sha256")

    return EqualWriter(file, gzip=False, warc_version="1.1")

"""A zip file that is written as it goes: nothing is held but the file that is being read, however many there are.

Every entry is deflated and followed by its checksum and sizes, so that readers of streams can take it too; those that
look as if they were compressed already are deflated at level 0. The directory waits in a temporary file, and entries,
counts and offsets that are too large for the old fields are written as zip64.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from struct import pack
from tempfile import SpooledTemporaryFile

from rehi.errors import RecordDamaged

CHUNK = 262_144
_LARGE = 0xFFFF_FFFF  # the first size that the old fields can't hold
_NEAR = 0x7FFF_FFFF  # from which on an entry has the new fields; what deflates badly grows
_MANY = 0xFFFF
_STREAMED_UTF8 = 0x0808  # sizes follow the data; the name is UTF-8
_DEFLATED = 8
_UNIX_FILE = 0o100_644 << 16
_SPOOLED = 1 << 20  # bytes of the directory that stay in memory


class ZipStream:
    """A zip file on its way out; ``offset`` bytes stand before it."""

    def __init__(self, *, offset: int = 0) -> None:
        self._offset, self._count = offset, 0
        self._directory = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115

    def add(
        self, name: str, chunks: Iterable[bytes], *, at: datetime, size: int, packed: bool = False
    ) -> Iterator[bytes]:
        """The bytes of an entry of at most ``size`` bytes. One that breaks off is ended properly, and the error raised."""
        start, large, coded = self._offset, size >= _NEAR, name.encode()
        stamp = _dos_time(at)
        yield self._out(
            pack("<IHHHII", 0x04034B50, 45 if large else 20, _STREAMED_UTF8, _DEFLATED, stamp, 0)
            + pack("<IIHH", _LARGE if large else 0, _LARGE if large else 0, len(coded), 20 if large else 0)
            + coded
            + (pack("<HHQQ", 1, 16, 0, 0) if large else b"")
        )
        before, check, plain = self._offset, 0, 0
        failure: Exception | None = None
        deflate = zlib.compressobj(0 if packed else 3, zlib.DEFLATED, -15)
        try:
            for chunk in chunks:
                plain += len(chunk)
                if plain > size:
                    plain -= len(chunk)
                    raise RecordDamaged(f"{name} is longer than the {size:,} bytes that were announced")
                check = zlib.crc32(chunk, check)
                if out := deflate.compress(chunk):
                    yield self._out(out)
        except Exception as error:  # whatever it is, the file must stay readable
            failure = error
        yield self._out(deflate.flush())
        held = self._offset - before
        yield self._out(pack("<IIQQ" if large else "<IIII", 0x08074B50, check, held, plain))
        self._enter(coded, stamp, check, held, plain, start, large=large)
        if failure is not None:
            raise failure

    def end(self) -> Iterator[bytes]:
        """The directory, after which nothing can be added."""
        start = self._offset
        self._directory.seek(0)
        while chunk := self._directory.read(CHUNK):
            yield self._out(chunk)
        self._directory.close()
        size, ends = self._offset - start, self._offset
        if self._count >= _MANY or size >= _LARGE or start >= _LARGE:
            yield self._out(
                pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, self._count, self._count, size, start)
                + pack("<IIQI", 0x07064B50, 0, ends, 1)
            )
        count = min(self._count, _MANY)
        yield self._out(pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, min(size, _LARGE), min(start, _LARGE), 0))

    def close(self) -> None:
        """Give the temporary file back, if the zip was not ended."""
        self._directory.close()

    def _out(self, content: bytes) -> bytes:
        self._offset += len(content)
        return content

    def _enter(self, name: bytes, stamp: int, check: int, held: int, plain: int, start: int, *, large: bool) -> None:
        extra = b""
        if large:
            extra += pack("<QQ", plain, held)
        if start >= _LARGE:
            extra += pack("<Q", start)
        extra = pack("<HH", 1, len(extra)) + extra if extra else b""
        sizes = (_LARGE, _LARGE) if large else (held, plain)
        self._directory.write(
            pack("<IHHHHI", 0x02014B50, 3 << 8 | 45, 45 if extra else 20, _STREAMED_UTF8, _DEFLATED, stamp)
            + pack("<IIIHHHHHII", check, *sizes, len(name), len(extra), 0, 0, 0, _UNIX_FILE, min(start, _LARGE))
            + name
            + extra
        )
        self._count += 1


def _dos_time(at: datetime) -> int:
    moment = at.astimezone(UTC)
    if moment.year < 1980:
        return 1 << 21 | 1 << 16
    moment = moment if moment.year <= 2107 else moment.replace(year=2107)
    date = moment.year - 1980 << 9 | moment.month << 5 | moment.day
    return date << 16 | moment.hour << 11 | moment.minute << 5 | moment.second // 2

"""A zip file that is written as it goes: the standard library's, with its bytes handed on and its directory on disk.

Every entry is deflated and followed by its checksum and sizes, so that readers of streams can take it too; those that
look as if they were compressed already are deflated at level 0.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from tempfile import SpooledTemporaryFile
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from rehi.errors import RecordDamaged

CHUNK = 262_144
_NEAR = 0x7FFF_FFFF  # size from which on an entry has the fields of zip64; what deflates badly grows
_UNIX_FILE = 0o100_644 << 16
_SPOOLED = 1 << 20  # bytes of the directory that stay in memory


class ZipStream:
    """A zip file on its way out; ``offset`` bytes stand before it."""

    def __init__(self, *, offset: int = 0) -> None:
        self._out, self._entries = _Outlet(), _Entries()
        self._zip = ZipFile(self._out, "w")
        self._zip.filelist, self._zip.NameToInfo = self._entries, _NoNames()
        self._out.passed = offset

    def add(
        self, name: str, chunks: Iterable[bytes], *, at: datetime, size: int, packed: bool = False
    ) -> Iterator[bytes]:
        """Yield the bytes of an entry of at most ``size`` bytes. One that breaks off is ended properly, and the error raised."""
        entry = ZipInfo(name, _date_time(at))
        entry.compress_type, entry.external_attr = ZIP_DEFLATED, _UNIX_FILE
        entry._compresslevel = 0 if packed else 3  # type: ignore[attr-defined]  # public from Python 3.13 on
        left = size
        try:
            with self._zip.open(entry, "w", force_zip64=size >= _NEAR) as file:
                for chunk in chunks:
                    left -= len(chunk)
                    if left < 0:
                        raise RecordDamaged(f"{name} is longer than the {size:,} bytes that were announced")
                    file.write(chunk)
                    yield from self._out.take()
        except Exception:  # whatever it is, the file must stay readable
            yield from self._out.take()
            raise
        yield from self._out.take()

    def end(self) -> Iterator[bytes]:
        """Yield the directory, after which nothing can be added."""
        self._zip.close()
        yield from self._out.take()
        self.close()

    def close(self) -> None:
        """Delete the temporary files."""
        self._entries.file.close()
        self._out.close()


class _Outlet:
    """What a zip file is written to: it can't go back, and what was written is taken from it."""

    def __init__(self) -> None:
        self.file = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115
        self.passed = 0

    def tell(self) -> int:
        return self.passed

    def write(self, data: bytes) -> int:
        self.passed += len(data)
        return self.file.write(data)

    def close(self) -> None:
        """Delete the temporary file."""
        self.file.close()

    def flush(self) -> None:
        """Do nothing: all that was written can be taken."""

    def take(self) -> Iterator[bytes]:
        """Yield all that was written since the last time."""
        if self.file.tell():
            self.file.seek(0)
            while chunk := self.file.read(CHUNK):
                yield chunk
            self.file.seek(0)
            self.file.truncate()


class _Entries(list[ZipInfo]):
    """The entries so far. ZipFile holds them in a list, of about 1 KB each; here they wait in a temporary file."""

    def __init__(self) -> None:
        super().__init__()
        self.file = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ZipInfo]:
        self.file.seek(0)
        for _ in range(self._count):
            yield pickle.load(self.file)  # noqa: S301

    def append(self, entry: ZipInfo, /) -> None:
        pickle.dump(entry, self.file)
        self._count += 1


class _NoNames(dict[str, ZipInfo]):
    """The names of the entries, which nobody looks up in a file that is only written."""

    def __setitem__(self, name: str, entry: ZipInfo, /) -> None:
        """Do nothing: nobody looks names up here."""


def _date_time(at: datetime) -> tuple[int, int, int, int, int, int]:
    """Return the moment in UTC, as far as a zip file can tell it."""
    moment = at.astimezone(UTC)
    if moment.year < 1980:
        return (1980, 1, 1, 0, 0, 0)
    return (min(moment.year, 2107), moment.month, moment.day, moment.hour, moment.minute, moment.second)

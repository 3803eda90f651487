"""The file of a crawl made elsewhere, and its plain bytes: out of gzip members or zstd frames, or as they are."""

from __future__ import annotations

import io
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rehi.archive.member import CHUNK, CompressionDamaged, Decompressor, Member, gzip_decompressor
from rehi.errors import RecordDamaged, SourceError
from rehi.model.media_type import GZIP_MAGIC, GZIP_MEMBER_MAGIC, ZSTD_DICTIONARY_MAGIC, ZSTD_MAGIC
from rehi.zstd import zstd_module

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_WINDOW = 1 << 20  # bytes of the file in which a member is looked for at once
_SKIPPABLE = ZSTD_DICTIONARY_MAGIC[1:]  # behind a byte from 0x50 to 0x5F
_WINDOW_LOG = 27  # 128 MB, what zstd itself allows unless it is told otherwise
_LARGEST_DICTIONARY = 64 << 20


class FileCompression(StrEnum):
    """How a file is compressed."""

    NONE = ""
    GZIP = "gzip"
    ZSTD = "zstd"


class PackedFile:
    """The bytes of a file as they lie there, and the members or frames that begin in it."""

    def __init__(self, file: io.BufferedReader) -> None:
        self.file = file
        self.size = os.fstat(file.fileno()).st_size
        self._zstd_dictionary: Any = None
        self.begin = 0  # where the first member or frame is
        first = self.read(0, 4)
        self.compression = FileCompression.NONE
        if first.startswith(GZIP_MAGIC):
            self.compression = FileCompression.GZIP
        elif first == ZSTD_MAGIC or _is_skippable(first):
            self.compression = FileCompression.ZSTD
            self.begin = self._take_dictionary() if first == ZSTD_DICTIONARY_MAGIC else 0

    def read(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes at an offset; fewer only at the file's end."""
        self.file.seek(offset)
        return self.file.read(size)

    def find_member(self, offset: int) -> int:
        """Return the next offset at which a member or a frame may begin; the file's size if there is none."""
        magic = GZIP_MEMBER_MAGIC if self.compression is FileCompression.GZIP else ZSTD_MAGIC
        while len(held := self.read(offset, _WINDOW)) >= len(magic):
            if (place := held.find(magic)) >= 0:
                return offset + place
            offset += len(held) - len(magic) + 1
        return self.size

    def skip_padding(self, offset: int) -> int:
        """Return where the next member or frame begins: zeros and skippable frames may lie between them."""
        while offset < self.size:
            head = self.read(offset, 8)
            if self.compression is FileCompression.ZSTD and _is_skippable(head) and len(head) == 8:
                offset = min(self.size, offset + 8 + int.from_bytes(head[4:], "little"))
            elif head[:1] == b"\0":
                held = self.read(offset, _WINDOW)
                offset += len(held) - len(held.lstrip(b"\0"))
            else:
                break
        return offset

    def open_member(self, offset: int) -> Member:
        """Return a stream of the member or frame that begins at an offset, as long as nothing else is read."""
        self.file.seek(offset)
        return Member(self.file, decompressor=self._decompressor())

    def _decompressor(self) -> Decompressor:
        if self.compression is FileCompression.GZIP:
            return gzip_decompressor()
        zstd = zstd_module()
        options = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        made: Decompressor = zstd.ZstdDecompressor(self._zstd_dictionary, options=options)
        return made

    def _take_dictionary(self) -> int:
        """Take the dictionary with which all frames were packed; return where the first of them begins."""
        head = self.read(0, 8)
        size = int.from_bytes(head[4:], "little")
        if len(head) < 8 or size > min(_LARGEST_DICTIONARY, self.size - 8):
            raise RecordDamaged("the file's dictionary is cut off or larger than any dictionary is")
        content, zstd = self.read(8, size), zstd_module()
        try:
            if content.startswith(ZSTD_MAGIC):
                frame = zstd.ZstdDecompressor()
                content = frame.decompress(content, _LARGEST_DICTIONARY)
                if not frame.eof:
                    raise RecordDamaged("the file's dictionary is cut off or larger than any dictionary is")
            self._zstd_dictionary = zstd.ZstdDict(content)
            zstd.ZstdDecompressor(self._zstd_dictionary)
        except (zstd.ZstdError, ValueError) as error:
            raise RecordDamaged(f"the file's dictionary can't be used: {error}") from error
        return 8 + size


class JoinedMembers(io.RawIOBase):
    """The plain bytes of all members as one stream, for files in which members and records don't go together.

    It is unpacked in chunks of one size, so that what can be had of a damaged member does not depend on its reader.
    """

    def __init__(self, packed: PackedFile) -> None:
        super().__init__()
        self._packed = packed
        self._offset, self._given = packed.begin, 0
        self._member: Member | None = None
        self._chunk = b""

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def tell(self) -> int:
        """Return how many plain bytes were given out."""
        return self._given

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Unpack into the buffer; CompressionDamaged once at each damaged member, and then the next one is read."""
        view = memoryview(buffer).cast("B")
        self._chunk = self._chunk or self._next_chunk()
        given, self._chunk = self._chunk[: len(view)], self._chunk[len(view) :]
        view[: len(given)] = given
        self._given += len(given)
        return len(given)

    def _next_chunk(self) -> bytes:
        while True:
            if self._member is None:
                self._offset = self._packed.skip_padding(self._offset)
                if self._offset >= self._packed.size:
                    return b""
                self._member = self._packed.open_member(self._offset)
            try:
                chunk = self._member.read(CHUNK)
            except CompressionDamaged:
                self._offset, self._member = self._packed.find_member(self._offset + 1), None
                raise
            if chunk:
                return chunk
            self._offset, self._member = self._offset + self._member.length, None


class _RawFile(io.FileIO):
    """A file of which a part that can't be read is damage."""

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise RecordDamaged(f"the file can't be read at {self.tell()}: {error.strerror}") from error


def open_packed(path: Path) -> PackedFile:
    """Open a file; SourceError if it can't be opened, RecordDamaged if it begins with what nobody can unpack."""
    try:
        file = buffered(_RawFile(path))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} can't be opened: {getattr(error, 'strerror', error)}") from error
    try:
        return PackedFile(file)
    except BaseException:
        file.close()
        raise


def buffered(stream: io.RawIOBase) -> io.BufferedReader:
    """Return a stream from which lines can be read."""
    return io.BufferedReader(stream, CHUNK)


def _is_skippable(head: bytes) -> bool:
    return head[1:4] == _SKIPPABLE and head[0] & 0xF0 == 0x50

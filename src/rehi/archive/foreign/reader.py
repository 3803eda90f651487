"""The reader of crawls made elsewhere: WARC 0.17 to 1.1 and ARC, plain or packed, past what is damaged.

Records and gzip members (or zstd frames) go together in nearly all files; then a record is found by the place of its
member. In one that was packed as a whole, the place is that in the unpacked bytes. Where something is damaged, the next
line or member that begins as a record does is gone on with: in a plain file that may be one inside a body that holds
an archive itself, which no reader can tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BufferedReader
from pathlib import Path

from rehi.archive.foreign.block import LINE, RecordBlock, find_line, read_start
from rehi.archive.foreign.digest import new_hash, parse_digest
from rehi.archive.foreign.fields import (
    ARC_FIELDS,
    ARC_START,
    UNKNOWN,
    WARC_START,
    Fields,
    read_arc_fields,
    read_warc_fields,
)
from rehi.archive.foreign.message import Message, open_message
from rehi.archive.foreign.packed_file import FileCompression, JoinedMembers, PackedFile, buffered, open_packed
from rehi.archive.member import CompressionDamaged
from rehi.errors import RecordDamaged, SourceError
from rehi.model.media_type import ARC_MAGIC, WARC_MAGIC

_TRIES = 100_000  # places that look like a member, in one file: by chance one in 16 MB
_END = b"\r\n\r\n"
_ENDS = (_END, b"\n\n", b"\n", b"\r\n")  # what others write after a block; nothing, or more, if they counted wrongly
_WARC_MARKS = (WARC_MAGIC,)
_ARC_MARKS = (b"http://", b"https://", b"ftp://", b"dns:", ARC_MAGIC)
_CHECKED = frozenset({"response", "resource", "request"})  # some write the original's digest into a revisit


@dataclass(slots=True)
class ForeignRecord:
    """A record while it is read; its block is gone when the next one is asked for."""

    at: int  # where to begin to get it again
    fields: Fields
    block: RecordBlock
    spoiled: bool = False  # known once the next one is asked for: its block is not what it should be
    member: tuple[int, int] | None = None  # likewise: offset and length of the gzip member that is just this record

    def open_message(self) -> Message:
        """Return the answer in the block; RecordDamaged if there is none."""
        message = open_message(self.block)
        if (declared := parse_digest(self.fields.get("warc-payload-digest"))) is not None:
            self.block.hash_payload(new_hash(declared[0]))
        return message

    def is_as_declared(self) -> bool:
        """Whether the block or the payload has its declared digest; crawlers differ on what a coded payload is."""
        block, payload = self.block.digest, self.block.payload_digest
        if block is None or block == _bytes_of(self.fields.get("warc-block-digest")):
            return True
        return payload is not None and payload == _bytes_of(self.fields.get("warc-payload-digest"))


@dataclass(frozen=True, slots=True)
class Damage:
    """A place from which something could not be read."""

    at: int
    why: str


@dataclass(slots=True)
class _Passed:
    """The records that were read so far of a member, or of a whole file."""

    last: ForeignRecord | None = None
    count: int = 0
    tail: bytes = b""  # the line ends after the last one

    def spoil(self) -> None:
        """Mark the last record as one that can't be trusted."""
        if self.last is not None:
            self.last.spoiled = True

    def note_member(self, offset: int, length: int) -> None:
        """Note where the member lies, if the last record is all of it, as we write them ourselves: it can be referred to there."""
        if self.last is not None and self.count == 1 and self.tail == _END:
            self.last.member = (offset, length)


@dataclass(slots=True)
class ForeignFile:
    """A file of a crawl made elsewhere, open for reading."""

    path: Path
    packed: PackedFile
    is_arc: bool = False
    is_joined: bool = False  # records and members don't go together
    _arc_fields: int = ARC_FIELDS
    _tries: int = 0
    _passed: _Passed = field(default_factory=_Passed)

    @property
    def done(self) -> int:
        """How many bytes of the file were read."""
        return min(self.packed.size, self.packed.file.tell())

    def close(self) -> None:
        """Close the file."""
        self.packed.file.close()

    def records(self, start: int = 0) -> Iterator[ForeignRecord | Damage]:
        """Yield all records from the place ``start`` on, and the damaged places between them."""
        if self.packed.compression and not self.is_joined:
            yield from self._members(max(start, self.packed.begin))
            return
        stream = self._open_plain(start)
        while True:
            try:
                yield from self._through(stream)
                return
            except CompressionDamaged as error:
                self._passed.spoil()
                yield Damage(stream.tell(), f"{error} (after so many unpacked bytes)")

    def _open_plain(self, start: int) -> BufferedReader:
        """Return a stream of the plain bytes from the place ``start`` on."""
        if not self.is_joined:
            self.packed.file.seek(start)
            return self.packed.file
        stream = buffered(JoinedMembers(self.packed))
        while stream.tell() < start:
            with suppress(CompressionDamaged):  # reported when it was read for the first time
                if not stream.read1(start - stream.tell()):
                    break
        return stream

    def _members(self, offset: int) -> Iterator[ForeignRecord | Damage]:
        while (offset := self.packed.skip_padding(offset)) < self.packed.size:
            member = self.packed.open_member(offset)
            start, self._passed = offset, _Passed()
            try:
                yield from self._through(buffered(member), member_at=offset)
            except CompressionDamaged as error:
                self._passed.spoil()
                offset = self._find_onward(offset + 1)
                yield Damage(start, str(error))
                continue
            offset += member.length
            if self.packed.compression is FileCompression.GZIP:
                self._passed.note_member(start, member.length)

    def _through(self, stream: BufferedReader, *, member_at: int | None = None) -> Iterator[ForeignRecord | Damage]:
        """Yield the records of a member, or of the whole plain file; CompressionDamaged if it can't be unpacked."""
        passed, first = self._passed, b""
        while True:
            passed.tail, first = (b"", first) if first else read_start(stream)
            if not first:
                return
            at = stream.tell() - len(first) if member_at is None else member_at
            passed.count += 1
            try:
                fields = self._read_fields(stream, first)
            except CompressionDamaged:
                raise
            except RecordDamaged as error:
                if passed.tail not in _ENDS:
                    passed.spoil()
                first = find_line(stream, _ARC_MARKS if self.is_arc else _WARC_MARKS)
                yield Damage(at, str(error))
                continue
            first = b""
            passed.last = ForeignRecord(at, fields, self._block(stream, fields))
            yield passed.last
            if (damage := self._end(passed.last)) is not None:
                passed.spoil()
                yield damage

    def _block(self, stream: BufferedReader, fields: Fields) -> RecordBlock:
        declared = parse_digest(fields.get("warc-block-digest")) if fields.kind in _CHECKED else None
        return RecordBlock(stream, max(0, fields.length), hash_=new_hash(declared[0]) if declared else None)

    def _end(self, record: ForeignRecord) -> Damage | None:
        """Read a record to its end, and return the damage if there is any."""
        try:
            record.block.drain()
        except CompressionDamaged:
            raise
        except RecordDamaged as error:
            return Damage(record.at, str(error))
        if record.fields.length == UNKNOWN:
            return Damage(record.at, "the record does not say how long it is")
        return None if record.is_as_declared() else Damage(record.at, "the record is not what its digests say")

    def _begins(self, line: bytes) -> bool:
        return (ARC_START if self.is_arc else WARC_START).fullmatch(line) is not None

    def _read_fields(self, stream: BufferedReader, first: bytes) -> Fields:
        if not self._begins(first):
            raise RecordDamaged("no record begins here, where the one before ends by its length")
        if not self.is_arc:
            return read_warc_fields(stream, first)
        fields = read_arc_fields(first, self._arc_fields)
        return self._read_arc_header(stream, fields) if fields.kind == "arc_header" else fields

    def _read_arc_header(self, stream: BufferedReader, fields: Fields) -> Fields:
        """Learn from the block of an ARC file's first record what the lines of the others hold."""
        left, line = fields.length if fields.length != UNKNOWN else LINE, b""
        for _ in range(2):  # the version, and the names of the fields
            line = stream.readline(min(left, LINE))
            left -= len(line)
        names = line.split()
        self._arc_fields = len(names) if ARC_FIELDS <= len(names) <= 20 else ARC_FIELDS
        return replace(fields, length=left if fields.length != UNKNOWN else 0)

    def _find_onward(self, offset: int) -> int:
        """Return the offset of the next member that begins as a record does."""
        while (offset := self.packed.find_member(offset)) < self.packed.size:
            self._tries += 1
            if self._tries > _TRIES:
                return self.packed.size
            with suppress(RecordDamaged):
                if self._begins(buffered(self.packed.open_member(offset)).readline(LINE)):
                    break
            offset += 1
        return offset


def _bytes_of(text: str) -> bytes | None:
    declared = parse_digest(text)
    return declared[1] if declared else None


def open_foreign(path: Path) -> ForeignFile:
    """Open a file; SourceError if it can't be read at all."""
    try:
        file = ForeignFile(path, open_packed(path))
    except RecordDamaged as error:
        raise SourceError(f"{path} can't be read: {error}") from error
    try:
        _look(file)
    except BaseException:
        file.close()
        raise
    return file


def _look(file: ForeignFile) -> None:
    """Find out whether it is ARC, and whether its first record is all of its first member."""
    packed = file.packed
    start = packed.skip_padding(packed.begin) if packed.compression else 0
    member = packed.open_member(start) if packed.compression else None
    stream = buffered(member) if member else file._open_plain(0)
    try:
        _, first = read_start(stream)
        file.is_arc = WARC_START.fullmatch(first) is None and ARC_START.fullmatch(first) is not None
        if member is None:
            return
        RecordBlock(stream, max(0, file._read_fields(stream, first).length)).drain()
        file.is_joined = bool(read_start(stream)[1])
    except CompressionDamaged:
        return
    except RecordDamaged:  # it ends before its first record does, or begins with something else
        file.is_joined = member is not None and not stream.peek(1) and start + member.length < packed.size

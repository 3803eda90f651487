"""The reader of crawls made elsewhere: WARC 0.17 to 1.1 and ARC, plain or packed, past what is damaged.

Records and gzip members (or zstd frames) go together in nearly all files; then a record is found by the place of its
member. In one that was packed as a whole, the place is that in the unpacked bytes. Where something is damaged, the next
line or member that begins as a record does is gone on with: in a plain file that may be one inside a body that holds
an archive itself, which no reader can tell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rehi.archive.foreign.digest import new_hash, parse_digest
from rehi.archive.foreign.fields import (
    ARC_FIELDS,
    ARC_START,
    WARC_START,
    Fields,
    read_arc_fields,
    read_warc_fields,
)
from rehi.archive.foreign.message import Message, open_message
from rehi.archive.foreign.packing import Joined, PackedFile, Packing, Piece, Unpackable
from rehi.archive.foreign.plain import Block, Plain
from rehi.errors import RecordDamaged, SourceError

_LINE = 65_536  # bytes of a record's first line
_TRIES = 100_000  # places that look like a member, in one file: by chance one in 16 MB
_END = b"\r\n\r\n"
_ENDS = (_END, b"\n\n", b"\n", b"\r\n")  # what others write after a block; nothing, or more, if they counted wrongly
_WARC_MARKS = (b"WARC/",)
_ARC_MARKS = (b"http://", b"https://", b"ftp://", b"dns:", b"filedesc:")
_CHECKED = frozenset({"response", "resource", "request"})  # some write the original's digest into a revisit


@dataclass(slots=True)
class ForeignRecord:
    """A record while it is read; its block is gone when the next one is asked for."""

    at: int  # where to begin to get it again
    fields: Fields
    block: Block
    spoiled: bool = False  # known once the next one is asked for: its block is not what it should be
    member: tuple[int, int] | None = None  # likewise: offset and length of the gzip member that is just this record

    def open_message(self) -> Message:
        """The answer in the block; RecordDamaged if there is none."""
        message = open_message(self.block)
        if (said := parse_digest(self.fields.get("warc-payload-digest"))) is not None:
            self.block.hash_payload(new_hash(said[0]))
        return message

    def is_as_said(self) -> bool:
        """Whether what went by is what one of its digests says; nobody agrees on what a payload is when it is coded."""
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
    """What has gone by of a member, or of a whole file."""

    last: ForeignRecord | None = None
    count: int = 0
    tail: bytes = b""  # the line ends after the last one

    def spoil(self) -> None:
        """The last one can't be trusted."""
        if self.last is not None:
            self.last.spoiled = True

    def note_member(self, offset: int, length: int) -> None:
        """One that is all of its member, as we write them ourselves, can be referred to where it lies."""
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
    _source: Piece | Joined | None = None
    _passed: _Passed = field(default_factory=_Passed)
    _handle: int = -1

    @property
    def done(self) -> int:
        """How many bytes of the file were read."""
        return min(self.packed.size, self._source.at) if self._source else 0

    def close(self) -> None:
        """Give the file back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def records(self, start: int = 0) -> Iterator[ForeignRecord | Damage]:
        """All records from one's place on, and what is damaged between them."""
        if self.packed.packing is not Packing.PLAIN and not self.is_joined:
            yield from self._members(max(start, self.packed.begin))
            return
        source = self._source = Joined(self.packed) if self.is_joined else self.packed.open_piece(start)
        plain = Plain(source)
        before = 0 if self.is_joined else start
        while self.is_joined and plain.tell() < start and plain.take(start - plain.tell()):
            pass
        while True:
            try:
                yield from self._through(plain, lambda: before + plain.tell())
                return
            except Unpackable as error:
                self._passed.spoil()
                yield Damage(before + plain.tell(), f"{error} (after so many unpacked bytes)")

    def _members(self, offset: int) -> Iterator[ForeignRecord | Damage]:
        while (offset := self.packed.past_padding(offset)) < self.packed.size:
            piece = self._source = self.packed.open_piece(offset)
            here, self._passed = offset, _Passed()
            try:
                yield from self._through(Plain(piece), lambda: here)  # noqa: B023
            except Unpackable as error:
                self._passed.spoil()
                offset = self._find_onward(offset + 1)
                yield Damage(here, str(error))
                continue
            offset = piece.end
            if self.packed.packing is Packing.GZIP:
                self._passed.note_member(here, offset - here)

    def _through(self, plain: Plain, place: Callable[[], int]) -> Iterator[ForeignRecord | Damage]:
        """The records of a stream; Unpackable where it can't be read."""
        passed = self._passed
        while True:
            passed.tail = plain.skip_blank()
            if plain.at_end:
                return
            at = place()
            first = plain.line(_LINE)
            passed.count += 1
            try:
                fields = self._read_fields(plain, first)
            except Unpackable:
                raise
            except RecordDamaged as error:
                if passed.tail not in _ENDS:
                    passed.spoil()
                plain.seek_line(_ARC_MARKS if self.is_arc else _WARC_MARKS)
                yield Damage(at, str(error))
                continue
            passed.last = ForeignRecord(at, fields, self._block(plain, fields))
            yield passed.last
            if (damage := self._end(passed.last)) is not None:
                passed.spoil()
                yield damage

    def _block(self, plain: Plain, fields: Fields) -> Block:
        said = parse_digest(fields.get("warc-block-digest")) if fields.kind in _CHECKED else None
        return Block(plain, max(0, fields.length), hash_=new_hash(said[0]) if said else None)

    def _end(self, record: ForeignRecord) -> Damage | None:
        """Pass over what is left of a record; what is wrong with it."""
        try:
            record.block.drain()
        except Unpackable:
            raise
        except RecordDamaged as error:
            return Damage(record.at, str(error))
        if record.fields.length < 0:
            return Damage(record.at, "the record does not say how long it is")
        return None if record.is_as_said() else Damage(record.at, "the record is not what its digests say")

    def _begins(self, line: bytes) -> bool:
        return (ARC_START if self.is_arc else WARC_START).fullmatch(line) is not None

    def _read_fields(self, plain: Plain, first: bytes) -> Fields:
        if not self._begins(first):
            raise RecordDamaged("no record begins here, where the one before ends by its length")
        if not self.is_arc:
            fields = read_warc_fields(plain, first)
            if fields.length < 0:
                raise RecordDamaged(f"a record's Content-Length is {fields.get('content-length')[:40]!r}")
            return fields
        fields = read_arc_fields(first, self._arc_fields)
        return self._read_arc_header(plain, fields) if fields.kind == "arc_header" else fields

    def _read_arc_header(self, plain: Plain, fields: Fields) -> Fields:
        """The block of an ARC file's first record says what the lines of the others hold."""
        left = fields.length if fields.length >= 0 else _LINE
        for _ in range(2):  # the version, and the names of the fields
            line = plain.line(min(left, _LINE)) if left > 0 else b""
            left -= len(line)
        names = line.split()
        self._arc_fields = len(names) if ARC_FIELDS <= len(names) <= 20 else ARC_FIELDS
        return Fields(
            kind=fields.kind, url=fields.url, length=max(0, left) if fields.length >= 0 else 0, named=fields.named
        )

    def _find_onward(self, offset: int) -> int:
        """The next member that begins as a record does."""
        while (offset := self.packed.find_member(offset)) < self.packed.size:
            self._tries += 1
            if self._tries > _TRIES:
                return self.packed.size
            try:
                if self._begins(Plain(self.packed.open_piece(offset)).line(_LINE)):
                    break
            except RecordDamaged:
                pass
            offset += 1
        return offset


def _bytes_of(text: str) -> bytes | None:
    said = parse_digest(text)
    return said[1] if said else None


def open_foreign(path: Path) -> ForeignFile:
    """Open a file; SourceError if it can't be read at all."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} can't be opened: {getattr(error, 'strerror', error)}") from error
    try:
        file = ForeignFile(path, PackedFile(handle), _handle=handle)
        _look(file)
    except RecordDamaged as error:
        os.close(handle)
        raise SourceError(f"{path} can't be read: {error}") from error
    except BaseException:
        os.close(handle)
        raise
    return file


def _look(file: ForeignFile) -> None:
    """Whether it is ARC, and whether its first record is all of its first member."""
    piece = file.packed.open_piece(file.packed.past_padding(file.packed.begin))
    plain = Plain(piece)
    try:
        plain.skip_blank()
        first = plain.line(_LINE)
        file.is_arc = WARC_START.fullmatch(first) is None and ARC_START.fullmatch(first) is not None
        if file.packed.packing is Packing.PLAIN:
            return
        fields = file._read_fields(plain, first)
        Block(plain, max(0, fields.length)).drain()
        plain.skip_blank()
        file.is_joined = not plain.at_end
    except Unpackable:
        return
    except RecordDamaged:  # it ends before its first record does, or begins with something else
        file.is_joined = file.packed.packing is not Packing.PLAIN and plain.at_end and piece.end < file.packed.size

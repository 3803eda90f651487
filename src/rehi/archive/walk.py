"""The walk: reads the records of a WARC file, past what is damaged.

After damage in the middle, the walk goes on only where whole records follow each other exactly to the file's end, or to where
a record is known to begin. Anything less could be an archive inside a downloaded body, whose records are not ours.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import BinaryIO
from urllib.parse import urljoin

from rehi.archive.body import holds_answer
from rehi.archive.chain import read_version
from rehi.archive.http_head import HttpHead, read_http_head
from rehi.archive.member import CHUNK, Member, inflate
from rehi.archive.record import DELTA, Record, RecordFields, read_chunks
from rehi.errors import RecordDamaged, RecordMissing
from rehi.model.http import REDIRECTS
from rehi.model.media_type import GZIP_MEMBER_MAGIC
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Headers
from rehi.ports import Shelf

SUFFIX = ".warc.gz"
_TRIES = 1_000  # offsets that look like the start of a member: one in 16 MB by chance, more only if somebody made them
_SMALL = 1 << 20  # bytes of a block that is kept with its record


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVisit:
    """A visit as its record describes it."""

    url: str
    at: datetime
    status: int
    headers: Headers  # as they stand in the record
    media_type: str  # the Content-Type as declared
    digest: Digest
    size: int  # of the decoded body; for a 304, 0
    record: RecordRef
    body: RecordRef | None  # the record itself; None for a revisit, whose body is known by its digest
    revisit: bool
    redirect_to: str  # absolute, but not normalised; empty if it is no redirect


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRecord:
    """A record that was read without an error."""

    ref: RecordRef
    fields: RecordFields
    kept: KeptVisit | None  # the visit, if the record is an answer
    block: bytes = b""  # of a small record that is no answer


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedPart:
    """A part of a file that can't be read, or a record that is not valid."""

    ref: RecordRef
    why: str
    whole: bool = False  # the record itself can be read; what it is based on can't


Starts = Callable[[str], Iterable[int]]  # the offsets at which records of a file are known to begin


class Walk:
    """A walk through the records of one file."""

    def __init__(
        self, shelf: Shelf, name: str, size: int, *, decode_deltas: bool = True, starts: Starts | None = None
    ) -> None:
        self._shelf, self.name, self.size = shelf, name, size
        self._starts = starts  # asked only where something is damaged
        self._known: frozenset[int] | None = None if starts else frozenset()
        self._decode_deltas = decode_deltas  # whether deltas are decoded, with the records on which they are based
        self.ran_out = False  # the last walk ended inside a member, at the file's end

    def records(self, offset: int = 0) -> Iterator[WholeRecord | DamagedPart]:
        """Yield all records from an offset on, and the damaged parts between them."""
        while True:
            for item in self.records_until_damage(offset):
                offset = item.ref.end
                yield item
            if offset >= self.size:
                return
            next_record, _ = self.find_next_record(offset + 1)
            end = self.size if next_record is None else next_record
            yield DamagedPart(ref=RecordRef(self.name, offset, end - offset), why="these bytes are no whole record")
            if next_record is None:
                return
            offset = next_record

    def records_until_damage(self, offset: int, *, lenient: bool = True) -> Iterator[WholeRecord | DamagedPart]:
        """Yield records from an offset on, until the file's end or a part that is no gzip member.

        A lenient walk yields invalid records as damaged parts, any other ends there.
        """
        self.ran_out, held = False, b""
        with self._shelf.open(RecordRef(self.name, offset, self.size - offset)) as stream:
            while offset < self.size:
                member = Member(stream, held)
                plain = io.BufferedReader(member, CHUNK)
                try:
                    record = Record(plain)
                    content = _read(record)
                except RecordDamaged as error:
                    if not (lenient and _drain(plain)):
                        self.ran_out = member.ran_out
                        return
                    yield DamagedPart(ref=RecordRef(self.name, offset, member.length), why=str(error))
                else:
                    ref = RecordRef(self.name, offset, member.length)
                    yield (
                        self._record(ref, record.fields, content)
                        if lenient
                        else WholeRecord(ref=ref, fields=record.fields, kept=None)
                    )
                offset, held = offset + member.length, member.rest

    def begins_record(self, offset: int) -> bool:
        """Whether a record begins at an offset."""
        if offset == 0:
            return True
        with self._shelf.open(RecordRef(self.name, offset, self.size - offset)) as stream:
            try:
                Record(inflate(stream))
            except RecordDamaged:
                return False
            return True

    def find_next_record(self, offset: int) -> tuple[int | None, bool]:
        """Return the offset from which whole records lead exactly to the file's end or to where a record is known to begin.

        It is None if there is no such place. And return whether there is any whole record.
        """
        ends = self._known_starts()
        if not self.ran_out:  # else it is the tail of a file that was being written, or looks like it
            ends |= {self.size}
        passed, readable = 0, False
        for tries, place in enumerate(self._find_magic(offset) if ends and max(ends) >= offset else ()):
            if tries == _TRIES:
                return None, True
            if place < passed:
                continue
            end = place
            if place in ends:
                return place, True
            for item in self.records_until_damage(place, lenient=False):
                end = item.ref.end
                if end in ends:
                    return place, True
            passed, readable = end, readable or end > place
        return None, readable

    def _known_starts(self) -> frozenset[int]:
        if self._known is None:
            self._known = frozenset(self._starts(self.name)) if self._starts else frozenset()
        return self._known

    def _record(self, ref: RecordRef, fields: RecordFields, content: _BlockContent) -> WholeRecord | DamagedPart:
        if fields.kind != DELTA:
            return WholeRecord(ref=ref, fields=fields, kept=_kept(ref, fields, content), block=content.block)
        if not self._decode_deltas:
            return WholeRecord(ref=ref, fields=fields, kept=None)
        try:
            version = read_version(self._shelf, ref)
            decoded = _BlockContent(version.http, fields.payload_digest, len(version.body))
            return WholeRecord(ref=ref, fields=fields, kept=_kept(ref, fields, decoded))
        except (RecordDamaged, RecordMissing) as error:
            return DamagedPart(ref=ref, why=str(error), whole=True)

    def _find_magic(self, offset: int) -> Iterator[int]:
        held = b""
        with self._shelf.open(RecordRef(self.name, offset, self.size - offset)) as stream:
            while chunk := stream.read(CHUNK):
                held += chunk
                at = held.find(GZIP_MEMBER_MAGIC)
                while at >= 0:
                    yield offset + at
                    at = held.find(GZIP_MEMBER_MAGIC, at + 1)
                overlap = min(len(held), len(GZIP_MEMBER_MAGIC) - 1)
                offset += len(held) - overlap
                held = held[len(held) - overlap :]


@dataclass(frozen=True, slots=True)
class _BlockContent:
    """The HTTP head, digest and size of a record's block."""

    http: HttpHead | None
    digest: Digest | None
    size: int
    block: bytes = b""


def _read(record: Record) -> _BlockContent:
    """Read a record to its end, and check it; RecordDamaged if it is wrong."""
    fields = record.fields
    http, used = read_http_head(record.stream, record.length) if holds_answer(fields) else (None, 0)
    payload, size = sha256(), record.length - used
    held = bytearray()
    for chunk in read_chunks(record.stream, size):
        payload.update(chunk)
        if http is None and len(held) < _SMALL:
            held += chunk
    record.end()
    digest, declared = Digest(f"sha256:{payload.hexdigest()}"), fields.payload_digest
    if http is None:
        return _BlockContent(None, None, size, bytes(held) if size <= _SMALL else b"")
    if fields.kind == "revisit":
        length = http.header("Content-Length")
        return _BlockContent(http, declared or digest, int(length) if length.isascii() and length.isdigit() else 0)
    if declared is not None and declared != digest:
        raise RecordDamaged("the body is not what its digest says")
    return _BlockContent(http, digest, size)


def _kept(ref: RecordRef, fields: RecordFields, content: _BlockContent) -> KeptVisit | None:
    if content.http is None or content.digest is None:
        return None
    revisit = fields.kind == "revisit"
    return KeptVisit(
        url=fields.url,
        at=fields.at,
        status=content.http.status,
        headers=content.http.headers,
        media_type=content.http.header("Content-Type"),
        digest=content.digest,
        size=content.size,
        record=ref,
        body=None if revisit else ref,
        revisit=revisit,
        redirect_to=_target(fields.url, content.http),
    )


def describe_visit(ref: RecordRef, fields: RecordFields, http: HttpHead | None) -> KeptVisit | None:
    """Return a visit as its head alone describes it, without the size of its body; None if it names no digest."""
    return _kept(ref, fields, _BlockContent(http, fields.payload_digest, 0))


def _target(url: str, http: HttpHead) -> str:
    location = http.header("Location")
    if http.status not in REDIRECTS or not location:
        return ""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _drain(plain: BinaryIO) -> bool:
    """Read the rest of a member that is no valid record; return whether it is at least valid gzip."""
    try:
        while plain.read(CHUNK):
            pass
    except RecordDamaged:
        return False
    return True

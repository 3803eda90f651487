"""The walk: through the records of a file, past what is damaged.

Where bytes in the middle are damaged, what follows is gone on with only if whole records lead from there exactly to the
file's end. Anything less could be an archive inside a downloaded body that poses as ours.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
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
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Headers
from rehi.ports import Shelf

SUFFIX = ".warc.gz"
_MAGIC = b"\x1f\x8b\x08"
_TRIES = 1_000  # places that look like a member: by chance one in 16 MB, beyond that somebody made them
_SMALL = 1 << 20  # bytes of a block that is handed on with its record
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A visit as its record tells it."""

    url: str
    at: datetime
    status: int
    headers: Headers  # as they stand in the record
    media_type: str  # the Content-Type as declared
    digest: Digest
    size: int  # of the decoded body; for a 304, 0
    record: RecordRef
    body: RecordRef | None  # the record itself, or None for a revisit: the digest says what it repeats
    revisit: bool
    redirect_to: str  # absolute, but not normalised; empty if it is no redirect


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A whole record."""

    ref: RecordRef
    fields: RecordFields
    kept: Kept | None  # the visit that it tells of, if it is an answer
    block: bytes = b""  # of one that is no answer, and small


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """A part of a file that can't be read, or a record that is not what it says."""

    ref: RecordRef
    why: str


class Walk:
    """One file, gone through from some place on."""

    def __init__(self, shelf: Shelf, name: str, size: int, *, unfold: bool = True) -> None:
        self._shelf, self.name, self.size = shelf, name, size
        self._unfold = unfold  # whether deltas are read with all that they stand on
        self.ran_out = False  # the last walk ended because the file did, inside a member

    def through(self, offset: int = 0) -> Iterator[Found | Bad]:
        """All records, past what is damaged."""
        while True:
            for item in self.steps(offset):
                offset = item.ref.end
                yield item
            if offset >= self.size:
                return
            onward, _ = (None, False) if self.ran_out else self.look_onward(offset + 1)
            end = self.size if onward is None else onward
            yield Bad(ref=RecordRef(self.name, offset, end - offset), why="these bytes are no whole record")
            if onward is None:
                return
            offset = onward

    def steps(self, offset: int, *, lenient: bool = True) -> Iterator[Found | Bad]:
        """Member after member, until the file's end or something that is none; the lenient walk passes over bad records."""
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
                    yield Bad(ref=RecordRef(self.name, offset, member.length), why=str(error))
                else:
                    ref = RecordRef(self.name, offset, member.length)
                    yield (
                        self._found(ref, record.fields, content)
                        if lenient
                        else Found(ref=ref, fields=record.fields, kept=None)
                    )
                offset, held = offset + member.length, member.rest

    def begins_record(self, offset: int) -> bool:
        """Whether a record begins at a place."""
        if offset == 0:
            return True
        with self._shelf.open(RecordRef(self.name, offset, self.size - offset)) as stream:
            try:
                Record(inflate(stream))
            except RecordDamaged:
                return False
            return True

    def look_onward(self, offset: int) -> tuple[int | None, bool]:
        """Where whole records begin that lead exactly to the file's end; and whether there is any whole one at all."""
        passed, readable = 0, False
        for tries, place in enumerate(self._find_magic(offset)):
            if tries == _TRIES:
                return None, True
            if place < passed:
                continue
            end = place
            for item in self.steps(place, lenient=False):
                end = item.ref.end
            if end == self.size:
                return place, True
            passed, readable = end, readable or end > place
        return None, readable

    def _found(self, ref: RecordRef, fields: RecordFields, content: _Content) -> Found | Bad:
        if fields.kind != DELTA:
            return Found(ref=ref, fields=fields, kept=_kept(ref, fields, content), block=content.block)
        if not self._unfold:
            return Found(ref=ref, fields=fields, kept=None)
        try:
            version = read_version(self._shelf, ref)
            told = _Content(version.http, fields.payload_digest, len(version.body))
            return Found(ref=ref, fields=fields, kept=_kept(ref, fields, told))
        except (RecordDamaged, RecordMissing) as error:
            return Bad(ref=ref, why=str(error))

    def _find_magic(self, offset: int) -> Iterator[int]:
        held = b""
        with self._shelf.open(RecordRef(self.name, offset, self.size - offset)) as stream:
            while chunk := stream.read(CHUNK):
                held += chunk
                at = held.find(_MAGIC)
                while at >= 0:
                    yield offset + at
                    at = held.find(_MAGIC, at + 1)
                overlap = min(len(held), len(_MAGIC) - 1)
                offset += len(held) - overlap
                held = held[len(held) - overlap :]


@dataclass(frozen=True, slots=True)
class _Content:
    """What a record's block came to."""

    http: HttpHead | None
    digest: Digest | None
    size: int
    block: bytes = b""


def _read(record: Record) -> _Content:
    """Read a record to its end and check it."""
    fields = record.fields
    http, used = read_http_head(record.stream, record.length) if holds_answer(fields) else (None, 0)
    payload, size = sha256(), record.length - used
    held = bytearray()
    for chunk in read_chunks(record.stream, size):
        payload.update(chunk)
        if http is None and len(held) < _SMALL:
            held += chunk
    record.end()
    found, said = Digest(f"sha256:{payload.hexdigest()}"), fields.payload_digest
    if http is None:
        return _Content(None, None, size, bytes(held) if size <= _SMALL else b"")
    if fields.kind == "revisit":
        length = http.header("Content-Length")
        return _Content(http, said or found, int(length) if length.isascii() and length.isdigit() else 0)
    if said is not None and said != found:
        raise RecordDamaged("the body is not what its digest says")
    return _Content(http, found, size)


def _kept(ref: RecordRef, fields: RecordFields, content: _Content) -> Kept | None:
    if content.http is None or content.digest is None:
        return None
    revisit = fields.kind == "revisit"
    return Kept(
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


def _target(url: str, http: HttpHead) -> str:
    location = http.header("Location")
    if http.status not in _REDIRECTS or not location:
        return ""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _drain(plain: BinaryIO) -> bool:
    """Read what is left of a member that is no good record; whether it is at least whole gzip."""
    try:
        while plain.read(CHUNK):
            pass
    except RecordDamaged:
        return False
    return True

"""Recovery: what the files hold beyond what the catalogue knows, and what to do with a torn tail.

A process that dies while it appends leaves an incomplete member at the end of its file. It is set aside, and the file
ends with its last whole record again. Where bytes in the middle are damaged, nothing is moved: what follows is gone on
with only if whole records lead from there exactly to the file's end. Anything less could be an archive inside a
downloaded body that poses as ours.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import BinaryIO
from urllib.parse import urljoin

from rehi.archive.body import holds_answer
from rehi.archive.http_head import HttpHead, read_http_head
from rehi.archive.member import CHUNK, Member, inflate
from rehi.archive.record import Record, read_chunks
from rehi.errors import RecordDamaged
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Headers
from rehi.ports import Shelf

_MAGIC = b"\x1f\x8b\x08"
_TRIES = 1_000  # places that look like a member: by chance one in 16 MB, beyond that somebody made them
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
class Torn:
    """A part of a file that can't be read."""

    file: str
    offset: int
    length: int
    set_aside: bool  # False when it lies in the middle, and was left where it is


def recover(
    shelf: Shelf, known_end: Callable[[str], int], *, owned: Callable[[str], bool] = lambda _: True
) -> Iterator[Kept | Torn]:
    """Go through the WARC files beyond their known ends. Nobody may be writing to the ``owned`` ones meanwhile."""
    for file, size in shelf.files():
        if file.endswith(".warc.gz") and owned(file):
            known = known_end(file)
            if size > known:
                yield from _File(shelf, file, size).recover(known)


@dataclass(frozen=True, slots=True)
class _Step:
    """One gzip member that could be read to its end."""

    end: int
    item: Kept | Torn | None


class _File:
    """A file of which a part is unknown."""

    def __init__(self, shelf: Shelf, name: str, size: int) -> None:
        self._shelf, self._name, self._size = shelf, name, size
        self._ran_out = False  # the last walk ended because the file did, inside a member

    def recover(self, known: int) -> Iterator[Kept | Torn]:
        offset = known if self._begins_record(known) else 0
        while True:
            for step in self._walk(offset):
                offset = step.end
                if step.item is not None and offset > known:
                    yield step.item
            if offset >= self._size:
                return
            onward, readable = (None, False) if self._ran_out else self._look_onward(offset + 1)
            if onward is None:
                break
            yield self._torn(offset, onward)
            offset = onward
        movable = offset >= known and not readable
        if movable:
            self._shelf.set_aside(self._name, offset)
        yield self._torn(offset, self._size, set_aside=movable)

    def _torn(self, start: int, end: int, *, set_aside: bool = False) -> Torn:
        return Torn(file=self._name, offset=start, length=end - start, set_aside=set_aside)

    def _walk(self, offset: int, *, lenient: bool = True) -> Iterator[_Step]:
        """Member after member, until the file's end or something that is none; the lenient walk passes over bad records."""
        self._ran_out, held = False, b""
        with self._shelf.open(RecordRef(self._name, offset, self._size - offset)) as stream:
            while offset < self._size:
                member = Member(stream, held)
                plain = io.BufferedReader(member, CHUNK)
                item: Kept | Torn | None
                try:
                    content = _read_record(Record(plain))
                except RecordDamaged:
                    if not (lenient and _drain(plain)):
                        self._ran_out = member.ran_out
                        return
                    item = self._torn(offset, offset + member.length)
                else:
                    item = _placed(content, RecordRef(self._name, offset, member.length)) if content else None
                offset, held = offset + member.length, member.rest
                yield _Step(offset, item)

    def _begins_record(self, offset: int) -> bool:
        if offset == 0:
            return True
        with self._shelf.open(RecordRef(self._name, offset, self._size - offset)) as stream:
            try:
                Record(inflate(stream))
            except RecordDamaged:
                return False
            return True

    def _look_onward(self, offset: int) -> tuple[int | None, bool]:
        """Where whole records begin that lead exactly to the file's end; and whether there is any whole one at all."""
        passed, readable = 0, False
        for tries, place in enumerate(self._find_magic(offset)):
            if tries == _TRIES:
                return None, True
            if place < passed:
                continue
            end = place
            for step in self._walk(place, lenient=False):
                end = step.end
            if end == self._size:
                return place, True
            passed, readable = end, readable or end > place
        return None, readable

    def _find_magic(self, offset: int) -> Iterator[int]:
        held = b""
        with self._shelf.open(RecordRef(self._name, offset, self._size - offset)) as stream:
            while chunk := stream.read(CHUNK):
                held += chunk
                at = held.find(_MAGIC)
                while at >= 0:
                    yield offset + at
                    at = held.find(_MAGIC, at + 1)
                overlap = min(len(held), len(_MAGIC) - 1)
                offset += len(held) - overlap
                held = held[len(held) - overlap :]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """An answer's record, read to its end."""

    url: str
    at: datetime
    http: HttpHead
    digest: Digest
    size: int
    revisit: bool


def _read_record(record: Record) -> _Content | None:
    """Read a record to its end and check it; None if it is whole but holds no answer."""
    fields = record.fields
    http, used = read_http_head(record.stream, record.length) if holds_answer(fields) else (None, 0)
    payload, size = sha256(), record.length - used
    for chunk in read_chunks(record.stream, size):
        payload.update(chunk)
    record.end()
    if http is None:
        return None
    found, said = Digest(f"sha256:{payload.hexdigest()}"), fields.payload_digest
    revisit = fields.kind == "revisit"
    if revisit:
        length = http.header("Content-Length")
        size = int(length) if length.isascii() and length.isdigit() else 0
    elif said is not None and said != found:
        raise RecordDamaged("the body is not what its digest says")
    return _Content(
        url=fields.get("WARC-Target-URI"), at=fields.at, http=http, digest=said or found, size=size, revisit=revisit
    )


def _placed(content: _Content, ref: RecordRef) -> Kept:
    return Kept(
        url=content.url,
        at=content.at,
        status=content.http.status,
        headers=content.http.headers,
        media_type=content.http.header("Content-Type"),
        digest=content.digest,
        size=content.size,
        record=ref,
        body=None if content.revisit else ref,
        revisit=content.revisit,
        redirect_to=_target(content.url, content.http),
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

"""A body: the payload of a record, streamed and checked against its digest."""

from __future__ import annotations

import io
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from rehi.archive.chain import read_at_once, read_version, with_location
from rehi.archive.http_head import HttpHead, read_http_head
from rehi.archive.member import CHUNK, inflate
from rehi.archive.record import DELTA, Record, RecordFields, digest_of
from rehi.errors import RecordDamaged, RecordMissing, RehiError
from rehi.model.version import RecordRef
from rehi.ports import Shelf

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


@dataclass(frozen=True, slots=True)
class RecordHeaders:
    """The headers of a record: its named fields and its HTTP head."""

    fields: RecordFields
    http: HttpHead | None  # None for a record that holds no HTTP answer
    request: bytes = b""  # the head of the request, where the record itself holds it


def open_body(shelf: Shelf, ref: RecordRef) -> BinaryIO:
    """Return a stream of a record's payload; RecordDamaged is raised at its end if it is not as it was written."""
    link = read_at_once(shelf, ref)
    if link is not None and link.is_delta:
        return io.BytesIO(read_version(shelf, ref, link=link).body)
    if link is not None and link.fields.kind == "response" and holds_answer(link.fields):
        payload = link.block.partition(b"\r\n\r\n")[2]
        if link.fields.payload_digest == digest_of(payload):
            return io.BytesIO(payload)
    stream = shelf.open(ref)
    try:
        record = Record(inflate(stream))
        if record.fields.kind == "revisit":
            raise RecordMissing("it repeats bytes that are kept elsewhere, or no more, and holds no body")
        if record.fields.kind != DELTA:
            _, used = _read_head(record)
            return io.BufferedReader(_RecordBody(stream, record, record.length - used, ref), CHUNK)
    except RehiError as error:
        stream.close()
        raise with_location(error, ref) from error
    stream.close()
    return io.BytesIO(read_version(shelf, ref).body)


def read_headers(shelf: Shelf, ref: RecordRef) -> RecordHeaders:
    """Return the headers of a record without reading its body; a delta is read with all records of its chain."""
    with shelf.open(ref) as stream:
        try:
            record = Record(inflate(stream))
            if record.fields.kind != DELTA:
                return RecordHeaders(record.fields, _read_head(record)[0])
        except RehiError as error:
            raise with_location(error, ref) from error
    content = read_version(shelf, ref)
    return RecordHeaders(content.fields, content.http, content.request)


def read_fields_of(shelf: Shelf, ref: RecordRef) -> RecordFields:
    """Return the named fields of a record."""
    with shelf.open(ref) as stream:
        try:
            return Record(inflate(stream)).fields
        except RehiError as error:
            raise with_location(error, ref) from error


def read_checked_fields(shelf: Shelf, ref: RecordRef) -> RecordFields:
    """Return the named fields of a record whose body can be read as it was written, which all of it is read for."""
    link = read_at_once(shelf, ref)  # by its checksum
    if link is not None and not link.is_delta:
        return link.fields
    with open_body(shelf, ref) as body:
        while body.read(CHUNK):
            pass
    return read_fields_of(shelf, ref)


def holds_answer(fields: RecordFields) -> bool:
    """Whether the record's block begins with the head of an HTTP answer."""
    is_http = fields.get("Content-Type").lower().startswith("application/http")
    return is_http and fields.kind in ("response", "revisit")


def _read_head(record: Record) -> tuple[HttpHead | None, int]:
    return read_http_head(record.stream, record.length) if holds_answer(record.fields) else (None, 0)


class _RecordBody(io.RawIOBase):
    """A stream of a record's payload, hashed as it is read."""

    def __init__(self, stream: BinaryIO, record: Record, size: int, ref: RecordRef) -> None:
        super().__init__()
        self._stream, self._record, self._left, self._ref = stream, record, size, ref
        self._hash = sha256()
        self._checked = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        try:
            chunk = self._record.stream.read(min(len(view), self._left, CHUNK))
            self._left -= len(chunk)
            self._hash.update(chunk)
            if self._left and not chunk:
                raise RecordDamaged("the record ends before its body does")
            if not self._left and not self._checked:
                self._check()
        except RehiError as error:
            raise with_location(error, self._ref) from error
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()

    def _check(self) -> None:
        self._record.end()
        self._checked = True
        digest = self._record.fields.payload_digest
        if digest is not None and digest != f"sha256:{self._hash.hexdigest()}":
            raise RecordDamaged("the body is not what its digest says")

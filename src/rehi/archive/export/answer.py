"""An answer: a visit's exchange as it is read back from the archive, whichever way it was kept."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO

from rehi.archive.body import holds_answer, open_body, read_fields_of, read_headers
from rehi.archive.chain import read_at_once, read_version
from rehi.archive.http_head import MAX_HEAD, HttpHead, read_http_head
from rehi.archive.member import CHUNK, GZIP
from rehi.archive.moves import FollowingShelf
from rehi.archive.record import DELTA, RecordFields, digest_of, read_fields
from rehi.errors import RecordDamaged, RehiError
from rehi.model.version import Digest, RecordRef
from rehi.ports import Shelf

_MAGIC = b"\x1f\x8b\x08"
_NEAR = (4_096, 262_144)  # bytes beside an answer in which its request is looked for; nearly all are within the first
_TRIES = 64  # places in them that look like a member


@dataclass(frozen=True, slots=True)
class Request:
    """The request that was answered: its head, and its record where it has one of its own."""

    head: bytes
    raw: bytes = b""  # the record, compressed


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the record of a visit says."""

    ref: RecordRef
    fields: RecordFields
    http: HttpHead | None  # None for what did not come by HTTP
    request: Request | None
    body: bytes | None = None  # where it is in memory anyway

    @property
    def record_id(self) -> str:
        """The record's name."""
        return self.fields.get("WARC-Record-ID")

    @property
    def media_type(self) -> str:
        """The type as it was declared."""
        return self.http.header("Content-Type") if self.http else self.fields.get("Content-Type")

    def open(self, shelf: Shelf) -> BinaryIO:
        """The body that the record itself holds."""
        return open_body(shelf, self.ref) if self.body is None else io.BytesIO(self.body)


def read_answer(shelf: Shelf, ref: RecordRef) -> Answered:
    """The answer of a record, without its body unless that comes with it: a small one is read in one go."""
    link = read_at_once(shelf, ref)
    fields = link.fields if link else read_fields_of(shelf, ref)
    if fields.kind == DELTA:
        content = read_version(shelf, ref, link=link)
        request = Request(content.request) if content.request else None
        return Answered(ref=ref, fields=content.fields, http=content.http, request=request, body=content.body)
    if link is not None and holds_answer(fields):
        http, used = read_http_head(io.BytesIO(link.block), len(link.block))
        payload = link.block[used:]
        body = payload if fields.payload_digest == digest_of(payload) else None
        return Answered(ref=ref, fields=fields, http=http, request=find_request(shelf, ref, fields), body=body)
    said = read_headers(shelf, ref)
    return Answered(ref=ref, fields=said.fields, http=said.http, request=find_request(shelf, ref, said.fields))


def find_request(shelf: Shelf, ref: RecordRef, answer: RecordFields) -> Request | None:
    """The request that lies right before an answer, where ours are, or right after it, where other crawlers put them."""
    if isinstance(shelf, FollowingShelf):
        ref = shelf.find(ref) or ref  # what lies beside it was moved with it
    for near in _NEAR:
        start = max(0, ref.offset - near)
        before = _read(shelf, RecordRef(ref.file, start, ref.offset - start))
        place = len(before)
        for _ in range(_TRIES):
            place = before.rfind(_MAGIC, 0, place)
            if place < 0:
                break
            if found := _request_in(before[place:], answer, whole=True):
                return found
        if start == 0:
            break
    size = next((size for name, size in shelf.files() if name == ref.file), 0)
    after = RecordRef(ref.file, ref.end, min(_NEAR[0], size - ref.end))
    return _request_in(_read(shelf, after), answer, whole=False) if after.length > 0 else None


def _read(shelf: Shelf, ref: RecordRef) -> bytes:
    if ref.length <= 0:
        return b""
    with shelf.open(ref) as stream:
        return stream.read(ref.length)


def _request_in(raw: bytes, answer: RecordFields, *, whole: bool) -> Request | None:
    """The request of an answer, if the bytes begin with its record; if it must be ``whole``, with nothing after it."""
    from isal import isal_zlib

    member = isal_zlib.decompressobj(GZIP)
    try:
        lines = io.BytesIO(member.decompress(raw, MAX_HEAD))
        if not member.eof or (whole and member.unused_data):
            return None
        fields = read_fields(lines)
        block = lines.read(fields.length)
    except (isal_zlib.error, RehiError):  # type: ignore[misc]
        return None
    together = (
        fields.get("WARC-Concurrent-To") == answer.get("WARC-Record-ID") != ""
        or answer.get("WARC-Concurrent-To") == fields.get("WARC-Record-ID") != ""
    )
    if fields.kind != "request" or not together or lines.read() != b"\r\n\r\n":
        return None
    return Request(block, raw[: len(raw) - len(member.unused_data)])


@dataclass(frozen=True, slots=True)
class Measured:
    """What a body came to when it was read to its end."""

    size: int
    digest: Digest
    block_digest: Digest  # of the HTTP head and the body


def measure(body: BinaryIO, *, head: bytes = b"") -> Measured:
    """Read a body to its end; RecordDamaged if it is not as it was written."""
    size, payload, block = 0, sha256(), sha256(head)
    with body:
        for chunk in chunks_of(body):
            size += len(chunk)
            payload.update(chunk)
            block.update(chunk)
    return Measured(size, Digest(f"sha256:{payload.hexdigest()}"), Digest(f"sha256:{block.hexdigest()}"))


def check_body(found: Digest, size: int, *, digest: Digest, wanted: int) -> None:
    """RecordDamaged if a body is not the one that the catalogue speaks of."""
    if found != digest or size != wanted:
        raise RecordDamaged(f"the bytes are not those of {digest}")


def chunks_of(stream: BinaryIO) -> Iterator[bytes]:
    """All that a stream has."""
    while chunk := stream.read(CHUNK):
        yield chunk

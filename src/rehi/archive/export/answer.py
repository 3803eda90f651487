"""An answer: the exchange of a visit as it is read from the archive, whole, as a revisit or as a delta."""

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
from rehi.model.media_type import GZIP_MEMBER_MAGIC
from rehi.model.version import Digest, RecordRef
from rehi.ports import Shelf

_NEAR = (4_096, 262_144)  # bytes beside an answer in which its request is looked for; nearly all are within the first
_TRIES = 64  # places in them that look like a member


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """The head of a request, and its record if it has one of its own."""

    head: bytes
    raw: bytes = b""  # the record, compressed


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """The answer of a visit as its record has it."""

    ref: RecordRef
    fields: RecordFields
    http: HttpHead | None  # None if it did not come by HTTP
    request: KeptRequest | None
    body: bytes | None = None  # if it is in memory anyway

    @property
    def record_id(self) -> str:
        """The WARC-Record-ID."""
        return self.fields.get("WARC-Record-ID")

    @property
    def media_type(self) -> str:
        """The media type as it was declared."""
        return self.http.header("Content-Type") if self.http else self.fields.get("Content-Type")

    def open(self, shelf: Shelf) -> BinaryIO:
        """Return a stream of the body in the record itself."""
        return open_body(shelf, self.ref) if self.body is None else io.BytesIO(self.body)


def read_answer(shelf: Shelf, ref: RecordRef) -> KeptAnswer:
    """Return the answer of a record; its body only if it is small, and so in memory anyway."""
    link = read_at_once(shelf, ref)
    fields = link.fields if link else read_fields_of(shelf, ref)
    if fields.kind == DELTA:
        content = read_version(shelf, ref, link=link)
        request = KeptRequest(content.request) if content.request else None
        return KeptAnswer(ref=ref, fields=content.fields, http=content.http, request=request, body=content.body)
    if link is not None and holds_answer(fields):
        http, used = read_http_head(io.BytesIO(link.block), len(link.block))
        payload = link.block[used:]
        body = payload if fields.payload_digest == digest_of(payload) else None
        return KeptAnswer(ref=ref, fields=fields, http=http, request=find_request(shelf, ref, fields), body=body)
    headers = read_headers(shelf, ref)
    return KeptAnswer(
        ref=ref, fields=headers.fields, http=headers.http, request=find_request(shelf, ref, headers.fields)
    )


def find_request(shelf: Shelf, ref: RecordRef, answer: RecordFields) -> KeptRequest | None:
    """Return the request of an answer: right before it in files of ours, right after it in those of some other crawlers.

    None if there is none.
    """
    if isinstance(shelf, FollowingShelf):
        ref = shelf.find(ref) or ref  # the records beside it were moved with it
    for near in _NEAR:
        start = max(0, ref.offset - near)
        before = _read(shelf, RecordRef(ref.file, start, ref.offset - start))
        place = len(before)
        for _ in range(_TRIES):
            place = before.rfind(GZIP_MEMBER_MAGIC, 0, place)
            if place < 0:
                break
            if request := _request_in(before[place:], answer, whole=True):
                return request
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


def _request_in(raw: bytes, answer: RecordFields, *, whole: bool) -> KeptRequest | None:
    """Return the request of an answer, if the bytes begin with its record; with ``whole``, nothing may follow it."""
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
    return KeptRequest(block, raw[: len(raw) - len(member.unused_data)])


@dataclass(frozen=True, slots=True)
class BodyDigests:
    """The size and the digests of a body."""

    size: int
    digest: Digest
    block_digest: Digest  # of the HTTP head and the body


def digest_body(body: BinaryIO, *, head: bytes = b"") -> BodyDigests:
    """Read a body to its end, and return its size and digests; RecordDamaged if it is not as it was written."""
    size, payload, block = 0, sha256(), sha256(head)
    with body:
        for chunk in chunks_of(body):
            size += len(chunk)
            payload.update(chunk)
            block.update(chunk)
    return BodyDigests(size, Digest(f"sha256:{payload.hexdigest()}"), Digest(f"sha256:{block.hexdigest()}"))


def check_body(digest: Digest, size: int, *, expected_digest: Digest, expected_size: int) -> None:
    """Raise RecordDamaged if a body does not have the digest and size that the catalogue knows."""
    if digest != expected_digest or size != expected_size:
        raise RecordDamaged(f"the bytes are not those of {expected_digest}")


def chunks_of(stream: BinaryIO) -> Iterator[bytes]:
    """Yield all bytes of a stream, in chunks."""
    while chunk := stream.read(CHUNK):
        yield chunk

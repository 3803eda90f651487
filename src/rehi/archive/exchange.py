"""An exchange: the records of a visit, the request beside the response, the revisit or the delta."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from itertools import chain
from typing import Literal

from rehi.archive.http_head import answer_head, request_head
from rehi.archive.record import (
    DELTA,
    RecordFields,
    block_fields,
    digest_of,
    field_lines,
    pack_record,
    read_chunks,
    record_id,
    stream_record,
    warc_date,
)
from rehi.errors import ArchiveError, RecordDamaged
from rehi.model.http import NOT_MODIFIED
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Answer, Visit

SMALL = 262_144  # bytes of a body that is handled in one piece
DELTA_TYPE = "application/vnd.rehi.delta+zstd"
_CHANGED = "a body changed between its visit and the archive"
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
_PROTOCOLS = {"1.0": "http/1.0", "1.1": "http/1.1", "2": "h2", "3": "h3"}


class Exchange:
    """A visit that brought an answer, as WARC records."""

    def __init__(self, visit: Visit, *, worker: str, answered_by: Literal["response", "revisit", "delta"]) -> None:
        if visit.answer is None:
            raise ArchiveError(f"the visit to {visit.url} brought no answer that could be kept")
        self._visit, self._answer = visit, visit.answer
        date = warc_date(visit.started_at)
        self._request_id = record_id(worker, "request", date, visit.url)
        self._answer_id = record_id(worker, answered_by, date, visit.url)
        fields = [("WARC-Date", date), ("WARC-Target-URI", visit.url)]
        if answered_by == DELTA:  # hidden from replay tools, which would show the bytes of the delta for the page
            fields[1:] = [("WARC-Target-URI", "urn:rehi:delta"), ("WARC-Refers-To-Target-URI", visit.url)]
        if visit.answer.address:
            fields.append(("WARC-IP-Address", visit.answer.address))
        if protocol := _PROTOCOLS.get(visit.answer.http_version):
            fields.append(("WARC-Protocol", protocol))
        self._event = field_lines(fields)
        self._answer_lines = f"WARC-Type: {answered_by}\r\nWARC-Record-ID: {self._answer_id}\r\n{self._event}"

    def request(self) -> bytes:
        """Return the request record, linked to the ``response`` or ``revisit`` that answered it."""
        block = request_head(self._visit.url, self._answer)
        lines = (
            f"WARC-Type: request\r\n"
            f"WARC-Record-ID: {self._request_id}\r\n"
            f"{self._event}"
            f"WARC-Concurrent-To: {self._answer_id}\r\n"
            f"Content-Type: application/http; msgtype=request\r\n"
            f"Content-Length: {len(block)}\r\n"
            f"WARC-Block-Digest: {digest_of(block)}\r\n"
        )
        return pack_record(lines, block)

    def response(self) -> Iterable[bytes]:
        """Return the response record with its body; a large one is read twice, since the digests stand before the block."""
        answer = self._answer
        head = answer_head(answer, size=answer.size)
        start = answer.body.tell()
        whole = head + _whole_body(answer) if answer.size <= SMALL else b""
        block_digest = digest_of(whole) if whole else _digest_block(head, answer)
        lines = (
            f"{self._answer_lines}"
            f"WARC-Payload-Digest: {answer.digest}\r\n"
            f"WARC-Block-Digest: {block_digest}\r\n"
            f"Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(head) + answer.size}\r\n"
        )
        if whole:
            return [pack_record(lines, whole)]
        answer.body.seek(start)
        return stream_record(lines, chain([head], read_chunks(answer.body, answer.size)))

    def revisit(self, original: RecordFields) -> Iterable[bytes]:
        """Return a revisit record: the answer's head, and the record that has its body."""
        answer, url, digest = self._answer, self._visit.url, original.payload_digest
        if original.kind not in ("response", DELTA):
            raise ArchiveError(f"a {original.kind or 'nameless'} record can't stand for the body of {url}")
        unmodified = answer.status == NOT_MODIFIED
        if not unmodified and digest not in (answer.digest, None):  # None: one that another archive has written
            raise ArchiveError(f"the body of {url} is not the one that it is said to repeat")
        block = answer_head(answer, size=None if unmodified else answer.size)
        fields = (
            ("WARC-Profile", _PROFILE + ("server-not-modified" if unmodified else "identical-payload-digest")),
            ("WARC-Refers-To", original.get("WARC-Record-ID")),
            ("WARC-Refers-To-Target-URI", original.url),
            ("WARC-Refers-To-Date", original.get("WARC-Date")),
            ("WARC-Payload-Digest", digest or (original.get("WARC-Payload-Digest") if unmodified else answer.digest)),
            *block_fields(block, "application/http; msgtype=response"),
        )
        return [pack_record(self._answer_lines + field_lines(fields), block)]

    def unmodified(self, digest: Digest) -> Iterable[bytes]:
        """Return a revisit record of bytes of which only the digest is known now: those that were at this URL before."""
        block = answer_head(self._answer, size=None)
        fields = (
            ("WARC-Profile", _PROFILE + "server-not-modified"),
            ("WARC-Refers-To-Target-URI", self._visit.url),
            ("WARC-Payload-Digest", digest),
            *block_fields(block, "application/http; msgtype=response"),
        )
        return [pack_record(self._answer_lines + field_lines(fields), block)]

    def delta(self, packed: bytes, *, base: RecordRef, base_digest: Digest, step: int) -> bytes:
        """Return the whole exchange as one delta record, based on an earlier one."""
        lines = (
            f"{self._answer_lines}"
            f"Rehi-Payload-Digest: {self._answer.digest}\r\n"
            f"Rehi-Base: {base.file} {base.offset} {base.length}\r\n"
            f"Rehi-Base-Digest: {base_digest}\r\n"
            f"Rehi-Step: {step}\r\n"
            f"Rehi-Payload-Length: {self._answer.size}\r\n"
            f"Content-Type: {DELTA_TYPE}\r\n"
            f"Content-Length: {len(packed)}\r\n"
        )
        return pack_record(lines, packed, stored=True)

    def content(self) -> bytes:
        """Return the content of a delta: the request's head, the answer's head, and the body, which is checked."""
        answer = self._answer
        return request_head(self._visit.url, answer) + answer_head(answer, size=answer.size) + _whole_body(answer)


def _whole_body(answer: Answer) -> bytes:
    """Return a small body; RecordDamaged if size or digest are not those of the answer."""
    body = answer.body.read(answer.size + 1)
    if len(body) != answer.size or digest_of(body) != answer.digest:
        raise RecordDamaged(_CHANGED)
    return body


def _digest_block(head: bytes, answer: Answer) -> Digest:
    """Return the digest of the block of a large body, which is checked in the same way."""
    block, payload = sha256(head), sha256()
    for chunk in read_chunks(answer.body, answer.size):
        block.update(chunk)
        payload.update(chunk)
    if answer.body.read(1) or f"sha256:{payload.hexdigest()}" != answer.digest:
        raise RecordDamaged(_CHANGED)
    return Digest(f"sha256:{block.hexdigest()}")

"""An exchange: the records that a visit leaves, the request beside the response or the revisit."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import chain

from rehi.archive.http_head import answer_head, request_head
from rehi.archive.record import RecordFields, block_fields, read_chunks, record_id, warc_date, write_record
from rehi.errors import ArchiveError, RecordDamaged
from rehi.model.version import Digest
from rehi.model.visit import Answer, Headers, Visit

NOT_MODIFIED = 304
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
_PROTOCOLS = {"1.0": "http/1.0", "1.1": "http/1.1", "2": "h2", "3": "h3"}


def request_record(visit: Visit, *, worker: str, answered_by: str) -> Iterator[bytes]:
    """The request, linked to the ``response`` or ``revisit`` that answered it."""
    answer = answer_of(visit)
    block = request_head(visit.url, answer)
    beside = ("WARC-Concurrent-To", exchange_id(visit, worker=worker, kind=answered_by))
    fields = (
        *_event_fields(visit, answer, worker=worker, kind="request"),
        beside,
        *block_fields(block, "application/http; msgtype=request"),
    )
    return write_record(fields, [block])


def response_record(visit: Visit, *, worker: str) -> Iterator[bytes]:
    """The answer with its body, which is read twice: the digests stand before the block."""
    answer = answer_of(visit)
    head = answer_head(answer, size=answer.size)
    start = answer.body.tell()
    block_digest = _digest_block(head, answer)
    answer.body.seek(start)
    fields = (
        *_event_fields(visit, answer, worker=worker, kind="response"),
        ("WARC-Payload-Digest", answer.digest),
        ("WARC-Block-Digest", block_digest),
        ("Content-Type", "application/http; msgtype=response"),
        ("Content-Length", str(len(head) + answer.size)),
    )
    return write_record(fields, chain([head], read_chunks(answer.body, answer.size)))


def revisit_record(visit: Visit, *, worker: str, original: RecordFields) -> Iterator[bytes]:
    """The answer's head, and where its body was kept before."""
    answer = answer_of(visit)
    digest = original.payload_digest
    if original.kind != "response" or digest is None:
        raise ArchiveError(f"a {original.kind or 'nameless'} record can't stand for the body of {visit.url}")
    unmodified = answer.status == NOT_MODIFIED
    if not unmodified and digest != answer.digest:
        raise ArchiveError(f"the body of {visit.url} is not the one that it is said to repeat")
    block = answer_head(answer, size=None if unmodified else answer.size)
    fields = (
        *_event_fields(visit, answer, worker=worker, kind="revisit"),
        ("WARC-Profile", _PROFILE + ("server-not-modified" if unmodified else "identical-payload-digest")),
        ("WARC-Refers-To", original.get("WARC-Record-ID")),
        ("WARC-Refers-To-Target-URI", original.get("WARC-Target-URI")),
        ("WARC-Refers-To-Date", original.get("WARC-Date")),
        ("WARC-Payload-Digest", digest),
        *block_fields(block, "application/http; msgtype=response"),
    )
    return write_record(fields, [block])


def exchange_id(visit: Visit, *, worker: str, kind: str) -> str:
    """The identifier of one of a visit's records."""
    return record_id(worker, kind, warc_date(visit.started_at), visit.url)


def answer_of(visit: Visit) -> Answer:
    """The answer that there must be."""
    if visit.answer is None:
        raise ArchiveError(f"the visit to {visit.url} brought no answer that could be kept")
    return visit.answer


def _event_fields(visit: Visit, answer: Answer, *, worker: str, kind: str) -> Headers:
    fields = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", exchange_id(visit, worker=worker, kind=kind)),
        ("WARC-Date", warc_date(visit.started_at)),
        ("WARC-Target-URI", visit.url),
    ]
    if answer.address:
        fields.append(("WARC-IP-Address", answer.address))
    if protocol := _PROTOCOLS.get(answer.http_version):
        fields.append(("WARC-Protocol", protocol))
    return tuple(fields)


def _digest_block(head: bytes, answer: Answer) -> Digest:
    """The block's digest; RecordDamaged if the body is not what the answer says, so that no lie is ever written."""
    block, payload = sha256(head), sha256()
    for chunk in read_chunks(answer.body, answer.size):
        block.update(chunk)
        payload.update(chunk)
    if answer.body.read(1) or f"sha256:{payload.hexdigest()}" != answer.digest:
        raise RecordDamaged("a body changed between its visit and the archive")
    return Digest(f"sha256:{block.hexdigest()}")

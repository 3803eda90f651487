"""An exchange for export: the records of one capture in plain WARC 1.1, checked before the first byte is written."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import BinaryIO

from rehi.archive.cdxj import REVISIT
from rehi.archive.export.answer import KeptAnswer, check_body, chunks_of, digest_body, read_answer
from rehi.archive.export.written_bodies import Original
from rehi.archive.http_head import HttpHead, answer_head
from rehi.archive.record import block_fields, field_lines, pack_record, record_id, stream_record, warc_date
from rehi.model.capture import Capture
from rehi.model.http import NOT_MODIFIED
from rehi.model.media_type import GZIP_MAGIC
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Headers
from rehi.ports import Shelf

_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
_COPIED = ("WARC-IP-Address", "WARC-Protocol")
_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRecords:
    """A request and an answer record as they are written, and what the index says of the answer."""

    request: bytes  # empty if it is not known
    answer: Iterable[bytes]
    mime: str
    status: int
    digest: str
    original: Original | None  # the record to which later ones with the same body may refer


class Expander:
    """Makes plain WARC records of captures, whether they were kept whole, as revisits or as deltas."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def expand(self, capture: Capture, *, original: Original | None) -> ExportRecords:
        """Return the records of a capture: a revisit if its body is in the export already, else the whole answer."""
        own = read_answer(self._shelf, capture.record)
        if original is not None and capture.digest is not None and own.http is not None:
            return _revisit(capture, own, own.http, capture.digest, original)
        if own.fields.kind == "response" and self._may_be_copied(capture, own):
            return self._copied(capture, own)
        return self._whole(capture, own)

    def _may_be_copied(self, capture: Capture, own: KeptAnswer) -> bool:
        """Whether the record can be copied as it is."""
        same = own.fields.get("WARC-Target-URI") == capture.url and own.fields.at == capture.at
        if (
            not same
            or own.fields.payload_digest is None
            or own.fields.payload_digest != (capture.digest or own.fields.payload_digest)
        ):
            return False
        with self._shelf.open(replace(own.ref, length=min(own.ref.length, len(GZIP_MAGIC)))) as stream:
            return stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC

    def _copied(self, capture: Capture, own: KeptAnswer) -> ExportRecords:
        digests = digest_body(own.open(self._shelf))
        if capture.digest is not None:
            check_body(digests.digest, digests.size, expected_digest=capture.digest, expected_size=capture.size)
        request = own.request
        raw = request.raw or _request(request.head, capture, own, own.record_id) if request else b""
        return ExportRecords(
            request=raw,
            answer=self._raw(own.ref),
            mime=own.media_type,
            status=own.http.status if own.http else _OK,
            digest=digests.digest,
            original=Original(own.record_id, capture.url, own.fields.get("WARC-Date"), warc_date(capture.at)),
        )

    def _raw(self, ref: RecordRef) -> Iterator[bytes]:
        with self._shelf.open(ref) as stream:
            yield from chunks_of(stream)

    def _whole(self, capture: Capture, own: KeptAnswer) -> ExportRecords:
        """Return a whole response, as for a delta or for a revisit of a body that is not in this export."""
        own, holder = self._with_body(capture, own)
        kind = "response" if own.http else "resource"
        name = _name(kind, capture)

        def opened() -> BinaryIO:
            return holder.open(self._shelf)

        size = digest_body(opened()).size if capture.digest is None else capture.size
        head = answer_head(own.http, size=size) if own.http else b""
        digests = digest_body(opened(), head=head)
        check_body(digests.digest, digests.size, expected_digest=capture.digest or digests.digest, expected_size=size)
        fields = (
            ("WARC-Type", kind),
            ("WARC-Record-ID", name),
            *_event(capture, own),
            ("WARC-Payload-Digest", digests.digest),
            ("WARC-Block-Digest", digests.block_digest),
            ("Content-Type", "application/http; msgtype=response" if own.http else capture.media_type),
            ("Content-Length", str(len(head) + digests.size)),
        )
        return ExportRecords(
            request=_request(own.request.head, capture, own, name) if own.request else b"",
            answer=_streamed(field_lines(fields), head, opened),
            mime=own.media_type,
            status=own.http.status if own.http else _OK,
            digest=digests.digest,
            original=Original(name, capture.url, warc_date(capture.at), warc_date(capture.at)),
        )

    def _with_body(self, capture: Capture, own: KeptAnswer) -> tuple[KeptAnswer, KeptAnswer]:
        """Return the answer with a head that describes its body, and the answer whose record has the body."""
        if own.fields.kind != "revisit" or capture.body is None:
            return own, own
        holder = read_answer(self._shelf, capture.body)
        if own.http is None or own.http.status != NOT_MODIFIED or holder.http is None:
            return own, holder
        # "Not modified" has no body: it is exported with the head of the version that it confirms.
        return replace(own, http=_typed(holder.http, capture.media_type)), holder


def _typed(head: HttpHead, media_type: str) -> HttpHead:
    """Return the head with the media type that was declared at this URL; the body may have come from another one."""
    kept = [(name, value) for name, value in head.headers if name.lower() != "content-type"]
    return replace(head, headers=(*([("Content-Type", media_type)] if media_type else []), *kept))


def _revisit(capture: Capture, own: KeptAnswer, http: HttpHead, digest: Digest, original: Original) -> ExportRecords:
    unmodified = http.status == NOT_MODIFIED
    block = answer_head(http, size=None if unmodified else capture.size)
    name = _name("revisit", capture)
    fields = (
        ("WARC-Type", "revisit"),
        ("WARC-Record-ID", name),
        *_event(capture, own),
        ("WARC-Profile", _PROFILE + ("server-not-modified" if unmodified else "identical-payload-digest")),
        ("WARC-Refers-To", original.record_id),
        ("WARC-Refers-To-Target-URI", original.url),
        ("WARC-Refers-To-Date", original.date),
        ("WARC-Payload-Digest", digest),
        *block_fields(block, "application/http; msgtype=response"),
    )
    return ExportRecords(
        request=_request(own.request.head, capture, own, name) if own.request else b"",
        answer=[pack_record(field_lines(fields), block)],
        mime=REVISIT,
        status=http.status,
        digest=digest,
        original=None,
    )


def _request(head: bytes, capture: Capture, own: KeptAnswer, answer_id: str) -> bytes:
    fields = (
        ("WARC-Type", "request"),
        ("WARC-Record-ID", _name("request", capture)),
        *_event(capture, own),
        ("WARC-Concurrent-To", answer_id),
        *block_fields(head, "application/http; msgtype=request"),
    )
    return pack_record(field_lines(fields), head)


def _name(kind: str, capture: Capture) -> str:
    return record_id("export", kind, warc_date(capture.at), capture.url)


def _event(capture: Capture, own: KeptAnswer) -> Headers:
    copied = tuple((name, value) for name in _COPIED if (value := own.fields.get(name)))
    return (("WARC-Date", warc_date(capture.at)), ("WARC-Target-URI", capture.url), *copied)


def _streamed(lines: str, head: bytes, opened: Callable[[], BinaryIO]) -> Iterator[bytes]:
    body = opened()
    with body:
        if isinstance(body, io.BytesIO):
            yield pack_record(lines, head + body.getvalue())
        else:
            yield from stream_record(lines, chain([head], chunks_of(body)))

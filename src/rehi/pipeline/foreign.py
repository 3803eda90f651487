"""A foreign answer: what a record of a crawl made elsewhere says of a visit, the body decoded as ours are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urljoin

from rehi.archive.foreign import Fields, ForeignRecord, Message, parse_digest, read_date
from rehi.errors import BadEncoding, FetchError, RecordDamaged, TooLarge
from rehi.fetch.incoming import IncomingBody
from rehi.model.captured import CapturedVisit
from rehi.model.http import NOT_MODIFIED, PARTIAL, REDIRECTS
from rehi.model.version import Digest
from rehi.model.visit import Answer, Headers
from rehi.sources import is_visitable, normalise
from rehi.sources.urls import is_robots

AHEAD = timedelta(days=1)  # by which somebody else's clock may be wrong
_HTTP = "application/http"
_PIECE = 65_536


class Skipped(Exception):
    """A record that is left out; its message is the reason, by which such records are counted."""


@dataclass(slots=True)
class ForeignVisit:
    """A visit as a record tells it, before it is known whether its bytes are here already."""

    record: ForeignRecord
    url: str
    at: datetime
    answer: Answer  # without the request's headers; of a revisit, without the body that it repeats
    redirect_to: str = ""
    repeats: bool = False  # its body lies in another record
    coded: bool = False  # its block does not hold the body as it is

    def as_captured(self, request_headers: Headers, *, now: datetime) -> CapturedVisit:
        """Return it with all that its record says of it; the record has been passed, so that its place is known."""
        fields = self.record.fields
        return CapturedVisit(
            url=self.url,
            at=self.at,
            answer=replace(self.answer, request_headers=request_headers),
            where=self.record.at,
            redirect_to=self.redirect_to,
            repeats=self.repeats,
            unmodified=self.answer.status == NOT_MODIFIED or "not-modified" in fields.get("warc-profile").lower(),
            digest=parse_digest(fields.get("warc-payload-digest"))
            if fields.kind == "revisit" or not self.repeats
            else None,
            refers_to=_reference(fields, now=now),
            member=self.record.member if self.can_be_adopted else None,
        )

    @property
    def can_be_adopted(self) -> bool:
        """Whether the record can be read where it lies as if it were ours."""
        fields = self.record.fields
        try:
            datetime.fromisoformat(fields.date)
        except ValueError:
            return False
        plain = fields.kind in ("response", "revisit") and fields.get("content-type").lower().startswith(_HTTP)
        whole = self.record.member is not None and fields.version.startswith("1.") and not self.coded
        return plain and whole and fields.get("warc-target-uri") == self.url


def read_visit(record: ForeignRecord, *, now: datetime, max_bytes: int, spool: Path) -> ForeignVisit:
    """Return what an answer's record says; Skipped if it is nothing to keep, RecordDamaged if it can't be understood."""
    fields = record.fields
    url = _address(fields.url)
    if fields.get("warc-truncated"):
        raise Skipped("truncated")
    if fields.get("warc-segment-number"):
        raise Skipped("segmented")
    at = read_date(fields.date, latest=now + AHEAD)
    if fields.kind == "resource":
        return ForeignVisit(record, url, at, _resource(record, max_bytes, spool), coded=True)
    if fields.kind == "revisit":
        return ForeignVisit(record, url, at, _revisit(record), repeats=True)
    if fields.version and not fields.get("content-type").lower().startswith(_HTTP):
        raise Skipped("not-http")
    message = record.open_message()
    status = message.head.status
    if status == NOT_MODIFIED:
        return ForeignVisit(record, url, at, _answer(record.fields, message, *_empty()), repeats=True)
    redirect_to = _target(url, message) if status in REDIRECTS else ""
    if not redirect_to and not (200 <= status < 300 and status != PARTIAL):
        raise Skipped("status")
    answer = _answer(record.fields, message, *_read_body(message, max_bytes, spool))
    return ForeignVisit(record, url, at, answer, redirect_to=redirect_to, coded=message.is_coded)


def _reference(fields: Fields, *, now: datetime) -> tuple[str, datetime] | None:
    """Return the visit to which a revisit refers, if it says so."""
    url = normalise(fields.get("warc-refers-to-target-uri") or fields.url)
    try:
        at = read_date(fields.get("warc-refers-to-date"), latest=now + AHEAD)
    except RecordDamaged:
        return None
    return None if url is None else (url, at)


def _address(given: str) -> str:
    url = normalise(given)
    if url is None or not is_visitable(url):
        raise Skipped("dns" if given.startswith("dns:") else "scheme")
    if is_robots(url):
        raise Skipped("robots")
    return url


def _target(url: str, message: Message) -> str:
    try:
        target = normalise(urljoin(url, message.head.header("location")))
    except ValueError:
        target = None
    if target is None or not is_visitable(target) or target == url:
        raise Skipped("redirect")
    return target


def _resource(record: ForeignRecord, max_bytes: int, spool: Path) -> Answer:
    """Return a file without its exchange, as if a server had sent it."""
    media_type = record.fields.get("content-type") or "application/octet-stream"
    if media_type.lower().startswith("text/dns"):
        raise Skipped("dns")
    body, size, digest = _spool(iter(record.block.read, b""), "", max_bytes, spool)
    headers = (("Content-Type", media_type), ("Content-Length", str(size)))
    return Answer(
        status=200, reason="OK", http_version="1.1", request_headers=(), headers=headers,
        address=_ip(record.fields), body=body, size=size, digest=digest,
    )  # fmt: skip


def _revisit(record: ForeignRecord) -> Answer:
    """Return the head of a revisit, if it has one."""
    try:
        return _answer(record.fields, record.open_message(), *_empty())
    except RecordDamaged:
        body, size, digest = _empty()
        return Answer(
            status=200, reason="OK", http_version="1.1", request_headers=(), headers=(),
            address=_ip(record.fields), body=body, size=size, digest=digest,
        )  # fmt: skip


def _answer(fields: Fields, message: Message, body: BinaryIO, size: int, digest: Digest) -> Answer:
    head = message.head
    return Answer(
        status=head.status,
        reason=head.reason,
        http_version=head.http_version,
        request_headers=(),
        headers=head.headers,
        address=_ip(fields),
        body=body,
        size=size,
        digest=digest,
    )


def _ip(fields: Fields) -> str:
    try:
        return str(ip_address(fields.get("warc-ip-address").strip()))
    except ValueError:
        return ""


def _empty() -> tuple[BinaryIO, int, Digest]:
    return IncomingBody(content_encoding="", max_bytes=1, spool=None).finish()


def _read_body(message: Message, max_bytes: int, spool: Path) -> tuple[BinaryIO, int, Digest]:
    """Take the body out of its codings. Many crawlers undo them and leave the header: what does not begin so never was."""
    if not (codings := message.codings):
        return _spool(message.payload(), "", max_bytes, spool)
    raw, size, digest = _spool(message.payload(), "", max_bytes, spool)
    try:
        decoded = IncomingBody(content_encoding=codings, max_bytes=max_bytes, spool=spool)
    except BadEncoding as error:
        raw.close()
        raise RecordDamaged(str(error)) from error
    try:
        while piece := raw.read(_PIECE):
            decoded.write(piece)
        body = decoded.finish()
    except FetchError as error:
        decoded.close()
        if isinstance(error, BadEncoding) and not decoded.size:
            raw.seek(0)
            return raw, size, digest
        raw.close()
        raise Skipped("too-large") if isinstance(error, TooLarge) else RecordDamaged(str(error)) from error
    raw.close()
    return body


def _spool(chunks: Iterable[bytes], codings: str, max_bytes: int, spool: Path) -> tuple[BinaryIO, int, Digest]:
    body = IncomingBody(content_encoding=codings, max_bytes=max_bytes, spool=spool)
    try:
        for chunk in chunks:
            body.write(chunk)
        return body.finish()
    except TooLarge as error:
        body.close()
        raise Skipped("too-large") from error
    except BaseException:
        body.close()
        raise

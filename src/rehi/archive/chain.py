"""The chain: a version that is kept as a delta, and the records that it is based on, back to a whole one."""

from __future__ import annotations

import io
from dataclasses import dataclass

from rehi.archive.delta import MOST, SPAN, decode
from rehi.archive.http_head import HttpHead, read_http_head
from rehi.archive.member import inflate
from rehi.archive.record import DELTA, Record, RecordFields, digest_of, read_chunks, unpack_record
from rehi.errors import RecordDamaged, RecordMissing, RehiError
from rehi.model.version import RecordRef
from rehi.ports import Shelf

SMALL = 262_144  # bytes of a compressed record that is read in one go: 0.16 ms instead of 0.24
_LINK = 4 << 20  # the same for a record of a chain, which must be in memory anyway
_PLAIN = 64 << 20
_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A record of a chain, read into memory."""

    ref: RecordRef
    fields: RecordFields
    block: bytes

    @property
    def is_delta(self) -> bool:
        """Whether the record is a delta, based on the next one of the chain."""
        return self.fields.kind == DELTA


@dataclass(frozen=True, slots=True)
class VersionContent:
    """The content of a version's record: the HTTP heads and the body."""

    fields: RecordFields
    request: bytes  # empty where the request has a record of its own
    head: bytes
    body: bytes

    @property
    def http(self) -> HttpHead:
        """The parsed head of the answer."""
        return read_http_head(io.BytesIO(self.head), len(self.head))[0]


def read_chain_link(shelf: Shelf, ref: RecordRef) -> ChainLink:
    """Read a record into memory, and check its checksum."""
    link = read_at_once(shelf, ref, _LINK)
    if link is not None:
        return link
    try:
        with shelf.open(ref) as stream:
            record = Record(inflate(stream))
            if record.length > MOST:
                raise RecordMissing("the record is too large to be a part of a chain")
            block = b"".join(read_chunks(record.stream, record.length))
            record.end()
    except RehiError as error:
        raise with_location(error, ref) from error
    return ChainLink(ref, record.fields, block)


def read_at_once(shelf: Shelf, ref: RecordRef, most: int = SMALL) -> ChainLink | None:
    """Read a record of at most ``most`` compressed bytes at once; None if it is larger, or not as it should be."""
    if ref.length > most:
        return None
    with shelf.open(ref) as stream:
        packed = stream.read(ref.length)
    try:
        fields, block, _ = unpack_record(packed, _PLAIN)
    except RecordDamaged:
        return None
    return ChainLink(ref, fields, block)


def read_chain(shelf: Shelf, link: ChainLink) -> list[ChainLink]:
    """Return a record and those that it is based on; the last is a whole one, or a delta without a base."""
    try:
        return _follow(shelf, link)
    except RecordMissing:
        again = read_chain_link(shelf, link.ref)  # a compaction may have written it anew, with another base
        if again.fields == link.fields:
            raise
        return _follow(shelf, again)


def _follow(shelf: Shelf, link: ChainLink) -> list[ChainLink]:
    chain, ref = [link], link.ref
    while chain[-1].is_delta and chain[-1].fields.get("Rehi-Base"):
        link = chain[-1]
        base = link.fields.base
        if base is None or len(chain) > SPAN:
            raise with_location(RecordDamaged("a delta does not say what it stands on"), link.ref)
        try:
            chain.append(read_chain_link(shelf, base))
        except RecordMissing as error:
            raise with_location(type(error)(f"what it stands on is missing: {error}"), ref) from error
        if chain[-1].fields.kind == "revisit":
            raise with_location(RecordMissing(f"what it stands on was dropped: {base.file}:{base.offset}"), ref)
        base_digest = link.fields.get("Rehi-Base-Digest")
        if base_digest != chain[-1].fields.payload_digest:
            raise with_location(
                RecordDamaged(f"the record at {base.file}:{base.offset} is not what it stands on"), link.ref
            )
    return chain


def decode_chain(chain: list[ChainLink]) -> bytes:
    """Return the content of a chain's first record: the block of a whole one; for a delta, both heads and the body."""
    content = b"" if chain[-1].is_delta else chain[-1].block
    for link in reversed(chain if chain[-1].is_delta else chain[:-1]):
        try:
            content = decode(link.block, base=content)
        except RecordDamaged as error:
            raise with_location(error, link.ref) from error
    return content


def read_version(shelf: Shelf, ref: RecordRef, *, link: ChainLink | None = None) -> VersionContent:
    """Return the content of a delta, checked against its digest; ``link`` is the record, if it was read before."""
    chain = read_chain(shelf, link or read_chain_link(shelf, ref))
    content = split_content(chain[0], decode_chain(chain))
    if content.fields.payload_digest != digest_of(content.body):
        raise with_location(RecordDamaged("the body is not what its digest says"), ref)
    return content


def split_content(link: ChainLink, content: bytes) -> VersionContent:
    """Split a content into the heads and the body."""
    start = 0
    if link.is_delta:
        start = _end_of_head(content, 0, link.ref)
    end = _end_of_head(content, start, link.ref)
    return VersionContent(link.fields, content[:start], content[start:end], content[end:])


def _end_of_head(content: bytes, start: int, ref: RecordRef) -> int:
    end = content.find(_END, start)
    if end < 0:
        raise with_location(RecordDamaged("an HTTP head has no end"), ref)
    return end + len(_END)


def with_location(error: RehiError, ref: RecordRef) -> RehiError:
    """Return an error with file and offset of the record in its message, if they are not in it yet."""
    if not isinstance(error, RecordDamaged | RecordMissing) or str(error).startswith(f"{ref.file}:"):
        return error
    return type(error)(f"{ref.file}:{ref.offset}: {error}")

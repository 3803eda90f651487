"""A WARC 1.1 record: its named fields, and its block as a stream."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1, sha256
from itertools import chain
from typing import BinaryIO
from uuid import NAMESPACE_URL

from rehi.archive.http_head import LineReader
from rehi.archive.member import CHUNK, compress, pack, pack_stored, unpack
from rehi.errors import RecordDamaged
from rehi.model.media_type import WARC_MAGIC
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Headers

DELTA = "delta"  # the record type of our own
MAX_FIELDS = 1 << 20  # bytes of named fields; a URL is by far the longest of them
_START = WARC_MAGIC + b"1."
_END = b"\r\n\r\n"
_WRONG_LENGTH = "a record's block is not as long as its Content-Length says"
_NAMESPACE = NAMESPACE_URL.bytes
_VARIANTS = {f"{digit:x}": f"{digit & 3 | 8:x}" for digit in range(16)}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class RecordFields:
    """The named fields of a record, in order."""

    fields: Headers

    def get(self, name: str) -> str:
        """Return the value of the first field of that name in any case, or an empty string."""
        for key, value in self.fields:
            if key == name:  # as we write it ourselves
                return value
        lowered = name.lower()
        return next((value for key, value in self.fields if key.lower() == lowered), "")

    @property
    def kind(self) -> str:
        """The WARC-Type."""
        return self.get("WARC-Type")

    @property
    def length(self) -> int:
        """The block's length in bytes."""
        value = self.get("Content-Length")
        if not (value.isascii() and value.isdigit()):
            raise RecordDamaged(f"a record's Content-Length is {value!r}")
        return int(value)

    @property
    def at(self) -> datetime:
        """The WARC-Date."""
        try:
            return datetime.fromisoformat(self.get("WARC-Date")).astimezone(UTC)
        except ValueError as error:
            raise RecordDamaged(f"a record's WARC-Date is {self.get('WARC-Date')!r}") from error

    @property
    def payload_digest(self) -> Digest | None:
        """The digest of the payload that the record holds or refers to, if it is a SHA-256 as we write it."""
        value = self.get("Rehi-Payload-Digest" if self.kind == DELTA else "WARC-Payload-Digest")
        return Digest(value) if re.fullmatch(r"sha256:[0-9a-f]{64}", value) else None

    @property
    def url(self) -> str:
        """The URL that was visited; the WARC-Target-URI of a delta is a URN, which replay tools pass over."""
        return self.get("WARC-Refers-To-Target-URI" if self.kind == DELTA else "WARC-Target-URI")

    @property
    def base(self) -> RecordRef | None:
        """The record on which a delta is based; None if it names none."""
        place = self.get("Rehi-Base").rsplit(" ", 2)
        if len(place) != 3 or not all(part.isascii() and part.isdigit() for part in place[1:]):
            return None
        return RecordRef(place[0], int(place[1]), int(place[2]))

    @property
    def step(self) -> int:
        """How many versions after a whole one a delta is; 0 for a whole one."""
        value = self.get("Rehi-Step")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 9 else 0


class Record:
    """A record that is being read: its fields were read, and ``stream`` is at the start of its block."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.fields = read_fields(stream)
        self.length = self.fields.length

    def end(self) -> None:
        """Read the end of the record after its block, which checks the gzip checksum; RecordDamaged if it is wrong."""
        if self.stream.read(len(_END) + 1) != _END:
            raise RecordDamaged(_WRONG_LENGTH)


def stream_record(lines: str, block: Iterable[bytes]) -> Iterator[bytes]:
    """Return the record as one gzip member, in pieces, given its fields as ``field_lines`` writes them."""
    return compress(chain([_head(lines)], block, [_END]))


def pack_record(lines: str, block: bytes, *, stored: bool = False) -> bytes:
    """Return the record of a block in memory as one gzip member; ``stored`` if the block is compressed already."""
    if stored:
        return pack_stored(_head(lines), block + _END)
    return pack(b"".join((_head(lines), block, _END)))


def field_lines(fields: Iterable[tuple[str, str]]) -> str:
    """Return named fields, one line each, with control characters percent-encoded."""
    return "".join([f"{name}: {value if value.isprintable() else _printable(value)}\r\n" for name, value in fields])


def block_fields(block: bytes, content_type: str) -> Headers:
    """Return the fields that describe a block in memory: type, length and digest."""
    return (
        ("Content-Type", content_type),
        ("Content-Length", str(len(block))),
        ("WARC-Block-Digest", digest_of(block)),
    )


def digest_of(content: bytes) -> Digest:
    """Return the digest of bytes in memory.

    In hexadecimal, as everywhere else: warcio's checker tells base 16, 32 and 64 apart by their length, and pywb
    compares what follows as text.
    """
    return Digest(f"sha256:{sha256(content).hexdigest()}")


def record_id(*parts: str) -> str:
    """Return an identifier made of what makes a record unique, so that it needs no randomness: a UUID of version 5."""
    # The same as uuid5's, without its object: a fifth of the time, and four are made for each page.
    name = _NAMESPACE + " ".join(parts).encode("utf-8", "replace")
    text = sha1(name, usedforsecurity=False).hexdigest()
    variant = _VARIANTS[text[16]]
    return f"<urn:uuid:{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}>"


@lru_cache(maxsize=16)  # a visit's date is in each of its records, and in their identifiers
def warc_date(at: datetime) -> str:
    """Return a moment in UTC with microseconds, as WARC 1.1 allows."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def read_chunks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield ``size`` bytes of a stream; RecordDamaged if it ends before."""
    left = size
    while left:
        chunk = stream.read(min(CHUNK, left))
        if not chunk:
            raise RecordDamaged(f"{left} of {size} bytes are missing")
        left -= len(chunk)
        yield chunk


def _head(lines: str) -> bytes:
    return f"WARC/1.1\r\n{lines}\r\n".encode("utf-8", "replace")


def _printable(value: str) -> str:
    return _CONTROL.sub(lambda match: f"%{ord(match[0]):02X}", value)


def unpack_record(packed: bytes, most: int = 0) -> tuple[RecordFields, bytes, bytes]:
    """Return the fields and the block of the record with which these bytes begin, and the bytes after it.

    RecordDamaged if it is not whole, or larger than ``most`` plain bytes; 0 is no limit. Quicker than ``Record``.
    """
    plain, rest = unpack(packed, most)
    fields, start = _parse_fields(plain)
    end = len(plain) - len(_END)
    if end - start != fields.length or not plain.endswith(_END):
        raise RecordDamaged(_WRONG_LENGTH)
    return fields, plain[start:end], rest


def _parse_fields(plain: bytes) -> tuple[RecordFields, int]:
    """Return the fields of a record in memory, and the offset of its block."""
    end = plain.find(_END, 0, MAX_FIELDS)
    first, *lines = plain[: max(end, 0)].decode("utf-8", "replace").split("\r\n")
    parts = [line.partition(": ") for line in lines]
    if first.startswith("WARC/1.") and all(colon and name[:1] not in ("", " ", "\t") for name, colon, _ in parts):
        return RecordFields(tuple((name, value) for name, _, value in parts)), end + len(_END)
    stream = io.BytesIO(plain)  # written by others: with folded lines, or without blanks
    return read_fields(stream), stream.tell()


def read_fields(stream: BinaryIO) -> RecordFields:
    """Read the fields of the record that begins here; the stream is at the start of its block then."""
    if not stream.readline(64).startswith(_START):
        raise RecordDamaged("there is no WARC record at this place")
    return RecordFields(tuple(read_named_fields(stream)))


def read_named_fields(stream: LineReader) -> list[tuple[str, str]]:
    """Read the lines after a record's first one, up to the empty line; RecordDamaged if they are no fields."""
    left = MAX_FIELDS
    fields: list[tuple[str, list[str]]] = []  # a value is joined at the end: it may be folded into 300,000 lines
    while left > 0:
        line = stream.readline(left)
        left -= len(line)
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text and line:
            return [(name, " ".join(parts)) for name, parts in fields]
        if text[:1] in (" ", "\t") and fields:
            fields[-1][1].append(text.strip())
            continue
        name, colon, value = text.partition(":")
        if not colon:
            break
        fields.append((name.strip(), [value.strip()]))
    raise RecordDamaged("a record's fields have no end")

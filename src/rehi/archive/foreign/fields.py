"""The fields of a foreign record: what stands before its block, in WARC of any version or in ARC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from rehi.archive.http_head import LineReader
from rehi.archive.record import read_named_fields
from rehi.errors import RecordDamaged
from rehi.model.media_type import WARC_MAGIC
from rehi.model.moment import WEB_BEGAN, parse_moment

MAX_LENGTH = 1 << 34  # of a block: 16 GB, more than any record ever had
UNKNOWN = -1
ARC_FIELDS = 5  # of a record's line in version 1; in version 2 there are 10
WARC_START = re.compile(WARC_MAGIC + rb"\d{1,2}\.\d{1,3}\s*")
ARC_START = re.compile(rb"\S[^\r\n]{0,65000} \S+ \d{8,18} [^\r\n]* \S+\s*")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a record, named in lower case; of a field that is repeated, the first."""

    kind: str
    url: str
    length: int  # of the block; in ARC files it may be UNKNOWN
    named: Mapping[str, str]
    version: str = ""  # "1.0"; empty for ARC

    def get(self, name: str) -> str:
        """Return the value of a field by its name in lower case, or an empty string."""
        return self.named.get(name, "")

    @property
    def date(self) -> str:
        """The date of the record as it is written, not parsed yet."""
        return self.get("warc-date")


def read_warc_fields(stream: LineReader, first: bytes) -> Fields:
    """Return the fields after a record's first line; RecordDamaged if they have no end or no sound Content-Length."""
    named: dict[str, str] = {}
    for name, value in read_named_fields(stream):
        named.setdefault(name.lower(), value)
    url = named.get("warc-target-uri", "")
    if url[:1] == "<" and url[-1:] == ">":  # as wget wrote it for years
        url = url[1:-1]
    length = _read_length(named.get("content-length", ""))
    if length == UNKNOWN:
        raise RecordDamaged(f"a record's Content-Length is {named.get('content-length', '')[:40]!r}")
    return Fields(
        kind=named.get("warc-type", "").lower(),
        url=url,
        length=length,
        named=named,
        version=first.strip()[5:].decode("ascii", "replace"),
    )


def read_arc_fields(line: bytes, count: int) -> Fields:
    """Return the fields of an ARC record's line, which is read from its end since URLs may have blanks in them."""
    parts = line.decode("utf-8", "replace").rstrip("\r\n").rsplit(" ", count - 1)
    if len(parts) < ARC_FIELDS:
        raise RecordDamaged(f"an ARC record begins with a line of {len(parts)} fields")
    url, address, date, media_type = parts[:4]
    named = {"warc-ip-address": address, "warc-date": date[:14], "content-type": media_type}
    kind = "arc_header" if url.startswith("filedesc:") else "response"
    return Fields(kind=kind, url=url, length=_read_length(parts[-1]), named=named)


def _read_length(value: str) -> int:
    """Return the length of a block; UNKNOWN if the text is no length that can be."""
    sound = value.isascii() and value.isdigit() and len(value) <= 18 and int(value) <= MAX_LENGTH
    return int(value) if sound else UNKNOWN


def read_date(text: str, *, latest: datetime) -> datetime:
    """Return the moment of a WARC or ARC date, however exact it is; RecordDamaged if it is missing or impossible."""
    try:
        moment = parse_moment(text.strip(), end=False)
    except ValueError as error:
        raise RecordDamaged(f"a record's date is {text[:40]!r}") from error
    if not WEB_BEGAN <= moment <= latest:
        raise RecordDamaged(f"a record's date can't be: {text[:40]}")
    return moment

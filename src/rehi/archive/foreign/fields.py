"""The fields of a foreign record: what stands before its block, in WARC of any version or in ARC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rehi.archive.foreign.plain import Plain
from rehi.errors import RecordDamaged

MAX_FIELDS = 1 << 20  # bytes; a URL is by far the longest of them
MAX_LENGTH = 1 << 34  # of a block: 16 GB, more than any record ever had
ARC_FIELDS = 5  # of a record's line in version 1; in version 2 there are 10
WARC_START = re.compile(rb"WARC/\d{1,2}\.\d{1,3}\s*")
ARC_START = re.compile(rb"\S[^\r\n]{0,65000} \S+ \d{8,18} [^\r\n]* \S+\s*")
_DATE = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]?(\d{1,9}))?)?)?)?)?(Z|[+-]\d\d:?\d\d)?"
)
_FIRST_YEAR = 1990  # before the web there was nothing to visit


@dataclass(frozen=True, slots=True)
class Fields:
    """What a record says of itself; the names in lower case, the first of each."""

    kind: str
    url: str
    length: int  # of the block; -1 if that is not known
    named: Mapping[str, str]
    version: str = ""  # "1.0"; empty for ARC

    def get(self, name: str) -> str:
        """The value of a field by its name in lower case, or an empty string."""
        return self.named.get(name, "")

    @property
    def date(self) -> str:
        """When it was made, as it stands there."""
        return self.get("warc-date")


def read_warc_fields(plain: Plain, first: bytes) -> Fields:
    """The fields after a record's first line."""
    named: dict[str, str] = {}
    left, last = MAX_FIELDS, ""
    while left > 0:
        line = plain.line(left)
        left -= len(line)
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text:
            if not line:
                break
            return _warc(named, first)
        if text[0] in " \t" and last:
            named[last] = f"{named[last]} {text.strip()}"
            continue
        name, colon, value = text.partition(":")
        if not colon:
            raise RecordDamaged(f"a record's fields have a line that is none: {text[:60]!r}")
        last = name.strip().lower()
        if last in named:
            last = f"{last}\0"  # a second of the name, which nobody asks for
        named[last] = value.strip()
    raise RecordDamaged("a record's fields have no end")


def _warc(named: Mapping[str, str], first: bytes) -> Fields:
    url = named.get("warc-target-uri", "")
    if url[:1] == "<" and url[-1:] == ">":  # as wget wrote it for years
        url = url[1:-1]
    return Fields(
        kind=named.get("warc-type", "").strip().lower(),
        url=url,
        length=_length(named.get("content-length", "")),
        named=named,
        version=first.strip()[5:].decode("ascii", "replace"),
    )


def read_arc_fields(line: bytes, count: int) -> Fields:
    """The fields of a record's line; addresses with blanks in them are why it is read from its end."""
    parts = line.decode("utf-8", "replace").rstrip("\r\n").rsplit(" ", count - 1)
    if len(parts) < ARC_FIELDS:
        raise RecordDamaged(f"an ARC record begins with a line of {len(parts)} fields")
    url, address, date, media_type = parts[:4]
    named = {"warc-ip-address": address, "warc-date": date[:14], "content-type": media_type}
    kind = "arc_header" if url.startswith("filedesc:") else "response"
    return Fields(kind=kind, url=url, length=_length(parts[-1]), named=named)


def _length(value: str) -> int:
    """The length of a block; -1 if it is none that can be."""
    sound = value.isascii() and value.isdigit() and len(value) <= 18 and int(value) <= MAX_LENGTH
    return int(value) if sound else -1


def read_date(text: str, *, latest: datetime) -> datetime:
    """A moment as WARC 1.1 or ARC writes it, however exactly; RecordDamaged for none, or one that can't be."""
    match = _DATE.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        micros = int((fraction or "0").ljust(6, "0")[:6])
        moment = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), min(59, int(second or 0)),
            micros, tzinfo=UTC,
        )  # fmt: skip
        if zone and zone != "Z":
            moment = moment.replace(tzinfo=datetime.strptime(zone, "%z").tzinfo).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise RecordDamaged(f"a record's date is {text[:40]!r}") from error
    if not (moment.year >= _FIRST_YEAR and moment <= latest):
        raise RecordDamaged(f"a record's date can't be: {text[:40]}")
    return moment

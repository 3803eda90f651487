"""CDX: the list of captures that web archives answer questions with, row by row."""

from __future__ import annotations

import base64
import binascii
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from rehi.app import House
from rehi.archive.surt import surt
from rehi.errors import NotFound, SettingsError
from rehi.model.capture import Capture, CaptureFilter
from rehi.operations.byte_stream import ByteStream, batch_lines
from rehi.operations.mementos import target_of
from rehi.operations.moments import digits_of, parse_moment
from rehi.operations.parameters import DIGITS, Beginning, LongText, Moment, Offset, Text, Url, readable_by
from rehi.operations.patterns import Pattern
from rehi.operations.versions import spellings
from rehi.sources import host_meant

FIELDS = (
    "urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "redirect", "robotflags", "length", "offset",
    "filename",
)  # fmt: skip
_SHORT = dict(zip("NbamskrMSVg", FIELDS, strict=True)) | {"url": "original", "mime": "mimetype", "status": "statuscode"}
LAST = 10_000  # captures that are held for a negative limit
MOST_FILTERS = 10


class MatchType(StrEnum):
    """Which URLs are meant."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


class Output(StrEnum):
    """How rows are written."""

    TEXT = "text"
    JSON = "json"
    CDXJ = "cdxj"


Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sieve:
    """A condition on one field."""

    place: int
    pattern: Pattern
    unless: bool

    def keeps(self, row: Row) -> bool:
        """Whether a row fulfils the condition."""
        return self.pattern.matches(row[self.place]) != self.unless


@dataclass(frozen=True, slots=True, kw_only=True)
class CdxQuery:
    """A query for captures, as /cdx takes it."""

    where: tuple[CaptureFilter, ...]
    fields: tuple[str, ...] = FIELDS
    limit: int | None = None  # the last ones if it is negative
    offset: int = 0
    sieves: tuple[Sieve, ...] = ()
    collapse: tuple[tuple[int, int | None], ...] = ()  # fields, and how many of their characters
    after: tuple[str, datetime] | None = None
    resume: bool = False  # say how to go on
    targets: bool = False  # where redirects led


def _fields(text: str) -> tuple[str, ...]:
    return tuple(map(_field, text.split(",")))


def _field(name: str) -> str:
    field = _SHORT.get(name.strip(), name.strip())
    if field not in FIELDS:
        raise SettingsError(f"there is no field {name[:40]!r}; there are {', '.join(FIELDS)}")
    return field


def _sieve(text: str) -> Sieve:
    name, colon, wanted = text.removeprefix("!").lstrip("=~").partition(":")
    if not colon:
        raise SettingsError(f"{text[:60]!r} is no filter; write field:pattern, or !field:pattern for all others")
    return Sieve(FIELDS.index(_field(name)), Pattern(wanted), text.startswith("!"))


def _collapse(text: str) -> tuple[int, int | None]:
    name, _, length = text.partition(":")
    if length and not (length.isascii() and length.isdigit() and len(length) <= 12):
        raise SettingsError(f"the length in collapse is a whole number, not {length[:40]!r}")
    return FIELDS.index(_field(name)), int(length) if length else None


def _after(key: str) -> tuple[str, datetime]:
    try:
        stamp, _, url = base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)).decode().partition(" ")
        if not url or len(stamp) != 20:
            raise ValueError(key)
        return url, parse_moment(stamp)
    except (ValueError, binascii.Error) as error:
        raise SettingsError("the resumeKey is not one that was given here") from error


_Fields = Annotated[Text, readable_by(_fields)]
_Filter = Annotated[LongText, readable_by(_sieve)]
_Collapse = Annotated[Text, readable_by(_collapse)]
_ResumeKey = Annotated[LongText, readable_by(_after)]


def list_captures(
    house: House,
    *,
    url: Annotated[Url, Field(description="A URL, or one with * at either end.")],
    match_type: Annotated[MatchType | None, Field(alias="matchType", description="Which URLs are meant.")] = None,
    since: Annotated[Beginning, Field(alias="from", description="Only captures then or later, in digits.")] = "",
    until: Annotated[Moment, Field(alias="to", description="Only captures then or before.")] = "",
    limit: Annotated[int, Field(ge=-(10**12), le=10**12, description="The last ones if negative."), DIGITS]
    | None = None,
    offset: Offset = 0,
    fl: Annotated[_Fields, Field(description="The fields to show, with commas between.")] = "",
    filters: Annotated[
        tuple[_Filter, ...],
        Field(alias="filter", max_length=MOST_FILTERS, description="field:pattern, or !field:pattern for all others."),
    ] = (),
    collapse: Annotated[
        tuple[_Collapse, ...],
        Field(max_length=MOST_FILTERS, description="field, or field:length: the first of those alike."),
    ] = (),
    output: Annotated[Output, Field(description="As lines with blanks between, as JSON, or as CDXJ.")] = Output.TEXT,
    resume_key: Annotated[_ResumeKey, Field(alias="resumeKey", description="Where to go on.")] = "",
    show_resume_key: Annotated[bool, Field(alias="showResumeKey", description="Say at the end how to go on.")] = False,
) -> ByteStream:
    """List captures in the order of URLs and of time, in the words of web archives; none is an answer too."""
    fields = _fields(fl) if fl else FIELDS
    query = CdxQuery(
        where=_scopes(url.strip(), match_type, since=since, until=until),
        fields=fields,
        limit=limit,
        offset=offset,
        sieves=tuple(map(_sieve, filters)),
        collapse=tuple(map(_collapse, collapse)),
        after=_after(resume_key) if resume_key else None,
        resume=show_resume_key,
        targets="redirect" in fields and bool(fl),
    )
    write, media_type = WRITERS[output]
    return ByteStream(media_type=media_type, chunks=batch_lines(write(list_rows(house, query), query.fields)))


def list_rows(house: House, query: CdxQuery) -> Iterator[Row | str]:
    """Yield the rows, and at the end, where that was asked for and there is more, the key to go on with."""
    rows = _collapsed(query, _kept(house, query))
    if query.limit is not None and query.limit < 0:
        last = deque(rows, maxlen=min(-query.limit, LAST))
        yield from (_chosen(row, query.fields) for _, row in last)
        return
    left, before = query.limit, None
    for place, (capture, row) in enumerate(rows):
        if place < query.offset:
            continue
        if left == 0:
            if query.resume and before is not None:
                yield _key(before)
            return
        left = None if left is None else left - 1
        before = capture
        yield _chosen(row, query.fields)


def _scopes(given: str, how: MatchType | None, *, since: str, until: str) -> tuple[CaptureFilter, ...]:
    if how is None:
        how, given = _wildcard(given)
    base = CaptureFilter(
        since=parse_moment(since, end=False) if since else None,
        until=parse_moment(until) if until else None,
    )
    if how is MatchType.EXACT:
        return tuple(replace(base, url=url) for url in sorted(spellings(given), key=str.encode))
    if how is MatchType.PREFIX:
        written = [given] if "://" in given else [f"http://{given}", f"https://{given}"]
        return tuple(replace(base, prefix=prefix) for prefix in written)
    try:
        host = host_meant(given).rpartition("://")[2]
    except NotFound as error:
        raise SettingsError(str(error), names=("url",)) from error
    return (replace(base, host=host, domain=how is MatchType.DOMAIN),)


def _wildcard(given: str) -> tuple[MatchType, str]:
    if given.startswith("*."):
        return MatchType.DOMAIN, given[2:].partition("/")[0]
    return (MatchType.PREFIX, given[:-1]) if given.endswith("*") else (MatchType.EXACT, given)


def _kept(house: House, query: CdxQuery) -> Iterator[tuple[Capture, Row]]:
    parts = (house.catalogue.captures(where, after=query.after) for where in query.where)
    for capture in chain.from_iterable(parts):
        row = _row(capture, target_of(house, capture) if query.targets and capture.body is None else "")
        if all(sieve.keeps(row) for sieve in query.sieves):
            yield capture, row


def _collapsed(query: CdxQuery, rows: Iterable[tuple[Capture, Row]]) -> Iterator[tuple[Capture, Row]]:
    """Yield the first of rows that follow each other and are alike in the fields that were named."""
    if not query.collapse:
        yield from rows
        return
    before: tuple[str, ...] | None = None
    for capture, row in rows:
        alike = tuple(row[place][:length] for place, length in query.collapse)
        if alike != before:
            yield capture, row
        before = alike


def _row(capture: Capture, target: str) -> Row:
    revisit = capture.body is not None and capture.record != capture.body
    essence = "".join(capture.media_type.partition(";")[0].split()).lower()
    return (
        _word(surt(capture.url)),
        digits_of(capture.at),
        _word(capture.url),
        "warc/revisit" if revisit else _word(essence) or "unk",
        str(capture.status),
        capture.digest or "-",
        _word(target) or "-",
        "-",
        str(capture.record.length),
        str(capture.record.offset),
        _word(capture.record.file),
    )


def _word(text: str) -> str:
    """Return a text as one word in a line: blanks and what can't be seen are escaped."""
    if text.isprintable() and " " not in text:
        return text
    return "".join(one if one.isprintable() and one != " " else quote(one, errors="replace") for one in text)


def _chosen(row: Row, fields: tuple[str, ...]) -> Row:
    return row if fields is FIELDS else tuple(row[FIELDS.index(field)] for field in fields)


def _key(capture: Capture) -> str:
    return base64.urlsafe_b64encode(f"{digits_of(capture.at, fine=True)} {capture.url}".encode()).decode().rstrip("=")


Writer = Callable[[Iterable[Row | str], tuple[str, ...]], Iterator[str]]


def write_text(rows: Iterable[Row | str], fields: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each row, its fields with blanks between."""
    for row in rows:
        yield f"\n{row}\n" if isinstance(row, str) else f"{' '.join(row)}\n"


def write_json(rows: Iterable[Row | str], fields: tuple[str, ...]) -> Iterator[str]:
    """Yield the rows as a list of lists, of which the first names the fields."""
    import orjson

    yield f"[{orjson.dumps(fields).decode()}"
    for row in rows:
        yield ",\n" + (f"[],\n{orjson.dumps([row]).decode()}" if isinstance(row, str) else orjson.dumps(row).decode())
    yield "]\n"


def write_cdxj(rows: Iterable[Row | str], fields: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each row: key and time, and the other fields as a JSON object, as CDXJ calls them."""
    import orjson

    words = {"original": "url", "mimetype": "mime", "statuscode": "status"}
    for row in rows:
        if isinstance(row, str):
            yield f"\n{row}\n"
            continue
        values = dict(zip(fields, row, strict=True))
        rest = {
            words.get(name, name): value for name, value in values.items() if name not in FIELDS[:2] and value != "-"
        }
        yield f"{values.get('urlkey', '-')} {values.get('timestamp', '-')} {orjson.dumps(rest).decode()}\n"


WRITERS: dict[Output, tuple[Writer, str]] = {
    Output.TEXT: (write_text, "text/plain; charset=utf-8"),
    Output.JSON: (write_json, "application/json"),
    Output.CDXJ: (write_cdxj, "text/x-cdxj; charset=utf-8"),
}

"""A tombstone: a record that says which bytes were dropped on purpose, so that no catalogue brings them back.

The bytes leave their files later, when those are compacted. A ``metadata`` record lists digests, each with its rule, how
many versions had the bytes, and the first few of them. The tombstones of one decision lie in a file of their own, which
is there as a whole or not at all, so that they can be written while somebody else harvests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from rehi.archive.record import RecordFields, block_fields, record_id, warc_date, write_record
from rehi.archive.walk import SUFFIX, Bad, Found, Walk
from rehi.errors import RecordDamaged
from rehi.model.retention import Buried, Place
from rehi.model.version import Digest, RecordRef
from rehi.ports import Shelf

TYPE = "application/vnd.rehi.dropped+json"
LARGEST = 262_144  # bytes of one list; walks hand blocks of up to 1 MB on
_PREFIX = "dropped-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Bytes that were dropped together."""

    at: datetime
    buried: tuple[Buried, ...]


def is_tombstone(fields: RecordFields) -> bool:
    """Whether a record is one."""
    return fields.kind == "metadata" and fields.get("Content-Type") == TYPE


def read_tombstone(found: Found) -> Tombstone:
    """What a tombstone says; RecordDamaged if it is not one of ours."""
    ref = found.ref
    try:
        said = orjson.loads(found.block)
        return Tombstone(at=_moment(said["at"]), buried=tuple(_to_buried(one) for one in said["dropped"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordDamaged(f"{ref.file}:{ref.offset}: it does not say what was dropped") from error


def write_tombstones(shelf: Shelf, buried: Iterable[Buried], *, at: datetime, worker: str, software: str) -> str | None:
    """Put tombstones for all of these on the shelf, on disk for good; the name of their file, if there were any."""
    rest = iter(buried)
    first = next(rest, None)
    if first is None:
        return None
    file = _new_name(shelf, at, worker)
    shelf.put(file, _records(file, _chain(first, rest), at, software))
    return file


def read_tombstones(shelf: Shelf, file: str, size: int, *, start: int) -> Iterator[tuple[RecordRef, Tombstone]]:
    """The tombstones of a file from some place on; RecordDamaged where it is not as it was written."""
    for item in Walk(shelf, file, size, unfold=False).through(start):
        if isinstance(item, Bad):
            raise RecordDamaged(f"{file}:{item.ref.offset}: {item.why}")
        if is_tombstone(item.fields):
            yield item.ref, read_tombstone(item)


def tombstone_files(shelf: Shelf) -> list[tuple[str, int]]:
    """The files of tombstones with their sizes, the oldest first."""
    return [(file, size) for file, size in shelf.files() if file.startswith(_PREFIX) and file.endswith(SUFFIX)]


def _chain(first: Buried, rest: Iterator[Buried]) -> Iterator[Buried]:
    yield first
    yield from rest


def _new_name(shelf: Shelf, at: datetime, worker: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", worker).strip("-")[:64] or "worker"
    numbers = [int(match[1]) for file, _ in tombstone_files(shelf) if (match := re.search(r"-([0-9]{5,9})\.", file))]
    return f"{_PREFIX}{at.astimezone(UTC):%Y%m%d%H%M%S}-{name}-{max(numbers, default=0) + 1:05}{SUFFIX}"


def _records(file: str, buried: Iterable[Buried], at: datetime, software: str) -> Iterator[bytes]:
    date = warc_date(at)
    info = f"software: {' '.join(software.split())}\r\nformat: WARC File Format 1.1\r\n".encode()
    fields = (
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", record_id("warcinfo", file, date)),
        ("WARC-Date", date),
        ("WARC-Filename", file),
        *block_fields(info, "application/warc-fields"),
    )
    yield from write_record(fields, [info])
    for number, block in enumerate(_lists(buried, at)):
        fields = (
            ("WARC-Type", "metadata"),
            ("WARC-Record-ID", record_id("dropped", file, str(number))),
            ("WARC-Date", date),
            *block_fields(block, TYPE),
        )
        yield from write_record(fields, [block])


def _lists(buried: Iterable[Buried], at: datetime) -> Iterator[bytes]:
    """JSON lists that are not too long."""
    held: list[bytes] = []
    size = 0
    for one in buried:
        line = _line(one)
        if held and size + len(line) > LARGEST:
            yield _list(held, at)
            held, size = [], 0
        held.append(line)
        size += len(line)
    if held:
        yield _list(held, at)


def _list(lines: list[bytes], at: datetime) -> bytes:
    return b'{"at":%s,"dropped":[\n%s\n]}\n' % (orjson.dumps(at.astimezone(UTC).isoformat()), b",\n".join(lines))


def _line(one: Buried) -> bytes:
    places = [
        {
            "url": place.url,
            "at": place.at.astimezone(UTC).isoformat(),
            "status": place.status,
            "type": place.media_type,
            "file": place.record.file,
            "offset": place.record.offset,
            "length": place.record.length,
        }
        for place in one.places
    ]
    said = {"digest": one.digest, "size": one.size, "rule": one.rule, "versions": one.versions, "of": places}
    line = orjson.dumps(said)
    # An address of any length must not make a list that nobody reads.
    return line if len(line) <= LARGEST // 2 else _line(replace(one, places=one.places[: len(one.places) // 2]))


def _to_buried(said: dict[str, Any]) -> Buried:
    digest, rule = said["digest"], said["rule"]
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest) or not isinstance(rule, str):
        raise ValueError(digest)
    return Buried(
        digest=Digest(digest),
        size=int(said["size"]),
        rule=rule,
        versions=int(said["versions"]),
        places=tuple(_to_place(one) for one in said["of"]),
    )


def _to_place(said: dict[str, Any]) -> Place:
    return Place(
        url=str(said["url"]),
        at=_moment(said["at"]),
        status=int(said["status"]),
        media_type=str(said["type"]),
        record=RecordRef(str(said["file"]), int(said["offset"]), int(said["length"])),
    )


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment.astimezone(UTC)

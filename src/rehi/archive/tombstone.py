"""A tombstone: a record of bodies that were pruned, so that a rebuilt catalogue does not bring them back.

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

from rehi.archive.record import RecordFields, block_fields, field_lines, pack_record, record_id, warc_date
from rehi.archive.walk import SUFFIX, DamagedPart, Walk, WholeRecord
from rehi.errors import RecordDamaged
from rehi.model.retention import PrunedBody, PrunedVersion
from rehi.model.version import Digest, RecordRef
from rehi.ports import Shelf

TYPE = "application/vnd.rehi.dropped+json"
LARGEST = 262_144  # bytes of one list; walks hand blocks of up to 1 MB on
_PREFIX = "dropped-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Bodies that were pruned together."""

    at: datetime
    bodies: tuple[PrunedBody, ...]


def is_tombstone(fields: RecordFields) -> bool:
    """Whether a record is a tombstone."""
    return fields.kind == "metadata" and fields.get("Content-Type") == TYPE


def read_tombstone(record: WholeRecord) -> Tombstone:
    """Return the tombstone in a record; RecordDamaged if it can't be read."""
    ref = record.ref
    try:
        facts = orjson.loads(record.block)
        return Tombstone(at=_moment(facts["at"]), bodies=tuple(_to_body(entry) for entry in facts["dropped"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordDamaged(f"{ref.file}:{ref.offset}: it does not say what was dropped") from error


def write_tombstones(
    shelf: Shelf, bodies: Iterable[PrunedBody], *, at: datetime, worker: str, software: str
) -> str | None:
    """Write tombstones for these bodies, on disk for good; return the name of their file, None if there were no bodies."""
    rest = iter(bodies)
    first = next(rest, None)
    if first is None:
        return None
    file = _new_name(shelf, at, worker)
    shelf.put(file, _records(file, _chain(first, rest), at, software))
    return file


def read_tombstones(shelf: Shelf, file: str, size: int, *, start: int) -> Iterator[tuple[RecordRef, Tombstone]]:
    """Yield the tombstones of a file from offset ``start`` on; RecordDamaged if it is not as it was written."""
    for item in Walk(shelf, file, size, decode_deltas=False).records(start):
        if isinstance(item, DamagedPart):
            raise RecordDamaged(f"{file}:{item.ref.offset}: {item.why}")
        if is_tombstone(item.fields):
            yield item.ref, read_tombstone(item)


def tombstone_files(shelf: Shelf) -> list[tuple[str, int]]:
    """Return the files of tombstones with their sizes, the oldest first."""
    return [(file, size) for file, size in shelf.files() if file.startswith(_PREFIX) and file.endswith(SUFFIX)]


def _chain(first: PrunedBody, rest: Iterator[PrunedBody]) -> Iterator[PrunedBody]:
    yield first
    yield from rest


def _new_name(shelf: Shelf, at: datetime, worker: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", worker).strip("-")[:64] or "worker"
    numbers = [int(match[1]) for file, _ in tombstone_files(shelf) if (match := re.search(r"-([0-9]{5,9})\.", file))]
    return f"{_PREFIX}{at.astimezone(UTC):%Y%m%d%H%M%S}-{name}-{max(numbers, default=0) + 1:05}{SUFFIX}"


def _records(file: str, bodies: Iterable[PrunedBody], at: datetime, software: str) -> Iterator[bytes]:
    date = warc_date(at)
    info = f"software: {' '.join(software.split())}\r\nformat: WARC File Format 1.1\r\n".encode()
    fields = (
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", record_id("warcinfo", file, date)),
        ("WARC-Date", date),
        ("WARC-Filename", file),
        *block_fields(info, "application/warc-fields"),
    )
    yield pack_record(field_lines(fields), info)
    for number, block in enumerate(_lists(bodies, at)):
        fields = (
            ("WARC-Type", "metadata"),
            ("WARC-Record-ID", record_id("dropped", file, str(number))),
            ("WARC-Date", date),
            *block_fields(block, TYPE),
        )
        yield pack_record(field_lines(fields), block)


def _lists(bodies: Iterable[PrunedBody], at: datetime) -> Iterator[bytes]:
    """Yield JSON lists of at most ``LARGEST`` bytes."""
    held: list[bytes] = []
    size = 0
    for body in bodies:
        line = _line(body)
        if held and size + len(line) > LARGEST:
            yield _list(held, at)
            held, size = [], 0
        held.append(line)
        size += len(line)
    if held:
        yield _list(held, at)


def _list(lines: list[bytes], at: datetime) -> bytes:
    return b'{"at":%s,"dropped":[\n%s\n]}\n' % (orjson.dumps(at.astimezone(UTC).isoformat()), b",\n".join(lines))


def _line(body: PrunedBody) -> bytes:
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
        for place in body.places
    ]
    facts = {"digest": body.digest, "size": body.size, "rule": body.rule, "versions": body.versions, "of": places}
    line = orjson.dumps(facts)
    # A very long URL must not make a list that is too long to be read.
    return line if len(line) <= LARGEST // 2 else _line(replace(body, places=body.places[: len(body.places) // 2]))


def _to_body(facts: dict[str, Any]) -> PrunedBody:
    digest, rule = facts["digest"], facts["rule"]
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest) or not isinstance(rule, str):
        raise ValueError(digest)
    return PrunedBody(
        digest=Digest(digest),
        size=int(facts["size"]),
        rule=rule,
        versions=int(facts["versions"]),
        places=tuple(_to_place(entry) for entry in facts["of"]),
    )


def _to_place(facts: dict[str, Any]) -> PrunedVersion:
    return PrunedVersion(
        url=str(facts["url"]),
        at=_moment(facts["at"]),
        status=int(facts["status"]),
        media_type=str(facts["type"]),
        record=RecordRef(str(facts["file"]), int(facts["offset"]), int(facts["length"])),
    )


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment.astimezone(UTC)

"""Bodies: the files of the archive, the blobs in them by digest, and the versions that point to these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from rehi.engines.sql.outbox.port import READ, put_owned_work
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, Upsert, larger
from rehi.engines.sql.statements.values import from_micros, key_of, storable, to_micros
from rehi.engines.sql.tables import blob, file, version
from rehi.model.inventory import Replacement
from rehi.model.resource import NewVersion
from rehi.model.version import Digest, RecordRef, Version

_ENTER_FILE = Upsert(
    file,
    ("key", "name", "known_end", "owner"),
    unique=("key",),
    change={"known_end": larger(file, "known_end")},
    returning=("id", "name", "owner"),
)
_ENTER_BLOB = Upsert(
    blob, ("digest", "size", "file_id", "offset", "length"), unique=("digest",), returning=("id", "digest", "file_id")
)
_BLOBS = SelectMany(
    "SELECT blob.id, digest, name, owner, dropped_at FROM blob JOIN file ON file.id = file_id", "digest", "text"
)
_REVIVE = BulkUpdate(
    blob,
    {"id": "bigint", "file_id": "bigint", "offset": "bigint", "length": "bigint"},
    {
        "file_id": "new.file_id",
        "offset": "new.offset",
        "length": "new.length",
        "dropped_at": "NULL",
        "dropped_by": "''",
    },
    where="blob.id = new.id",
)
_MOVE = BulkUpdate(
    blob,
    {
        "digest": "text", "file_id": "bigint", "offset": "bigint", "length": "bigint",
        "old_file": "bigint", "old_offset": "bigint",
    },
    {"file_id": "new.file_id", "offset": "new.offset", "length": "new.length"},
    where='blob.digest = new.digest AND blob.file_id = new.old_file AND blob."offset" = new.old_offset AND dropped_at IS NULL',
)  # fmt: skip
_LOCKED = SelectMany(
    "SELECT id, digest, dropped_at FROM blob", "digest", "text", order="id", lock="FOR NO KEY UPDATE OF blob"
)
_NEWEST = SelectMany(
    "SELECT version.id, version.blob_id FROM version"
    " JOIN resource ON resource.id = version.resource_id AND resource.blob_id = version.blob_id",
    "version.blob_id",
    "bigint",
)
_ENTER_VERSION = Upsert(
    version,
    ("resource_id", "number", "taken_at", "blob_id", "media_type", "status", "file_id", "offset", "length"),
    returning=("id", "resource_id", "blob_id", "number"),
)


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that are kept: their id, and in whose folder they lie."""

    id: int
    owner: str
    new: bool = False
    revived: bool = False  # they had been pruned


def keep_blobs(connection: Connection, versions: Sequence[NewVersion], files: Mapping[str, File]) -> dict[str, Blob]:
    """Enter the bodies of versions, and return them by digest; known bytes stay where they are, unless they were pruned."""
    first: dict[str, NewVersion] = {}
    for one in sorted(versions, key=lambda new: not new.held):
        first.setdefault(one.digest, one)
    rows = [(digest, one.size, *place_of(one.body, files)) for digest, one in sorted(first.items())]
    owners = {known.id: known.owner for known in files.values()}
    blobs = {row.digest: Blob(row.id, owners[row.file_id], new=True) for row in _ENTER_BLOB.run(connection, rows)}
    known = _BLOBS.run(connection, first.keys() - blobs.keys())
    again = {row.digest: one.body for row in known if row.dropped_at is not None and (one := first[row.digest]).held}
    revived = revive_blobs(connection, again, files) if again else set()
    for row in known:
        back = row.id in revived
        blobs[row.digest] = Blob(row.id, files[again[row.digest].file].owner if back else row.owner, revived=back)
    return blobs


def revive_blobs(connection: Connection, bodies: Mapping[str, RecordRef], files: Mapping[str, File]) -> set[int]:
    """Note where pruned bytes are again, and return the ids of those that were pruned; the rest stay where they are.

    They must be counted as holdings again.
    """
    pruned = [row for row in _LOCKED.run(connection, sorted(bodies)) if row.dropped_at is not None]
    refs = [(row.id, bodies[row.digest]) for row in pruned]
    _REVIVE.run(connection, [(row, files[ref.file].id, ref.offset, ref.length) for row, ref in refs])
    _read_again(connection, {row: files[ref.file].owner for row, ref in refs})
    return {row.id for row in pruned}


def move_blobs(connection: Connection, places: Mapping[Digest, Replacement], *, owner: str) -> None:
    """Let blobs lie elsewhere, if they lie still where they lay."""
    refs = [ref for place in places.values() for ref in (RecordRef(place.lay.file, 0, 0), place.lies)]
    files = keep_files(connection, refs, owner=owner)
    rows = [
        (digest, *place_of(place.lies, files), files[place.lay.file].id, place.lay.offset)
        for digest, place in sorted(places.items())
    ]
    _MOVE.run(connection, rows)
    moved = [row for row in _BLOBS.run(connection, sorted(places)) if row.name == places[row.digest].lies.file]
    _read_again(connection, {row.id: row.owner for row in moved if row.dropped_at is None})


def _read_again(connection: Connection, owners: Mapping[int, str]) -> None:
    """Have pages read whose newest bytes are back, of these blobs with their owners: while they were gone, it was in vain."""
    rows = _NEWEST.run(connection, sorted(owners))
    put_owned_work(connection, READ, [(row.id, owners[row.blob_id]) for row in rows])


def keep_versions(
    connection: Connection, versions: Sequence[NewVersion], blobs: Mapping[str, Blob], files: Mapping[str, File]
) -> set[int]:
    """Store new versions with tasks to read them; bodies that were pruned after we looked are revived, and their ids returned.

    From here on nobody else can drop the bytes of these versions.
    """
    rows = [
        (
            new.resource_id, new.number, to_micros(new.taken_at), blobs[new.digest].id, storable(new.media_type),
            new.status, *place_of(new.record, files),
        )
        for new in versions
    ]  # fmt: skip
    owners = {blobs[new.digest].id: blobs[new.digest].owner for new in versions}
    passed = {(new.resource_id, new.number) for new in versions if not new.read}
    entered = sorted(_ENTER_VERSION.run(connection, rows))
    to_read = [(row.id, owners[row.blob_id]) for row in entered if (row.resource_id, row.number) not in passed]
    put_owned_work(connection, READ, to_read)
    return set() if connection.dialect.name == "sqlite" else _revive_late(connection, versions, blobs, files)


def _revive_late(
    connection: Connection, versions: Sequence[NewVersion], blobs: Mapping[str, Blob], files: Mapping[str, File]
) -> set[int]:
    """Revive blobs that were pruned while they were about to be used, which SQLite's one writer at a time rules out."""
    known = {new.digest: new.body for new in reversed(versions) if new.held and not blobs[new.digest].new}
    gone = {row.digest for row in _BLOBS.run(connection, sorted(known)) if row.dropped_at is not None}
    return revive_blobs(connection, {digest: known[digest] for digest in gone}, files)


_BODY_FILE = file.alias("body_file")
# All versions, with where their records and their bytes lie, in the order of time.
VERSIONS = (
    select(
        version.c.id, version.c.resource_id, version.c.number, version.c.taken_at, version.c.media_type,
        version.c.status, version.c.offset, version.c.length, file.c.name.label("file"), blob.c.digest, blob.c.size,
        _BODY_FILE.c.name.label("body_file"), blob.c.offset.label("body_offset"), blob.c.length.label("body_length"),
        blob.c.dropped_at,
    )
    .join(file, file.c.id == version.c.file_id)
    .join(blob, blob.c.id == version.c.blob_id)
    .join(_BODY_FILE, _BODY_FILE.c.id == blob.c.file_id)
    .order_by(version.c.resource_id, version.c.taken_at, version.c.number)
)  # fmt: skip


def to_version(row: Any) -> Version:
    """Return a row of ``VERSIONS`` as a version."""
    return Version(
        id=row.id,
        resource_id=row.resource_id,
        number=row.number,
        taken_at=from_micros(row.taken_at),
        digest=Digest(row.digest),
        size=row.size,
        media_type=row.media_type,
        status=row.status,
        record=RecordRef(row.file, row.offset, row.length),
        body=RecordRef(row.body_file, row.body_offset, row.body_length),
        dropped=row.dropped_at is not None,
    )


@dataclass(frozen=True, slots=True)
class File:
    """A file that the catalogue knows."""

    id: int
    owner: str  # in whose folder it lies


def keep_files(connection: Connection, refs: Iterable[RecordRef | None], *, owner: str = "") -> dict[str, File]:
    """Enter the files in which records lie, and return them by name; the furthest end in each is remembered.

    Files that are new were written by the one who tells of them first.
    """
    ends: dict[str, int] = {}
    for ref in refs:
        if ref is not None:
            ends[ref.file] = max(ref.end, ends.get(ref.file, 0))
    who = storable(owner)
    entered = _ENTER_FILE.run(connection, sorted((key_of(name), name, last, who) for name, last in ends.items()))
    return {row.name: File(row.id, row.owner) for row in entered}


def place_of(ref: RecordRef | None, files: Mapping[str, File]) -> tuple[int | None, int | None, int | None]:
    """Return a record's place as the columns file_id, offset and length."""
    return (None, None, None) if ref is None else (files[ref.file].id, ref.offset, ref.length)


def to_ref(name: str | None, offset: int | None, length: int | None) -> RecordRef | None:
    """Return columns as a record's place, if there is one."""
    if name is None or offset is None or length is None:
        return None
    return RecordRef(name, offset, length)

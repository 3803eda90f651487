"""Bodies: blobs by digest, and the versions that point to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, select

from rehi.engines.sql.files import File, place_of
from rehi.engines.sql.insertion import Insertion
from rehi.engines.sql.moment import from_micros
from rehi.engines.sql.question import Question
from rehi.engines.sql.schema import blob, file, outbox, version
from rehi.engines.sql.text import storable
from rehi.model.version import Digest, RecordRef, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version before it has an id."""

    resource_id: int
    number: int
    taken_at: int
    digest: str
    size: int
    media_type: str
    status: int
    record: RecordRef
    body: RecordRef


_ENTER_BLOB = Insertion(
    blob, ("digest", "size", "file_id", "offset", "length"), unique=("digest",), returning=("id", "digest", "file_id")
)
_BLOBS = Question("SELECT blob.id, digest, owner FROM blob JOIN file ON file.id = file_id", "digest", "text")
_ENTER_VERSION = Insertion(
    version,
    ("resource_id", "number", "taken_at", "blob_id", "media_type", "status", "file_id", "offset", "length"),
    returning=("id", "resource_id", "blob_id"),
)
_ENTER_TASK = Insertion(outbox, ("topic", "subject", "version_id", "owner"))


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that are kept: their id, and in whose folder they lie."""

    id: int
    owner: str


def keep_blobs(connection: Connection, versions: Sequence[NewVersion], files: Mapping[str, File]) -> dict[str, Blob]:
    """The blobs of versions, by digest; where bytes are known already, they stay where they are."""
    first: dict[str, NewVersion] = {}
    for new in versions:
        first.setdefault(new.digest, new)
    rows = [{"digest": digest, "size": new.size, **place_of(new.body, files)} for digest, new in sorted(first.items())]
    owners = {known.id: known.owner for known in files.values()}
    found = {row.digest: Blob(row.id, owners[row.file_id]) for row in _ENTER_BLOB.enter(connection, rows)}
    known = _BLOBS.ask(connection, first.keys() - found.keys())
    return found | {row.digest: Blob(row.id, row.owner) for row in known}


def keep_versions(
    connection: Connection, versions: Sequence[NewVersion], blobs: Mapping[str, Blob], files: Mapping[str, File]
) -> None:
    """Store new versions, each with the task to read it."""
    rows = [
        {
            "resource_id": new.resource_id,
            "number": new.number,
            "taken_at": new.taken_at,
            "blob_id": blobs[new.digest].id,
            "media_type": storable(new.media_type),
            "status": new.status,
            **place_of(new.record, files),
        }
        for new in versions
    ]
    owners = {row["blob_id"]: blobs[new.digest].owner for row, new in zip(rows, versions, strict=True)}
    tasks = [
        {"topic": "read", "subject": row.resource_id, "version_id": row.id, "owner": owners[row.blob_id]}
        for row in sorted(_ENTER_VERSION.enter(connection, rows))
    ]
    _ENTER_TASK.enter(connection, tasks)


_BODY_FILE = file.alias("body_file")


def select_versions() -> Select[Any]:
    """All versions, with where their records and their bytes lie."""
    return (
        select(
            version.c.id, version.c.resource_id, version.c.number, version.c.taken_at, version.c.media_type,
            version.c.status, version.c.offset, version.c.length, file.c.name.label("file"), blob.c.digest, blob.c.size,
            _BODY_FILE.c.name.label("body_file"), blob.c.offset.label("body_offset"), blob.c.length.label("body_length"),
        )
        .join(file, file.c.id == version.c.file_id)
        .join(blob, blob.c.id == version.c.blob_id)
        .join(_BODY_FILE, _BODY_FILE.c.id == blob.c.file_id)
        .order_by(version.c.resource_id, version.c.number)
    )  # fmt: skip


def to_version(row: Any) -> Version:
    """A row of ``select_versions`` as a version."""
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
    )

"""Files: the archive's, with the last end in each that the catalogue knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from rehi.engines.sql.statements.bulk import Upsert, larger
from rehi.engines.sql.statements.values import key_of, storable
from rehi.engines.sql.tables import file
from rehi.model.version import RecordRef

_ENTER = Upsert(
    file,
    ("key", "name", "known_end", "owner"),
    unique=("key",),
    change={"known_end": larger(file, "known_end")},
    returning=("id", "name", "owner"),
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
    rows = [
        {"key": key_of(name), "name": name, "known_end": last, "owner": storable(owner)} for name, last in ends.items()
    ]
    entered = _ENTER.run(connection, sorted(rows, key=lambda row: row["key"]))
    return {row.name: File(row.id, row.owner) for row in entered}


def place_of(ref: RecordRef | None, files: Mapping[str, File]) -> tuple[int | None, int | None, int | None]:
    """Return a record's place as the columns file_id, offset and length."""
    return (None, None, None) if ref is None else (files[ref.file].id, ref.offset, ref.length)


def to_ref(name: str | None, offset: int | None, length: int | None) -> RecordRef | None:
    """Return columns as a record's place, if there is one."""
    if name is None or offset is None or length is None:
        return None
    return RecordRef(name, offset, length)

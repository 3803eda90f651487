"""Files: the archive's, with the last end in each that the catalogue knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from rehi.engines.sql.database import gather
from rehi.engines.sql.insertion import Insertion, larger
from rehi.engines.sql.schema import file
from rehi.engines.sql.text import key_of
from rehi.model.version import RecordRef

_ENTER = Insertion(file, ("key", "name", "known_end"), unique=("key",), change={"known_end": larger(file, "known_end")})


def keep_files(connection: Connection, refs: Iterable[RecordRef | None]) -> dict[str, int]:
    """The ids of the files in which records lie; the furthest end in each is remembered."""
    ends: dict[str, int] = {}
    for ref in refs:
        if ref is not None:
            ends[ref.file] = max(ref.end, ends.get(ref.file, 0))
    rows = [{"key": key_of(name), "name": name, "known_end": last} for name, last in ends.items()]
    _ENTER.enter(connection, sorted(rows, key=lambda row: row["key"]))
    keys = [row["key"] for row in rows]
    found = gather(connection, keys, lambda part: select(file.c.id, file.c.name).where(file.c.key.in_(part)))
    return {row.name: row.id for row in found}


def place_of(ref: RecordRef | None, files: dict[str, int]) -> dict[str, Any]:
    """A record's place as columns."""
    if ref is None:
        return {"file_id": None, "offset": None, "length": None}
    return {"file_id": files[ref.file], "offset": ref.offset, "length": ref.length}


def to_ref(name: str | None, offset: int | None, length: int | None) -> RecordRef | None:
    """Columns as a record's place, if there is one."""
    if name is None or offset is None or length is None:
        return None
    return RecordRef(name, offset, length)

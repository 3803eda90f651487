"""Readings: what was read from some bytes by some recipe, entered once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from rehi.engines.sql.ledger.bodies import File, keep_files, place_of, to_ref
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, Upsert
from rehi.engines.sql.statements.values import folded, storable, to_micros
from rehi.engines.sql.tables import facet, file, part, reading, table_shape, term
from rehi.model.codec import to_json
from rehi.model.work import NewReading, ReadingFacts, ReadingKey

_INSERT = Upsert(
    reading,
    (
        "blob_id", "recipe", "hint", "media_type", "title", "searched", "language", "characters", "names", "read_at",
        "file_id", "offset", "length",
    ),
    unique=("blob_id", "recipe", "hint"),
    returning=("id", "blob_id", "recipe", "hint"),
)  # fmt: skip
_PLACE = BulkUpdate(
    reading,
    {"id": "bigint", "file": "bigint", "start": "bigint", "size": "bigint"},
    {"file_id": "new.file", "offset": "new.start", "length": "new.size"},
    where="reading.id = new.id",
)
_INSERT_PART = Upsert(part, ("reading_id", "number", "kind", "title", "media_type", "start_at", "end_at"))
_INSERT_TABLE = Upsert(table_shape, ("reading_id", "number", "column_count", "row_count", "data"))
_INSERT_FACET = Upsert(facet, ("reading_id", "name", "version", "data"))
_INSERT_TERM = Upsert(term, ("reading_id", "field", "folded", "value"), unique=("reading_id", "field", "folded"))
_BY_BLOB = SelectMany("SELECT id, blob_id, recipe, hint, file_id FROM reading", "blob_id", "bigint")
READING_COLUMNS = (
    reading.c.id, reading.c.media_type, reading.c.title, reading.c.language, reading.c.characters, reading.c.names,
    reading.c.offset, reading.c.length, file.c.name.label("file"),
)  # fmt: skip


def to_facts(row: Any) -> ReadingFacts:
    """Return a row of ``READING_COLUMNS`` as facts."""
    return ReadingFacts(
        id=row.id,
        media_type=row.media_type,
        title=row.title,
        language=row.language,
        characters=row.characters,
        names=row.names,
        derived=to_ref(row.file, row.offset, row.length),
    )


def find_readings(connection: Connection, keys: Collection[ReadingKey]) -> dict[ReadingKey, int]:
    """Return the ids of readings that were made already."""
    rows = _BY_BLOB.run(connection, sorted({key.blob_id for key in keys}))
    known = {ReadingKey(row.blob_id, row.recipe, row.hint): row.id for row in rows if row.file_id is not None}
    return {key: known[key] for key in keys if key in known}


def enter_readings(
    connection: Connection, new: Mapping[ReadingKey, NewReading], worker: str, now: datetime
) -> tuple[dict[ReadingKey, int], set[ReadingKey]]:
    """Enter readings, and return their ids, and which of them nobody had entered before.

    Those whose records were lost get the new ones; all else is known of them.
    """
    files = keep_files(connection, [one.facts.derived for one in new.values()], owner=worker)
    at = to_micros(now)
    rows = sorted(_row(one, files, at) for one in new.values())  # by their keys, with which they begin
    entered = {ReadingKey(row.blob_id, row.recipe, row.hint): row.id for row in _INSERT.run(connection, rows)}
    known = find_readings(connection, new.keys() - entered.keys()) if len(entered) < len(new) else {}
    if len(entered) + len(known) < len(new):
        known |= _find_again(connection, {key: new[key] for key in new.keys() - entered.keys() - known.keys()}, files)
    _enter_details(connection, [(row, new[key]) for key, row in entered.items()])
    return entered | known, set(entered)


def _find_again(
    connection: Connection, lost: Mapping[ReadingKey, NewReading], files: Mapping[str, File]
) -> dict[ReadingKey, int]:
    """Note where the records of readings are again, and return their ids."""
    rows = _BY_BLOB.run(connection, sorted({key.blob_id for key in lost}))
    ids = {key: row.id for row in rows if (key := ReadingKey(row.blob_id, row.recipe, row.hint)) in lost}
    _PLACE.run(connection, [(row, *place_of(lost[key].facts.derived, files)) for key, row in ids.items()])
    return ids


def _row(new: NewReading, files: Mapping[str, File], at: int) -> tuple[Any, ...]:
    facts, key = new.facts, new.key
    title = storable(facts.title)
    return (
        key.blob_id, key.recipe, key.hint, storable(facts.media_type), title, title.casefold(),
        storable(facts.language), facts.characters, facts.names, at, *place_of(facts.derived, files),
    )  # fmt: skip


def _enter_details(connection: Connection, readings: Sequence[tuple[int, NewReading]]) -> None:
    """Enter the parts, tables, facets and terms of readings that are new."""
    _INSERT_PART.run(
        connection,
        [
            (row, number, one.kind, storable(one.title), storable(one.media_type), one.start, one.end)
            for row, new in readings
            for number, one in enumerate(new.parts)
        ],
    )
    _INSERT_TABLE.run(
        connection,
        [
            (row, number, one.columns, one.rows, to_json(asdict(one)))
            for row, new in readings
            for number, one in enumerate(new.tables)
        ],
    )
    _INSERT_FACET.run(
        connection, [(row, one.name, one.version, one.data) for row, new in readings for one in new.briefs]
    )
    terms = {  # each once by what is searched for
        (row, one.field, folded(one.value)): (row, storable(one.field), folded(one.value), storable(one.value))
        for row, new in readings
        for one in new.terms
    }
    _INSERT_TERM.run(connection, list(terms.values()))

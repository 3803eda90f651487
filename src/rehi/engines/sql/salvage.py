"""Salvage: what can still be read of a damaged SQLite catalogue, and is not in the archive's files, brought to a new one.

Sources with their findings, hosts with their orders and profiles, schedules and the tables of updates are copied, row by row
and as far as each row is valid; ids stay, so that documents and versions keep their addresses. What the archive's files tell is
left to them: a resource begins without versions, and gets its schedule back once its visits were entered again.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import LargeBinary, Table

from rehi.engines.sql.catalogue import open_catalogue
from rehi.engines.sql.integrity import FAULTS, NOTHING_KNOWN, Opaque, check_made_of, checks_of, wrong_values
from rehi.engines.sql.tables import metadata
from rehi.model.visit import Outcome

_LAST = (1 << 62) - 1
_MOST_FAILURES = 20_000  # seeks that fail before a table is given up: a page holds some hundred rows
# In the order of what they refer to. Columns that are given are set, whatever the old row says.
_COPIED: dict[str, Mapping[str, Any]] = {
    "source": {},
    "host": {"token": None, "worker": None, "lease_until": 0},
    "robots": {},
    "probe": {},
    "orders": {},
    "pace_group": {"token": None, "lease_until": 0},
    "resource": {
        "state": "waiting", "status": 0, "failures": 0, "versions": 0, "read_number": 0, "statements": 0, "blob_id": None,
        "redirect_to": None, "visited_at": None, "changed_at": None, "media_type": "", "etag": "", "last_modified": "",
        "failing_since": None, "gone_at": None, "remarked": 0, "history": None,
    },
    "finding": {},
    "update_round": {},
    "update_share": {},
    "worker": {},
    "ownership": {},
}  # fmt: skip
_SOURCE_COUNTS = ("visited", "bytes", "documents", "names", "statements", "seconds:", "dropped:")  # counted again
_ORPHANS = (
    "DELETE FROM resource WHERE host_id NOT IN (SELECT id FROM host)",
    "DELETE FROM finding WHERE resource_id NOT IN (SELECT id FROM resource)"
    " OR source_id NOT IN (SELECT id FROM source)",
    "DELETE FROM robots WHERE host_id NOT IN (SELECT id FROM host)",
    "DELETE FROM probe WHERE host_id NOT IN (SELECT id FROM host)",
    "DELETE FROM orders WHERE host_id NOT IN (SELECT id FROM host)",
    "DELETE FROM update_share WHERE update_id NOT IN (SELECT id FROM update_round)",
)
_SCHEDULE = (
    "state", "due_at", "status", "failures", "hops", "visited_at", "changed_at", "media_type", "etag", "last_modified",
    "failing_since", "gone_at", "remarked",
)  # fmt: skip


def rebuild_indexes(path: Path) -> None:
    """Make all indexes again from their tables."""
    with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
        connection.execute("REINDEX")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """How many rows were brought to the new file, and how many could not be, by table."""

    copied: Mapping[str, int]
    left_out: Mapping[str, int]  # rows that are damaged, and places at which some can't be read


def salvage(old: Path, new: Path, *, opaque: Opaque = NOTHING_KNOWN) -> Salvaged:
    """Make a new catalogue with the readable rows of an old one. A value that is not copied anyway costs no row."""
    open_catalogue(f"sqlite:///{new}").close()
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    with closing(_open_old(old)) as source, closing(sqlite3.connect(new, isolation_level=None)) as target:
        target.execute("BEGIN IMMEDIATE")
        for name, given in _COPIED.items():
            table = metadata.tables[name]
            rows = valid_rows(source, table, opaque=opaque, unneeded=given.keys(), left_out=left_out)
            counts[name] = _insert(target, table, rows, given)
        for statement in _ORPHANS:
            target.execute(statement)
        _copy_counts(source, target)
        _count_states(target)
        target.execute("COMMIT")
    return Salvaged(counts, left_out)


def restore_schedules(old: Path, new: Path, *, opaque: Opaque = NOTHING_KNOWN) -> None:
    """Give resources back when they are due and what was learned of them, where all their versions are there again.

    A history that can't be read any more is left as the visits in the archive have made it again.
    """
    table = metadata.tables["resource"]
    changes = ", ".join(f'"{name}" = :{name}' for name in _SCHEDULE) + ", history = coalesce(:history, history)"
    update = f"UPDATE resource SET {changes} WHERE id = :id AND url = :url AND versions = :versions"  # noqa: S608
    with closing(_open_old(old)) as source, closing(sqlite3.connect(new, isolation_level=None)) as target:
        target.execute("BEGIN IMMEDIATE")
        target.executemany(update, valid_rows(source, table, opaque=opaque))
        visits = metadata.tables["visit"]
        failed = (row for row in valid_rows(source, visits) if row["file_id"] is None)  # they left no record
        known = {row[0] for row in target.execute("SELECT id FROM resource")}
        entered = _insert(target, visits, (row for row in failed if row["resource_id"] in known), {})
        target.execute("UPDATE tally SET n = n + ? WHERE source_id = 0 AND what = 'visits'", (entered,))
        _count_states(target)
        target.execute("COMMIT")


def valid_rows(
    connection: sqlite3.Connection,
    table: Table,
    *,
    opaque: Opaque = NOTHING_KNOWN,
    unneeded: Collection[str] = (),
    left_out: Counter[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table that can be read, and whose values are well; the others are counted.

    What is wrong in an unneeded column, or one of opaque bytes that may be missing, is left out alone, and not its row.
    """
    names = [column.name for column in table.columns]
    texts = [not isinstance(column.type, LargeBinary) for column in table.columns]
    checks, follows = checks_of(table, opaque), check_made_of(table.name, names)
    alone = [
        column.name in unneeded or (column.nullable and (table.name, column.name) in opaque) for column in table.columns
    ]
    needed = [_no_check if may_miss else check for check, may_miss in zip(checks, alone, strict=True)]
    faulty = Counter[str]() if left_out is None else left_out
    for row in _readable_rows(connection, table, names, faulty):
        kept = [
            None if may_miss and check(value) else value
            for value, check, may_miss in zip(row, checks, alone, strict=True)
        ]
        if any(wrong_values(kept, names, needed, follows)):
            faulty[table.name] += 1
            continue
        yield {
            name: value.decode() if is_text and isinstance(value, bytes) else value
            for name, value, is_text in zip(names, kept, texts, strict=True)
        }


def _no_check(_: object) -> str:
    return ""


def _open_old(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    connection.text_factory = bytes
    return connection


def _readable_rows(
    connection: sqlite3.Connection, table: Table, names: Sequence[str], faulty: Counter[str]
) -> Iterator[Sequence[Any]]:
    listed = ", ".join(f'"{name}"' for name in names)
    if not _can_be_asked(connection, table):
        faulty[table.name] += 1
        return
    key, wheres = "rowid", [""]
    if table.name == "finding":  # keyed by source and resource: a damaged page must not cost a source all its findings
        sources = [row["id"] for row in valid_rows(connection, metadata.tables["source"])]
        key, wheres = "resource_id", [f"source_id = {one:d} AND" for one in sources]
    elif not table.dialect_options["sqlite"]["with_rowid"]:
        key = names[0]
    for where in wheres:
        query = f"SELECT {key}, {listed} FROM {table.name} WHERE {where} {key} BETWEEN ? AND ? ORDER BY {key}"  # noqa: S608
        failures: Counter[str] = Counter()
        yield from _rows_between(connection, query, -1, _LAST, failures)
        faulty[table.name] += bool(failures[query])


def _can_be_asked(connection: sqlite3.Connection, table: Table) -> bool:
    """Whether a table is known at all; if the list of tables is damaged, each of 20,000 seeks would read it again for nothing."""
    try:
        connection.execute(f"SELECT 1 FROM {table.name} LIMIT 0")  # noqa: S608
    except FAULTS:
        return False
    return True


def _rows_between(
    connection: sqlite3.Connection, query: str, low: int, high: int, failures: Counter[str]
) -> Iterator[Sequence[Any]]:
    """Yield rows by their keys; where a page can't be read, in ever smaller ranges, until only its own rows are left out."""
    try:
        for key, *row in connection.execute(query, (low, high)):
            if isinstance(key, int):  # a damaged one may be any number, and in any order: the range must become smaller
                low = max(low, key + 1)
            yield row
    except FAULTS:
        failures[query] += 1
        if low < high and failures[query] < _MOST_FAILURES:
            middle = (low + high) // 2
            yield from _rows_between(connection, query, low, middle, failures)
            yield from _rows_between(connection, query, middle + 1, high, failures)


def _insert(target: sqlite3.Connection, table: Table, rows: Iterator[dict[str, Any]], given: Mapping[str, Any]) -> int:
    names = [column.name for column in table.columns]
    listed, places = ", ".join(f'"{name}"' for name in names), ", ".join(f":{name}" for name in names)
    before = target.total_changes
    statement = f"INSERT OR IGNORE INTO {table.name} ({listed}) VALUES ({places})"  # noqa: S608
    target.executemany(statement, ({**row, **given} for row in rows))
    return target.total_changes - before


def _copy_counts(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy the numbers of sources that come from reading them; those of visits and documents are counted again."""
    table = metadata.tables["tally"]
    rows = (
        row
        for row in valid_rows(source, table)
        if row["source_id"] > 0 and not row["what"].startswith(_SOURCE_COUNTS)
    )  # fmt: skip
    outcomes = {outcome.value for outcome in Outcome}
    _insert(target, table, (row for row in rows if row["what"] not in outcomes), {})


def _count_states(target: sqlite3.Connection) -> None:
    """Count resources by state anew."""
    target.execute("DELETE FROM tally WHERE source_id = 0 AND what LIKE 'state:%'")
    target.execute(
        "INSERT INTO tally (source_id, what, slot, n) SELECT 0, 'state:' || state, 0, count(*) FROM resource GROUP BY state"
    )

"""Integrity: whether an SQLite catalogue's file is as it was written, seen in one snapshot beside those who write.

A deep look reads everything. A quick one has its time: it looks at rows of every table by lot, then at the trees, then at the
indexes, and then at all rows, as far as it comes, and says how far that was. Of a catalogue with a million URLs (320 MB) it
takes 0.1 s of CPU to look at the lots, 0.6 at the trees and 2.8 at the indexes.

SQLite has no checksums. Its own check finds what is wrong with trees and indexes; here every value is looked at too: its
type, its range, its characters, and keys that are the digest of other columns.
"""

from __future__ import annotations

import math
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, SmallInteger, Table, Text

from rehi.engines.sql.sampling import TableSample
from rehi.engines.sql.statements.values import key_of, tail_of
from rehi.engines.sql.tables import metadata
from rehi.model.entity import EntityKey
from rehi.model.inventory import CatalogueFault

BUDGET = 4.0  # seconds of processor time that a quick look may take
_LOTS = 1.5  # of these for the lots, at most
FAULTS = (sqlite3.Error, UnicodeDecodeError)  # the second when a complaint quotes what is damaged
_MOST_FAULTS = 100
_STEPS = 50_000  # of SQLite's machine between two looks at the clock
_LAST_MOMENT = 253_402_300_800_000_000  # the year 10000, in microseconds
_LARGEST = 1 << 53
_MOMENTS = frozenset({"at", "since", "not_before", "lease_until", "claimed_until"})
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_OF_INDEX = re.compile(r"missing from index (\w+)|entries in index (\w+)|non-unique entry in index (\w+)")
_JSON = frozenset({("facet", "data"), ("table_shape", "data"), ("finding", "claims")})

Opaque = Mapping[tuple[str, str], Callable[[bytes], bool]]  # by table and column
NOTHING_KNOWN: Opaque = {}
Check = Callable[[Any], str]  # what is wrong with a value; empty if nothing is

# Columns that follow from others: the column, those that it is made of, and how.
_MADE_OF: dict[str, tuple[str, tuple[str, ...], Callable[..., object]]] = {
    "file": ("key", ("name",), key_of),
    "host": ("key", ("origin",), key_of),
    "entity": ("key", ("kind", "slug", "sense"), lambda *of: key_of(of[0], EntityKey(*of).path)),
    "problem": ("key", ("stage", "subject"), key_of),
    "source": ("key", ("location", "name"), lambda place, name: key_of("" if place == name else place, name)),
    "form": ("key", ("entity_id", "what", "text", "given", "family"), lambda *of: key_of(*map(str, of))),
    "resource": ("tail", ("url",), tail_of),
}


class _TimeIsUp(Exception):
    """A quick look has taken as long as it may."""


@dataclass(slots=True)
class _TimeLimit:
    """How long a look may take, in processor time; its end may be set again while SQLite looks at it."""

    until: float = math.inf

    def is_up(self) -> bool:
        return time.process_time() > self.until


def find_faults(
    path: Path, *, deep: bool, opaque: Opaque = NOTHING_KNOWN, budget: float = BUDGET
) -> Iterator[CatalogueFault]:
    """Yield what is wrong with the file; a quick look ends when its time is up, and says by a fault that is none how far it came.

    What only rooms can read is judged by them: ``opaque`` says for columns of bytes whether they are well.
    """
    limit, looked = _TimeLimit(), list[str]()
    end = time.process_time() + budget
    try:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
            connection.text_factory = bytes
            connection.execute("PRAGMA query_only = ON")
            connection.set_progress_handler(limit.is_up, _STEPS)
            connection.execute("BEGIN")
            if not deep:
                limit.until = min(time.process_time() + _LOTS, end)
                yield from _check_lots(connection, limit, opaque, looked)
                limit.until = end
                yield from _check_structure(connection, looked)
            yield from _check_trees(connection)
            looked.append("its indexes")
            yield from _check_values(connection, limit, opaque)
    except _TimeIsUp:
        yield _unread(looked)
    except FAULTS as error:
        yield _unread(looked) if _is_interrupted(error) else CatalogueFault(table="", why=str(error))


def _unread(looked: Sequence[str]) -> CatalogueFault:
    """Return the fault that is none: it says what was looked at until the time was up."""
    *most, last = looked or ("none of it",)
    return CatalogueFault(table="", why=f"{', '.join(most)} and {last}" if most else last, unread=True)


def _is_interrupted(error: Exception) -> bool:
    return "interrupted" in str(error)


def _check_lots(
    connection: sqlite3.Connection, limit: _TimeLimit, opaque: Opaque, looked: list[str]
) -> Iterator[CatalogueFault]:
    """Check rows of every table by lot, as long as there is time for it; the tables come by lot, too."""
    lot = random.Random()  # noqa: S311 - no secret
    tables = metadata.sorted_tables
    samples: list[TableSample] = []
    for table in lot.sample(tables, len(tables)):
        sample = TableSample(table)
        try:
            yield from _check_rows(sample.rows(connection, lot), table, limit, opaque)
        except _TimeIsUp:
            break
        except FAULTS as error:
            if _is_interrupted(error):
                break
            yield CatalogueFault(table=table.name, why=str(error))
        samples.append(sample)
    if len(samples) < len(tables):
        looked.append(f"rows of {len(samples)} of {len(tables)} tables")
        return
    drawn, total = sum(sample.drawn for sample in samples), sum(sample.total for sample in samples)
    share = min(drawn / total, 1.0) if total else 1.0
    looked.append(f"{drawn:,} of about {total:,} rows ({share:.1%})")


def _check_structure(connection: sqlite3.Connection, looked: list[str]) -> Iterator[CatalogueFault]:
    """Check the trees alone, which takes a fifth of the time; what is wrong is said again by the whole check, if that is reached."""
    faults = list(_complaints(connection, "quick_check"))
    looked.append("its trees")
    yield from faults


def _check_trees(connection: sqlite3.Connection) -> Iterator[CatalogueFault]:
    yield from _complaints(connection, "integrity_check")
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield CatalogueFault(
            table=_text(table), row=row, why=f"it refers to a row of {_text(parent)} that is not there"
        )


def _complaints(connection: sqlite3.Connection, check: str) -> Iterator[CatalogueFault]:
    for (line,) in connection.execute(f"PRAGMA {check}({_MOST_FAULTS})"):
        for why in _text(line).splitlines():
            if why != "ok" and not why.startswith("*** in database"):
                index = _OF_INDEX.search(why)
                yield CatalogueFault(table="", why=why, index=next(filter(None, index.groups()), "") if index else "")


def _check_values(connection: sqlite3.Connection, limit: _TimeLimit, opaque: Opaque) -> Iterator[CatalogueFault]:
    for table in metadata.sorted_tables:
        query = f"SELECT {_listed([column.name for column in table.columns])} FROM {table.name}"  # noqa: S608
        try:
            yield from islice(_check_rows(connection.execute(query), table, limit, opaque), _MOST_FAULTS)
        except FAULTS as error:
            if _is_interrupted(error):
                raise _TimeIsUp from error
            yield CatalogueFault(table=table.name, why=str(error))


def _check_rows(
    rows: Iterable[Sequence[Any]], table: Table, limit: _TimeLimit, opaque: Opaque
) -> Iterator[CatalogueFault]:
    names = [column.name for column in table.columns]
    checks = checks_of(table, opaque)
    follows = check_made_of(table.name, names)
    for number, row in enumerate(rows):
        if not number % 1000 and limit.is_up():
            raise _TimeIsUp
        for why in wrong_values(row, names, checks, follows):
            yield CatalogueFault(table=table.name, row=row[0] if isinstance(row[0], int) else None, why=why)


def wrong_values(row: Sequence[Any], names: Sequence[str], checks: Sequence[Check], follows: Check) -> Iterator[str]:
    """Yield what is wrong with the values of a row."""
    well = True
    for name, check, value in zip(names, checks, row, strict=True):
        if why := check(value):
            well = False
            yield f"{name} {why}"
    if well and (why := follows(row)):
        yield why


def checks_of(table: Table, opaque: Opaque = NOTHING_KNOWN) -> list[Check]:
    """Return the checks of each column of a table."""
    return [
        _opaque_check(opaque[table.name, column.name]) if (table.name, column.name) in opaque else _check_of(column)
        for column in table.columns
    ]


def _opaque_check(is_well: Callable[[bytes], bool]) -> Check:
    return lambda value: "" if value is None or (isinstance(value, bytes) and is_well(value)) else "can't be read"


def check_made_of(table: str, names: Sequence[str]) -> Check:
    """Return the check of a row's column that follows from others, if it has one."""
    if table not in _MADE_OF:
        return lambda _: ""
    key, parts, make = _MADE_OF[table]
    at, places = names.index(key), [names.index(part) for part in parts]

    def check(row: Sequence[Any]) -> str:
        made = make(*(_text(row[place]) if isinstance(row[place], bytes) else row[place] for place in places))
        kept = row[at]
        return "" if kept == (made.encode() if isinstance(made, str) else made) else f"{key} is not that of the row"

    return check


def _check_of(column: Column[Any]) -> Check:
    inner = _check_of_kind(column)
    if not column.nullable:
        return inner
    return lambda value: "" if value is None else inner(value)


def _check_of_kind(column: Column[Any]) -> Check:
    match column.type:
        case Float():
            return lambda value: "" if isinstance(value, float | int) and math.isfinite(value) else "is no number"
        case BigInteger() | Integer() | SmallInteger():
            moment = column.name.endswith("_at") or column.name in _MOMENTS
            return _range_check(_LAST_MOMENT if moment else _LARGEST)
        case LargeBinary():
            return _json_check if (column.table.name, column.name) in _JSON else _bytes_check
        case Text():
            if (column.table.name, column.name) in _JSON:
                return lambda value: _text_check(value) or (_json_check(value) if value else "")
            return _digest_check if column.name == "digest" else _text_check
        case _:
            return lambda _: ""


def _range_check(last: int) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, int):
            return "is no whole number"
        return "" if -1 <= value <= last else f"is {value}, which it can't be"

    return check


def _text_check(value: Any) -> str:
    if not isinstance(value, bytes):
        return "is no text"
    try:
        return "has a NUL in it" if "\0" in value.decode() else ""
    except UnicodeDecodeError:
        return "is no valid text"


def _digest_check(value: Any) -> str:
    return _text_check(value) or ("" if _DIGEST.fullmatch(value.decode()) else "is no digest")


def _bytes_check(value: Any) -> str:
    return "" if isinstance(value, bytes) else "is no bytes"


def _json_check(value: Any) -> str:
    try:
        orjson.loads(value)
    except (orjson.JSONDecodeError, TypeError):
        return "is no JSON"
    return ""


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)

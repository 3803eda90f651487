"""A tally: numbers that are added up per source and for the whole house, and the totals that are read from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection, func, select, text

from rehi.engines.sql.database import Database
from rehi.engines.sql.statements.driver import Upsert
from rehi.engines.sql.statements.values import to_micros
from rehi.engines.sql.tables import tally

# What was never visited is due by its state; only what was needs the index by time.
_AGAIN = text("SELECT count(*) FROM resource WHERE state <> 'waiting' AND due_at <= :now")
HOUSE = 0  # the source id that stands for all of them
DAYS = -1  # the one under which visits are counted, by the names of days

_UNIQUE = ("source_id", "what", "slot")
_ADD = Upsert(tally, (*_UNIQUE, "n"), unique=_UNIQUE, change={"n": "tally.n + new.n"})


@dataclass(slots=True)
class Additions:
    """What one transaction adds; written at its end, so that others wait for as short as can be."""

    _numbers: defaultdict[tuple[int, str], float] = field(default_factory=partial(defaultdict, float))

    def add(self, source_id: int, name: str, n: float = 1) -> None:
        """Add to a number of a source, or of the whole house."""
        self._numbers[source_id, name] += n

    def add_all(self, source_ids: Iterable[int], numbers: Mapping[str, float]) -> None:
        """Add to the numbers of all sources of a resource; what has no source counts in the house only."""
        for source_id in source_ids:
            for name, n in numbers.items():
                self._numbers[source_id, name] += n

    def write(self, connection: Connection, database: Database) -> None:
        """Add everything to what is stored, always in the same order."""
        rows = [
            (source_id, name, database.slot, float(n)) for (source_id, name), n in sorted(self._numbers.items()) if n
        ]
        _ADD.run(connection, rows)


def day_of(moment: datetime) -> str:
    """Return a moment's day, in UTC."""
    return moment.astimezone(UTC).date().isoformat()


def counts_of(connection: Connection, source_ids: Iterable[int]) -> Mapping[int, dict[str, float]]:
    """Return the numbers of each source."""
    ids = list(source_ids)
    numbers: dict[int, dict[str, float]] = {source_id: {} for source_id in ids}
    query = select(tally.c.source_id, tally.c.what, func.sum(tally.c.n)).group_by(tally.c.source_id, tally.c.what)
    query = query.where(tally.c.source_id.in_(ids)) if len(ids) == 1 else query
    for source_id, name, n in connection.execute(query.order_by(tally.c.what)):
        if source_id in numbers:
            numbers[source_id][name] = n
    return numbers


def count_due(connection: Connection, until: datetime) -> int:
    """Return how many URLs are due until a moment; it takes a few milliseconds, however many there are."""
    waiting = int(counts_of(connection, [HOUSE])[HOUSE].get("state:waiting", 0))
    return waiting + int(connection.execute(_AGAIN, {"now": to_micros(until)}).scalar_one())


def count_visits(connection: Connection, day: datetime) -> int:
    """Return how many visits there were on a day."""
    return int(counts_of(connection, [DAYS])[DAYS].get(day_of(day), 0))


def those_under(kept: Mapping[str, float], prefix: str) -> dict[str, int]:
    """Return the numbers whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): int(n) for name, n in kept.items() if name.startswith(prefix) and n > 0}

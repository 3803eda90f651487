"""Totals: the state of the whole house, mostly from numbers that are kept as things happen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, func, select, text

from rehi.engines.sql.index.tally import DAYS, HOUSE, counts_of, day_of
from rehi.engines.sql.outbox.port import count_work
from rehi.engines.sql.statements.values import to_micros
from rehi.engines.sql.tables import host, problem, source
from rehi.model.listing import Totals

# What was never visited is due by its state; only what was needs the index by time.
_AGAIN = text("SELECT count(*) FROM resource WHERE state <> 'waiting' AND due_at <= :now")


def add_up(connection: Connection, now: datetime) -> Totals:
    """Return all totals; it takes a few milliseconds, however many documents there are."""
    kept = counts_of(connection, [HOUSE])[HOUSE]
    states = _under(kept, "state:")
    again = connection.execute(_AGAIN, {"now": to_micros(now)}).scalar_one()
    work = count_work(connection)

    def count_of(what: str) -> int:
        return int(kept.get(what, 0))

    return Totals(
        sources=connection.execute(select(func.count()).select_from(source)).scalar_one(),
        hosts=connection.execute(select(func.count()).select_from(host)).scalar_one(),
        resources=sum(states.values()),
        waiting=states.get("waiting", 0) + again,
        visits=count_of("visits"),
        versions=count_of("versions"),
        documents=count_of("documents"),
        entities=_under(kept, "kind:"),
        mentions=count_of("mentions"),
        bytes_seen=count_of("bytes"),
        problems=connection.execute(select(func.count()).select_from(problem)).scalar_one(),
        to_read=work.pop("read", 0),
        to_describe=sum(work.values()),
        outcomes=states,
        media_types=_under(kept, "type:"),
        languages=_under(kept, "language:"),
        recipes=_under(kept, "recipe:"),
    )


def count_due(connection: Connection, until: int) -> int:
    """Return how many URLs are due until a moment."""
    waiting = _under(counts_of(connection, [HOUSE])[HOUSE], "state:").get("waiting", 0)
    return waiting + int(connection.execute(_AGAIN, {"now": until}).scalar_one())


def count_visits(connection: Connection, day: datetime) -> int:
    """Return how many visits there were on a day."""
    return int(counts_of(connection, [DAYS])[DAYS].get(day_of(day), 0))


def count_resources(connection: Connection) -> int:
    """Return how many URLs are known."""
    return sum(_under(counts_of(connection, [HOUSE])[HOUSE], "state:").values())


def _under(kept: Mapping[str, float], prefix: str) -> dict[str, int]:
    return {what.removeprefix(prefix): int(n) for what, n in kept.items() if what.startswith(prefix) and n > 0}

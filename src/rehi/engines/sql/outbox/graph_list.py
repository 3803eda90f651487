"""The graph's list: resources and entities of which the graph must be told again."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from rehi.engines.sql.statements.upsert import Upsert
from rehi.engines.sql.tables import outbox

_ENTER = Upsert(outbox, ("topic", "subject"))


def list_for_graph(connection: Connection, *, resources: Iterable[int] = (), entities: Iterable[int] = ()) -> None:
    """Put things on the list. Always as new rows: a writer may be busy with the old ones, and does not know this yet."""
    rows = [{"topic": "resource", "subject": subject} for subject in sorted(resources)]
    rows += [{"topic": "entity", "subject": subject} for subject in sorted(entities)]
    _ENTER.run(connection, rows)

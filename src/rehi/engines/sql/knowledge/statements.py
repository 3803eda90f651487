"""Statements: how many the graph holds of each resource, counted for its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, select, update

from rehi.engines.sql.database import Database
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.statements.batches import execute_for_each, select_in_chunks
from rehi.engines.sql.tables import resource

_SET = update(resource).where(resource.c.id == bindparam("row")).values(statements=bindparam("n"))


def count_statements(connection: Connection, database: Database, statements: Mapping[int, int], seconds: float) -> None:
    """Add the difference to what was counted before, so that a source's number is that of what the graph holds.

    Each source bears its resources' share of the time; what was spent on entities alone is nobody's.
    """
    additions = Additions()
    query = select(resource.c.id, resource.c.source_id, resource.c.statements).order_by(resource.c.id)
    query = query.with_for_update(key_share=True)
    rows = select_in_chunks(connection, sorted(statements), lambda part: query.where(resource.c.id.in_(part)))
    changed = [row for row in rows if row.statements != statements[row.id]]
    for row in changed:
        additions.add(row.source_id, "statements", statements[row.id] - row.statements)
    for source_id, share in Counter(row.source_id for row in rows).items():
        additions.add(source_id, "seconds:graph", seconds * share / len(rows))
    execute_for_each(connection, _SET, [{"row": row.id, "n": statements[row.id]} for row in changed])
    additions.write(connection, database)

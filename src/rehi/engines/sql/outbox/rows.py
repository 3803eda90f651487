"""The outbox's rows: work that a transaction puts there, or takes out when it is done."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from rehi.engines.sql.statements.bulk import BulkDelete, Upsert
from rehi.engines.sql.tables import outbox

_INSERT = Upsert(outbox, ("kind", "subject", "owner"))
_DELETE = BulkDelete(outbox.c.id)


def put_work(connection: Connection, kind: str, subjects: Iterable[int]) -> None:
    """Put work there that every worker can do. Always as new rows: somebody may be busy with what was there before."""
    _INSERT.run_values(connection, [(kind, subject, "") for subject in sorted(subjects)])


def put_owned_work(connection: Connection, kind: str, owners: Iterable[tuple[int, str]]) -> None:
    """Put work there that is best done where its bytes lie: subjects with the workers in whose folders that is."""
    _INSERT.run_values(connection, [(kind, subject, owner) for subject, owner in owners])


def delete_work(connection: Connection, ids: Iterable[int]) -> None:
    """Take rows out: the work is done."""
    _DELETE.run(connection, sorted(ids))

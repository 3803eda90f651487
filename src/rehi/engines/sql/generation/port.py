"""The port Generation on SQL: two rows of ``meta``, so that older catalogues need no new table."""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Any

from sqlalchemy import Connection, delete, func, select

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.statements.driver import Upsert, newest, select_in_chunks
from rehi.engines.sql.statements.values import storable
from rehi.engines.sql.tables import meta, outbox, ownership, resource
from rehi.engines.sql.workers.port import GRAPH
from rehi.model.generation import GraphMark, GraphRecord

_MARK, _REWRITE = "graph", "graph rewrite"
_SET = Upsert(meta, ("name", "value"), unique=("name",), change=newest(("value",)))
_ROWS = select(meta.c.name, meta.c.value).where(meta.c.name.in_((_MARK, _REWRITE)))
_OWNER = select(ownership.c.worker).where(ownership.c.what == GRAPH)
_WRITTEN = select(meta.c.value).where(meta.c.name == _MARK).with_for_update()  # nobody begins another one meanwhile
_STATEMENTS = select(func.coalesce(func.sum(resource.c.statements), 0))
_LAST = select(func.coalesce(func.max(outbox.c.id), 0))


class SqlGeneration:
    """Implements the port Generation on SQL."""

    database: Database

    def graph_record(self, topics: Collection[str] = (), followers: Collection[str] = ()) -> GraphRecord:
        """Return what is known of the graph. What is left of a rewriting is counted for these topics."""
        with self.database.reading() as connection:
            rows: dict[str, str] = {row.name: row.value for row in connection.execute(_ROWS)}
            owner = connection.execute(_OWNER).scalar() or ""
            until, _, why = rows.get(_REWRITE, "").partition(" ")
            left = _count_left(connection, topics, followers, int(until)) if why else 0
            mark = _to_mark(rows[_MARK]) if _MARK in rows else None
            statements = 0 if mark else _number(connection, _STATEMENTS)
        return GraphRecord(mark=mark, rewriting=why, left=left, statements=statements, owner=owner)

    @transaction
    def begin_graph(self, connection: Connection, mark: GraphMark, *, rewrite: str = "", owner: str = "") -> bool:
        """Note which graph is written from now on, and up to where the outbox holds what it is told again."""
        connection.execute(_WRITTEN)
        if not _is_owner(connection, owner):
            return False
        note_mark(connection, mark)
        if rewrite:
            _SET.run(connection, [(_REWRITE, f"{_number(connection, _LAST)} {rewrite}")])
        return True

    def untold(self, kind: str, subjects: Collection[int] | None = None) -> Set[int]:
        """Return those of the subjects, or of all, of which the graph must still be told something."""
        query = select(outbox.c.subject).where(outbox.c.kind == kind)
        with self.database.reading() as connection:
            if subjects is None:
                return set(connection.execute(query.distinct()).scalars())
            rows = select_in_chunks(connection, subjects, lambda part: query.where(outbox.c.subject.in_(part)))
        return {row.subject for row in rows}

    @transaction
    def end_rewrite(self, connection: Connection, mark: GraphMark) -> bool:
        """Note that the graph is whole again; not if another generation is written by now."""
        current = is_written(connection, mark)
        if current:
            connection.execute(delete(meta).where(meta.c.name == _REWRITE))
        return current


def is_written(connection: Connection, mark: GraphMark, *, owner: str = "") -> bool:
    """Whether a mark is of the generation that is written now, and the graph is this owner's; it stays so in the transaction."""
    value = connection.execute(_WRITTEN).scalar()
    return value is not None and _to_mark(value).generation == mark.generation and _is_owner(connection, owner)


def note_mark(connection: Connection, mark: GraphMark) -> None:
    """Note the batch that was written to the graph."""
    _SET.run(connection, [(_MARK, f"{mark.generation} {mark.batch}")])


def _is_owner(connection: Connection, owner: str) -> bool:
    """Whether the graph is this worker's, or nobody's, or whoever asks does not care."""
    return not owner or connection.execute(_OWNER).scalar() in (None, storable(owner))


def _count_left(connection: Connection, topics: Collection[str], followers: Collection[str], until: int) -> int:
    """Return what is to be written: what was put there of topics at the beginning, and all that has followed it."""
    first = outbox.c.kind.in_(topics) & (outbox.c.id <= until)
    query = select(func.count()).select_from(outbox).where(first | outbox.c.kind.in_(followers))
    return _number(connection, query)


def _to_mark(value: str) -> GraphMark:
    generation, _, batch = value.partition(" ")
    return GraphMark(generation=generation, batch=int(batch))


def _number(connection: Connection, query: Any) -> int:
    return int(connection.execute(query).scalar_one())

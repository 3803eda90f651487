"""The port Generation on SQL: two rows of ``meta``, so that older catalogues need no new table."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import Any

from sqlalchemy import Connection, delete, func, select

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.outbox.port import put_all
from rehi.engines.sql.statements.driver import Upsert, newest, select_in_chunks
from rehi.engines.sql.tables import entity, meta, outbox, resource
from rehi.model.generation import GraphMark, GraphRecord

_MARK, _REWRITE = "graph", "graph rewrite"
_SET = Upsert(meta, ("name", "value"), unique=("name",), change=newest(("value",)))
_KINDS = ("resource", "entity")  # what the graph is told of by itself; other topics follow these
_ROWS = select(meta.c.name, meta.c.value).where(meta.c.name.in_((_MARK, _REWRITE)))
_LEFT = select(func.count()).select_from(outbox).where(outbox.c.kind.in_(_KINDS))
_STATEMENTS = select(func.coalesce(func.sum(resource.c.statements), 0))
_LAST = select(func.coalesce(func.max(outbox.c.id), 0))


class SqlGeneration:
    """The port Generation."""

    database: Database

    def graph_record(self) -> GraphRecord:
        """Return what is known of the graph."""
        with self.database.reading() as connection:
            rows: dict[str, str] = {row.name: row.value for row in connection.execute(_ROWS)}
            until, _, why = rows.get(_REWRITE, "").partition(" ")
            left = _number(connection, _LEFT.where(outbox.c.id <= int(until))) if why else 0
            if _MARK not in rows:
                return GraphRecord(mark=None, rewriting=why, left=left, statements=_number(connection, _STATEMENTS))
        return GraphRecord(mark=_to_mark(rows[_MARK]), rewriting=why, left=left)

    @transaction
    def begin_graph(self, connection: Connection, mark: GraphMark, *, rewrite: str = "") -> None:
        """Note which graph is written from now on, and put all that it must be told again into the outbox."""
        note_mark(connection, mark)
        if not rewrite:
            connection.execute(delete(meta).where(meta.c.name == _REWRITE))
        else:
            for kind in _KINDS:
                put_all(connection, kind)
            _SET.run(connection, [(_REWRITE, f"{_number(connection, _LAST)} {rewrite}")])

    def graph_subjects(self, kind: str, *, after: int, limit: int) -> Sequence[int]:
        """Return subjects of a kind that the graph is told of, in the order of their ids, after one of them."""
        ids = entity.c.id if kind == "entity" else resource.c.id
        query = select(ids).where(ids > after).order_by(ids).limit(limit)
        if kind != "entity":
            query = query.where(resource.c.versions > 0)
        return self.database.read(lambda connection: connection.execute(query).scalars().all())

    def untold(self, kind: str, subjects: Collection[int]) -> Set[int]:
        """Return those of the subjects of which the graph must still be told something."""
        query = select(outbox.c.subject).where(outbox.c.kind == kind)
        with self.database.reading() as connection:
            rows = select_in_chunks(connection, subjects, lambda part: query.where(outbox.c.subject.in_(part)))
        return {row.subject for row in rows}


def note_mark(connection: Connection, mark: GraphMark) -> None:
    """Note the batch that was written to the graph."""
    _SET.run(connection, [(_MARK, f"{mark.generation} {mark.batch}")])


def _to_mark(value: str) -> GraphMark:
    generation, _, batch = value.partition(" ")
    return GraphMark(generation=generation, batch=int(batch))


def _number(connection: Connection, query: Any) -> int:
    return int(connection.execute(query).scalar_one())

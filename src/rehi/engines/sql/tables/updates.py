"""The tables of updates: rounds of visits, and what each worker did for them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table, Text, text

from rehi.engines.sql.tables.columns import ID, integer, metadata, real

update_round = Table(
    "update_round",
    metadata,
    Column("id", ID, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("worker", Text, nullable=False),  # who began it
    integer("started_at"),
    Column("ended_at", BigInteger),
    integer("due"),
)
Index(
    "update_running",
    update_round.c.id,
    sqlite_where=text("state = 'running'"),
    postgresql_where=text("state = 'running'"),
)

# Each worker adds to rows of its own, so that on PostgreSQL none waits for another.
update_share = Table(
    "update_share",
    metadata,
    Column("update_id", ID, ForeignKey("update_round.id"), primary_key=True, autoincrement=False),
    Column("worker", Text, primary_key=True),
    Column("what", Text, primary_key=True),  # a count's name, or "seconds:" and a stage
    real("n"),
)

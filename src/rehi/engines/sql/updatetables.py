"""The tables of updates: rounds of visits, and what each worker did for them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table, Text, text

from rehi.engines.sql.columns import ID, measure, metadata, number

update_round = Table(
    "update_round",
    metadata,
    Column("id", ID, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("worker", Text, nullable=False),  # who began it
    number("started_at"),
    Column("ended_at", BigInteger),
    number("due"),
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
    measure("n"),
)

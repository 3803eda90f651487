"""The tables of work: the outbox, and problems."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    Text,
    text,
)

from rehi.engines.sql.tables.columns import ID, integer, metadata, string

problem = Table(
    "problem",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),  # stage and subject
    Column("stage", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("subject", Text, nullable=False),
    string("message"),
    string("next_step"),
    string("advice"),
    integer("count"),
    integer("first_at"),
    integer("last_at"),
)
Index("problem_last", problem.c.last_at, problem.c.id)
Index("problem_stage", problem.c.stage, problem.c.last_at, problem.c.id)
Index("problem_code", problem.c.stage, problem.c.code, problem.c.last_at, problem.c.id)

# Topic "read": subject is the resource. Topics "resource" and "entity": what the graph must be told.
outbox = Table(
    "outbox",
    metadata,
    Column("id", ID, primary_key=True),
    Column("topic", Text, nullable=False),
    Column("subject", ID, nullable=False),
    Column("version_id", ID, ForeignKey("version.id")),
    integer("attempts"),
    Column("worker", Text),
    integer("claimed_until"),
    string("owner"),  # of the file with the bytes that are to be read
    sqlite_autoincrement=True,  # an id that the graph's writer still holds must never come again
)
Index("outbox_topic", outbox.c.topic, outbox.c.id)
Index(
    "outbox_read",
    outbox.c.owner,
    outbox.c.id,
    sqlite_where=text("topic = 'read'"),
    postgresql_where=text("topic = 'read'"),
)
Index("outbox_subject", outbox.c.topic, outbox.c.subject)
Index(
    "outbox_worker",
    outbox.c.worker,
    sqlite_where=text("worker IS NOT NULL"),
    postgresql_where=text("worker IS NOT NULL"),
)

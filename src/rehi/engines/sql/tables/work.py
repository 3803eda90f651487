"""The tables of work: the outbox, those who do it, and what went wrong."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, LargeBinary, Table, Text, text

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

# Work by kind and subject: "read" a version, tell the graph of a "resource" or an "entity", and what later kinds there are.
outbox = Table(
    "outbox",
    metadata,
    Column("id", ID, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", ID, nullable=False),
    integer("attempts"),
    Column("worker", Text),  # who has claimed it
    integer("claimed_until"),
    string("owner"),  # of the file with the bytes that are worked on; empty where everybody can
    sqlite_autoincrement=True,  # an id that somebody still holds must never come again
)
Index("outbox_kind", outbox.c.kind, outbox.c.owner, outbox.c.id)
Index("outbox_subject", outbox.c.kind, outbox.c.subject)
Index(
    "outbox_worker",
    outbox.c.worker,
    sqlite_where=text("worker IS NOT NULL"),
    postgresql_where=text("worker IS NOT NULL"),
)

worker = Table(
    "worker",
    metadata,
    Column("name", Text, primary_key=True),
    string("machine"),
    integer("process"),
    string("version"),
    string("address"),
    string("archive"),
    string("graph"),
    integer("started_at"),
    integer("seen_at"),
    Column("ended_at", BigInteger),
)

# Who owns what can't be shared, as an embedded graph.
ownership = Table(
    "ownership",
    metadata,
    Column("what", Text, primary_key=True),
    Column("worker", Text, nullable=False),
    string("uri"),
    integer("since"),
)

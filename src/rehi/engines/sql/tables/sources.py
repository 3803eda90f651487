"""The tables of sources, and the numbers that are added up for each."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    text,
)

from rehi.engines.sql.tables.columns import ID, integer, metadata, real, string

meta = Table("meta", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

source = Table(
    "source",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),  # location and name
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("location", Text, nullable=False),
    integer("size"),
    integer("added_at"),
    Column("state", Text, nullable=False),
    Column("cursor", LargeBinary),  # opaque
    real("share"),
    string("worker"),  # on whose machine the file lies; empty for a URL
    Column("began_at", BigInteger),
    Column("awaits", ID),  # the resource that must be visited before it goes on
    integer("asked_at"),  # a visit that began then or later will do
    string("policy"),
    real("weight", "1"),
    string("keep"),  # which versions; empty for all
    string("follow"),  # which links; empty for none
)
Index(
    "source_awaits",
    source.c.awaits,
    sqlite_where=text("awaits IS NOT NULL"),
    postgresql_where=text("awaits IS NOT NULL"),
)

# What each source says of a resource. Both orders are kept: what a source has, and whose a resource is. Written for every
# URL of a log, whose new resources lie one after another in both.
finding = Table(
    "finding",
    metadata,
    Column("source_id", ID, primary_key=True, autoincrement=False),
    Column("resource_id", ID, primary_key=True, autoincrement=False),
    integer("first_at"),
    integer("last_at"),
    integer("depth"),  # links that lead from what the source named to here
    Column("origin_id", ID),  # the resource that links here, if that is how it was found
    string("claims"),  # JSON; empty for none
    sqlite_with_rowid=False,
)
Index("finding_resource", finding.c.resource_id, finding.c.source_id)

# Source 0 is the whole house. Writers add to rows of their own slot, so that on PostgreSQL they don't wait for each other.
tally = Table(
    "tally",
    metadata,
    Column("source_id", ID, primary_key=True, autoincrement=False),
    Column("what", Text, primary_key=True),
    Column("slot", SmallInteger, primary_key=True, autoincrement=False),
    Column("n", Float(53), nullable=False),
)

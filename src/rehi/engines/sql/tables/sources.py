"""The tables of sources, and the numbers that are added up for each."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
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
    integer("position"),
    string("policy"),
    real("weight", "1"),
    string("keep"),  # which versions; empty for all
)

# Source 0 is the whole house. Writers add to rows of their own slot, so that on PostgreSQL they don't wait for each other.
tally = Table(
    "tally",
    metadata,
    Column("source_id", ID, primary_key=True, autoincrement=False),
    Column("what", Text, primary_key=True),
    Column("slot", SmallInteger, primary_key=True, autoincrement=False),
    Column("n", Float(53), nullable=False),
)

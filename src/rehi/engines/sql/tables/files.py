"""The tables of what is kept: files, and blobs by their digests."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    Text,
    text,
)

from rehi.engines.sql.tables.columns import ID, integer, metadata, string

file = Table(
    "file",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    integer("known_end"),
    string("owner"),  # the worker in whose folder it lies; empty for those from before that was noted
)

blob = Table(
    "blob",
    metadata,
    Column("id", ID, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    integer("size"),
    Column("file_id", ID, ForeignKey("file.id"), nullable=False),
    integer("offset"),
    integer("length"),
    Column("dropped_at", BigInteger),  # since when the bytes are kept no more; where they lay may be gone
    string("dropped_by"),  # the rule
)
Index("blob_file", blob.c.file_id, blob.c.offset)
Index(
    "blob_dropped",
    blob.c.dropped_at,
    sqlite_where=text("dropped_at IS NOT NULL"),
    postgresql_where=text("dropped_at IS NOT NULL"),
)

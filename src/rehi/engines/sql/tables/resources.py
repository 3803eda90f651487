"""The tables of resources: URLs, the visits to them, their versions, and what is held by host and type.

URLs are unique by their own text. One million URLs on 6,000 hosts, SQLite, batches of 5,000, synchronous=FULL, rows/s in
one run: text 60,300 (executemany) or 59,900 (json_each); digest 39,300, or 43,100 with each batch sorted; digest and a text
index for lists in URL order 30,700. A log's URLs come in clumps, so that the text index is written in few places while a
digest's is written everywhere. And two URLs can't become one.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    func,
    literal_column,
    text,
)

from rehi.engines.sql.statements.values import HEAD
from rehi.engines.sql.tables.columns import BYTEWISE, ID, integer, metadata, real, string

resource = Table(
    "resource",
    metadata,
    Column("id", ID, primary_key=True),
    Column("url", BYTEWISE, nullable=False),
    Column("tail", BYTEWISE, nullable=False, server_default=""),
    # Not declared as foreign keys: they are always found or made in the same transaction and never deleted, and on
    # PostgreSQL the checks took half of the intake's time (14,000 rows/s with them, 28,500 without, in one run).
    Column("host_id", ID, nullable=False),
    Column("source_id", ID),  # the first that named it, for which its visits are counted; ``finding`` has all of them
    Column("state", Text, nullable=False, server_default="waiting"),
    Column("due_at", BigInteger),
    integer("status"),
    integer("failures"),
    integer("hops"),
    integer("versions"),
    integer("read_number"),  # the version of which a reading is on record: of those that were read, the newest
    integer("statements"),
    Column("blob_id", ID, ForeignKey("blob.id")),  # of the newest version
    Column("redirect_to", ID, ForeignKey("resource.id")),
    Column("visited_at", BigInteger),
    Column("changed_at", BigInteger),
    string("media_type"),
    string("etag"),
    string("last_modified"),
    Column("failing_since", BigInteger),
    Column("gone_at", BigInteger),
    integer("remarked"),  # 1: on the problems list, though its last visit did not fail
    Column("history", LargeBinary),
)
Index("resource_url", resource.c.url, unique=True).ddl_if(dialect="sqlite")
# One expression, so that the planner knows it to be unique; with two it read the whole table before the first ANALYZE.
_INDEXED = func.left(resource.c.url, literal_column(str(HEAD))).concat(resource.c.tail)
Index("resource_url_head", _INDEXED, unique=True).ddl_if(dialect="postgresql")
Index("resource_due", resource.c.host_id, resource.c.due_at)
# For the count of what is due again: what was never visited is due by its state.
Index(
    "resource_again",
    resource.c.due_at,
    sqlite_where=text("state <> 'waiting'"),
    postgresql_where=text("state <> 'waiting'"),
)
Index(
    "resource_redirect",
    resource.c.redirect_to,
    sqlite_where=text("redirect_to IS NOT NULL"),
    postgresql_where=text("redirect_to IS NOT NULL"),
)

visit = Table(
    "visit",
    metadata,
    Column("resource_id", ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("at", BigInteger, primary_key=True, autoincrement=False),
    Column("outcome", Text, nullable=False),
    integer("status"),
    real("seconds"),
    integer("size"),
    Column("file_id", ID, ForeignKey("file.id")),
    Column("offset", BigInteger),
    Column("length", BigInteger),
    sqlite_with_rowid=False,
)

version = Table(
    "version",
    metadata,
    Column("id", ID, primary_key=True),
    Column("resource_id", ID, ForeignKey("resource.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("taken_at", BigInteger, nullable=False),
    Column("blob_id", ID, ForeignKey("blob.id"), nullable=False),
    string("media_type"),
    integer("status"),
    Column("file_id", ID, ForeignKey("file.id"), nullable=False),
    integer("offset"),
    integer("length"),
)
Index("version_number", version.c.resource_id, version.c.number, unique=True)
Index("version_taken", version.c.resource_id, version.c.taken_at)
Index("version_blob", version.c.blob_id)

# What is kept, by host and type; the bytes came with one of the versions that have them.
holding = Table(
    "holding",
    metadata,
    Column("host_id", ID, primary_key=True, autoincrement=False),
    Column("media_type", Text, primary_key=True),
    integer("versions"),
    integer("bodies"),
    integer("logical"),
    integer("distinct_bytes"),
    integer("stored"),
    sqlite_with_rowid=False,
)

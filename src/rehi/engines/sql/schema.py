"""The schema: the tables of the catalogue, the same on every database.

Moments are microseconds since 1970. Text of any length is made unique by a 16-byte ``key`` beside it, because
PostgreSQL refuses long index entries. URLs are the exception: their own text is the unique index. One million URLs on
6,000 hosts, SQLite, batches of 5,000, synchronous=FULL, rows/s in one run: text 60,300 (executemany) or 59,900
(json_each); digest 39,300, or 43,100 with each batch sorted; digest and a text index for lists in URL order 30,700. A
log's URLs come in clumps, so that the text index is written in few places while a digest's is written everywhere. And two
URLs can't become one.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    func,
    literal_column,
    text,
)

from rehi.engines.sql.columns import BYTEWISE, ID, measure, metadata, number, words
from rehi.engines.sql.hosttables import host, orders, pace_group, probe, robots
from rehi.engines.sql.text import HEAD
from rehi.engines.sql.updatetables import update_round, update_share

__all__ = [
    "blob", "document", "entity", "file", "form", "holding", "host", "mention", "meta", "metadata", "orders", "outbox",
    "pace_group", "probe", "problem", "resource", "robots", "source", "tally", "update_round", "update_share",
    "version", "visit",
]  # fmt: skip

meta = Table("meta", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

source = Table(
    "source",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),  # location and name
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("location", Text, nullable=False),
    number("size"),
    number("added_at"),
    Column("state", Text, nullable=False),
    number("position"),
    words("policy"),
    measure("weight", "1"),
    words("keep"),  # which versions; empty for all
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

file = Table(
    "file",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    number("known_end"),
    words("owner"),  # the worker in whose folder it lies; empty for those from before that was noted
)

blob = Table(
    "blob",
    metadata,
    Column("id", ID, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    number("size"),
    Column("file_id", ID, ForeignKey("file.id"), nullable=False),
    number("offset"),
    number("length"),
    Column("dropped_at", BigInteger),  # since when the bytes are kept no more; where they lay may be gone
    words("dropped_by"),  # the rule
)
Index("blob_file", blob.c.file_id, blob.c.offset)
Index(
    "blob_dropped",
    blob.c.dropped_at,
    sqlite_where=text("dropped_at IS NOT NULL"),
    postgresql_where=text("dropped_at IS NOT NULL"),
)

resource = Table(
    "resource",
    metadata,
    Column("id", ID, primary_key=True),
    Column("url", BYTEWISE, nullable=False),
    Column("tail", BYTEWISE, nullable=False, server_default=""),
    # Not declared as foreign keys: they are always found or made in the same transaction and never deleted, and on
    # PostgreSQL the checks took half of the intake's time (14,000 rows/s with them, 28,500 without, in one run).
    Column("host_id", ID, nullable=False),
    Column("source_id", ID),
    Column("state", Text, nullable=False, server_default="waiting"),
    Column("due_at", BigInteger),
    number("status"),
    number("failures"),
    number("hops"),
    number("versions"),
    number("read_number"),  # the version of which a reading is on record: of those that were read, the newest
    number("statements"),
    Column("blob_id", ID, ForeignKey("blob.id")),  # of the newest version
    Column("redirect_to", ID, ForeignKey("resource.id")),
    Column("visited_at", BigInteger),
    Column("changed_at", BigInteger),
    words("media_type"),
    words("etag"),
    words("last_modified"),
    Column("failing_since", BigInteger),
    Column("gone_at", BigInteger),
    number("remarked"),  # 1: on the problems list, though its last visit did not fail
    measure("promised"),
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
    number("status"),
    measure("seconds"),
    number("size"),
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
    words("media_type"),
    number("status"),
    Column("file_id", ID, ForeignKey("file.id"), nullable=False),
    number("offset"),
    number("length"),
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
    number("versions"),
    number("bodies"),
    number("logical"),
    number("distinct_bytes"),
    number("stored"),
    sqlite_with_rowid=False,
)

document = Table(
    "document",
    metadata,
    Column("resource_id", ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("version_id", ID, ForeignKey("version.id"), nullable=False),
    words("media_type"),
    words("title"),
    words("searched"),  # the title in lower case
    words("language"),
    number("characters"),
    number("names"),
    Column("file_id", ID, ForeignKey("file.id")),
    Column("offset", BigInteger),
    Column("length", BigInteger),
)

entity = Table(
    "entity",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("slug", Text, nullable=False),
    words("name"),
    words("given"),
    words("family"),
    number("documents"),
)
Index("entity_documents", entity.c.documents)

# A name or a lemma under which documents mention an entity, and how many do.
form = Table(
    "form",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("entity_id", ID, ForeignKey("entity.id"), nullable=False),
    Column("what", Text, nullable=False),  # "name" or "lemma"
    Column("text", Text, nullable=False),
    words("given"),
    words("family"),
    Column("folded", BYTEWISE, nullable=False),
    number("documents"),
)
Index("form_entity", form.c.entity_id)
Index("form_folded", form.c.folded)

mention = Table(
    "mention",
    metadata,
    Column("resource_id", ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("entity_id", ID, ForeignKey("entity.id"), primary_key=True, autoincrement=False),
    number("count"),
    Column("forms", Text, nullable=False),  # the ids of its forms, in order, with blanks between
    sqlite_with_rowid=False,
)
Index("mention_entity", mention.c.entity_id, mention.c.resource_id)

problem = Table(
    "problem",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),  # stage and subject
    Column("stage", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("subject", Text, nullable=False),
    words("message"),
    words("next_step"),
    words("advice"),
    number("count"),
    number("first_at"),
    number("last_at"),
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
    number("attempts"),
    Column("worker", Text),
    number("claimed_until"),
    words("owner"),  # of the file with the bytes that are to be read
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

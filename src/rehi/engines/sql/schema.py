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
    MetaData,
    SmallInteger,
    Table,
    Text,
    func,
    literal_column,
    text,
)
from sqlalchemy.dialects import postgresql

from rehi.engines.sql.text import HEAD

metadata = MetaData()

_ID = BigInteger().with_variant(Integer, "sqlite")
# Byte order is the order of URLs, and what prefix searches by range need.
_BYTEWISE = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def _words(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default="0")


meta = Table("meta", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

source = Table(
    "source",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),  # location and name
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("location", Text, nullable=False),
    _number("size"),
    _number("added_at"),
    Column("state", Text, nullable=False),
    _number("position"),
)

# Source 0 is the whole house. Writers add to rows of their own slot, so that on PostgreSQL they don't wait for each other.
tally = Table(
    "tally",
    metadata,
    Column("source_id", _ID, primary_key=True, autoincrement=False),
    Column("what", Text, primary_key=True),
    Column("slot", SmallInteger, primary_key=True, autoincrement=False),
    Column("n", Float(53), nullable=False),
)

host = Table(
    "host",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("origin", Text, nullable=False),
    Column("name", Text, nullable=False),  # the origin without its scheme
    Column("ready_at", BigInteger),  # NULL: nothing is due, ever
    _number("not_before"),  # politeness, whatever is due
    Column("token", Text),
    Column("worker", Text),
    _number("lease_until"),  # 0: not leased
    _number("leases"),
    Column("delay", Float(53), nullable=False, server_default="0"),
    _number("failures"),
)
Index("host_ready", host.c.ready_at)
Index(
    "host_leased",
    host.c.lease_until,
    sqlite_where=text("lease_until > 0"),
    postgresql_where=text("lease_until > 0"),
)

# Apart from the host, whose row is rewritten at each lease.
robots = Table(
    "robots",
    metadata,
    Column("host_id", _ID, ForeignKey("host.id"), primary_key=True, autoincrement=False),
    Column("status", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("fetched_at", BigInteger, nullable=False),
)

file = Table(
    "file",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    _number("known_end"),
)

blob = Table(
    "blob",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    _number("size"),
    Column("file_id", _ID, ForeignKey("file.id"), nullable=False),
    _number("offset"),
    _number("length"),
)

resource = Table(
    "resource",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("url", _BYTEWISE, nullable=False),
    Column("tail", _BYTEWISE, nullable=False, server_default=""),
    # Not declared as foreign keys: they are always found or made in the same transaction and never deleted, and on
    # PostgreSQL the checks took half of the intake's time (14,000 rows/s with them, 28,500 without, in one run).
    Column("host_id", _ID, nullable=False),
    Column("source_id", _ID),
    Column("state", Text, nullable=False, server_default="waiting"),
    Column("due_at", BigInteger),
    _number("status"),
    _number("failures"),
    _number("hops"),
    _number("versions"),
    _number("read_number"),  # the newest version of which a reading is on record
    _number("statements"),
    Column("blob_id", _ID, ForeignKey("blob.id")),  # of the newest version
    Column("redirect_to", _ID, ForeignKey("resource.id")),
    Column("visited_at", BigInteger),
    Column("changed_at", BigInteger),
    _words("media_type"),
    _words("etag"),
    _words("last_modified"),
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
    Column("resource_id", _ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("at", BigInteger, primary_key=True, autoincrement=False),
    Column("outcome", Text, nullable=False),
    _number("status"),
    Column("seconds", Float(53), nullable=False, server_default="0"),
    _number("size"),
    Column("file_id", _ID, ForeignKey("file.id")),
    Column("offset", BigInteger),
    Column("length", BigInteger),
    sqlite_with_rowid=False,
)

version = Table(
    "version",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("resource_id", _ID, ForeignKey("resource.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("taken_at", BigInteger, nullable=False),
    Column("blob_id", _ID, ForeignKey("blob.id"), nullable=False),
    _words("media_type"),
    _number("status"),
    Column("file_id", _ID, ForeignKey("file.id"), nullable=False),
    _number("offset"),
    _number("length"),
)
Index("version_number", version.c.resource_id, version.c.number, unique=True)

document = Table(
    "document",
    metadata,
    Column("resource_id", _ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("version_id", _ID, ForeignKey("version.id"), nullable=False),
    _words("media_type"),
    _words("title"),
    _words("searched"),  # the title in lower case
    _words("language"),
    _number("characters"),
    _number("names"),
    Column("file_id", _ID, ForeignKey("file.id")),
    Column("offset", BigInteger),
    Column("length", BigInteger),
)

entity = Table(
    "entity",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("slug", Text, nullable=False),
    _words("name"),
    _words("given"),
    _words("family"),
    _number("documents"),
)
Index("entity_documents", entity.c.documents)

# A name or a lemma under which documents mention an entity, and how many do.
form = Table(
    "form",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("entity_id", _ID, ForeignKey("entity.id"), nullable=False),
    Column("what", Text, nullable=False),  # "name" or "lemma"
    Column("text", Text, nullable=False),
    _words("given"),
    _words("family"),
    Column("folded", _BYTEWISE, nullable=False),
    _number("documents"),
)
Index("form_entity", form.c.entity_id)
Index("form_folded", form.c.folded)

mention = Table(
    "mention",
    metadata,
    Column("resource_id", _ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("entity_id", _ID, ForeignKey("entity.id"), primary_key=True, autoincrement=False),
    _number("count"),
    Column("forms", Text, nullable=False),  # the ids of its forms, in order, with blanks between
    sqlite_with_rowid=False,
)
Index("mention_entity", mention.c.entity_id, mention.c.resource_id)

problem = Table(
    "problem",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),  # stage and subject
    Column("stage", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("subject", Text, nullable=False),
    _words("message"),
    _words("next_step"),
    _words("advice"),
    _number("count"),
    _number("first_at"),
    _number("last_at"),
)
Index("problem_last", problem.c.last_at, problem.c.id)
Index("problem_stage", problem.c.stage, problem.c.last_at, problem.c.id)

# Topic "read": subject is the resource. Topics "resource" and "entity": what the graph must be told.
outbox = Table(
    "outbox",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("topic", Text, nullable=False),
    Column("subject", _ID, nullable=False),
    Column("version_id", _ID, ForeignKey("version.id")),
    _number("attempts"),
    Column("worker", Text),
    _number("claimed_until"),
    sqlite_autoincrement=True,  # an id that the graph's writer still holds must never come again
)
Index("outbox_topic", outbox.c.topic, outbox.c.id)
Index("outbox_subject", outbox.c.topic, outbox.c.subject)
Index(
    "outbox_worker",
    outbox.c.worker,
    sqlite_where=text("worker IS NOT NULL"),
    postgresql_where=text("worker IS NOT NULL"),
)

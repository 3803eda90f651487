"""The tables of what was read and understood: documents, entities, the forms of their names, and mentions."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    Text,
)

from rehi.engines.sql.tables.columns import BYTEWISE, ID, integer, metadata, string

document = Table(
    "document",
    metadata,
    Column("resource_id", ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("version_id", ID, ForeignKey("version.id"), nullable=False),
    string("media_type"),
    string("title"),
    string("searched"),  # the title in lower case
    string("language"),
    integer("characters"),
    integer("names"),
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
    string("name"),
    string("given"),
    string("family"),
    integer("documents"),
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
    string("given"),
    string("family"),
    Column("folded", BYTEWISE, nullable=False),
    integer("documents"),
)
Index("form_entity", form.c.entity_id)
Index("form_folded", form.c.folded)

mention = Table(
    "mention",
    metadata,
    Column("resource_id", ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("entity_id", ID, ForeignKey("entity.id"), primary_key=True, autoincrement=False),
    integer("count"),
    Column("forms", Text, nullable=False),  # the ids of its forms, in order, with blanks between
    sqlite_with_rowid=False,
)
Index("mention_entity", mention.c.entity_id, mention.c.resource_id)

"""The tables of what was read and understood: readings, facets, entities, the forms of their names, and mentions."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, Table, Text, text

from rehi.engines.sql.tables.columns import BYTEWISE, ID, integer, metadata, real, string

# What was read from some bytes by some recipe. The hint is what was used of the URL and of the declared type.
reading = Table(
    "reading",
    metadata,
    Column("id", ID, primary_key=True),
    Column("blob_id", ID, ForeignKey("blob.id"), nullable=False),
    string("recipe"),
    string("hint"),
    string("media_type"),
    string("title"),
    string("searched"),  # the title in lower case
    string("language"),
    integer("characters"),
    integer("names"),
    integer("read_at"),
    Column("file_id", ID, ForeignKey("file.id")),
    Column("offset", BigInteger),
    Column("length", BigInteger),
)
Index("reading_key", reading.c.blob_id, reading.c.recipe, reading.c.hint, unique=True)

part = Table(
    "part",
    metadata,
    Column("reading_id", ID, ForeignKey("reading.id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    string("title"),
    string("media_type"),
    integer("start_at"),
    integer("end_at"),
    sqlite_with_rowid=False,
)

# A table in a document, so that tables can be listed without opening the derived files.
table_shape = Table(
    "table_shape",
    metadata,
    Column("reading_id", ID, ForeignKey("reading.id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    integer("column_count"),
    integer("row_count"),
    Column("data", LargeBinary, nullable=False),  # all of it, as JSON
    sqlite_with_rowid=False,
)

# What the catalogue keeps of a facet's value.
facet = Table(
    "facet",
    metadata,
    Column("reading_id", ID, ForeignKey("reading.id"), primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    integer("version"),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# By what documents can be found, besides their text.
term = Table(
    "term",
    metadata,
    Column("reading_id", ID, ForeignKey("reading.id"), primary_key=True, autoincrement=False),
    Column("field", Text, primary_key=True),
    Column("folded", BYTEWISE, primary_key=True),
    string("value"),
    sqlite_with_rowid=False,
)
Index("term_value", term.c.field, term.c.folded, term.c.reading_id)

# The reading that a resource shows: that of the newest of its versions that were read.
document = Table(
    "document",
    metadata,
    Column("resource_id", ID, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    Column("version_id", ID, ForeignKey("version.id"), nullable=False),
    Column("reading_id", ID, ForeignKey("reading.id"), nullable=False),
)
Index("document_reading", document.c.reading_id)

# Whoever merges an entity into another moves its mentions and forms there; its own row then stands for its key alone.
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
    Column("merged_into", ID, ForeignKey("entity.id")),
    integer("sense", "1"),  # which one of its kind and name it is
)
Index("entity_documents", entity.c.documents)
# The first of a name is found by its key, and the others, which are few, by this.
Index(
    "entity_sense",
    entity.c.slug,
    entity.c.kind,
    sqlite_where=text("sense > 1"),
    postgresql_where=text("sense > 1"),
)

# What authorities call an entity.
identifier = Table(
    "identifier",
    metadata,
    Column("entity_id", ID, ForeignKey("entity.id"), primary_key=True, autoincrement=False),
    Column("key", LargeBinary, primary_key=True),  # of the IRI, which may be long
    Column("iri", Text, nullable=False),
    real("score", "1"),
    sqlite_with_rowid=False,
)
Index("identifier_key", identifier.c.key)

# A name or a lemma under which documents mention an entity, and how many do now.
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
    Column("reading_id", ID, ForeignKey("reading.id"), primary_key=True, autoincrement=False),
    Column("entity_id", ID, ForeignKey("entity.id"), primary_key=True, autoincrement=False),
    integer("count"),
    Column("forms", Text, nullable=False),  # the ids of its forms, in order, with blanks between
    sqlite_with_rowid=False,
)
Index("mention_entity", mention.c.entity_id, mention.c.reading_id)

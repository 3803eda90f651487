"""Documents: the resources that are known, narrowed down, and one of them with its names, versions and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.builtin import table
from rehi.errors import SettingsError
from rehi.model.claims import SourceClaims
from rehi.model.document import Part, Reading, TableShape, Term
from rehi.model.entity import EntityKey, parse_key
from rehi.model.listing import DocumentFilter, DocumentRow, NameOnPage, Page
from rehi.model.version import Version
from rehi.operations.parameters import (
    ROWS,
    Id,
    Limit,
    LongText,
    MediaTypeFilter,
    Offset,
    SourceId,
    Text,
    readable_by,
)
from rehi.operations.readings import with_plain_facets

DocumentId = Annotated[Id, Field(description="The number of a document.")]


def parse_term(text: str) -> Term:
    """Read a term from text like ``topic:weather``; SettingsError if it is none."""
    name, mark, value = text.partition(":")
    if not mark or not name or not value:
        raise SettingsError(f"{text[:60]!r} is no term; give a field and a value, as in topic:weather")
    return Term(field=name, value=value)


def parse_entity(text: str) -> EntityKey:
    """Read an entity's key from text like ``person/katrin-paio``; SettingsError if it is none."""
    kind, _, path = text.partition("/")
    if kind not in (kinds := table("entity_kind")) or not path:
        raise SettingsError(
            f"{text[:60]!r} is no entity; give a kind ({', '.join(kinds)}) and a name, as in person/a-b"
        )
    return parse_key(kind, path)


EntityPath = Annotated[Text, Field(description="An entity, as in person/katrin-paio."), readable_by(parse_entity)]
Terms = Annotated[
    tuple[Annotated[Text, readable_by(parse_term)], ...],
    Field(max_length=10, description="Fields and values that facets have put into the index, as in topic:weather."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentList:
    """A page of documents, and how many match in all."""

    total: int
    documents: Sequence[DocumentRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDetails:
    """A document with its names, versions, parts and tables, and what its sources say of it."""

    document: DocumentRow
    names: Sequence[NameOnPage]
    versions: Sequence[Version]
    sources: Sequence[SourceClaims]
    parts: Sequence[Part]
    tables: Sequence[TableShape]


def list_documents(
    house: House,
    *,
    q: Annotated[LongText, Field(description="A part of the title or the URL.")] = "",
    host: Annotated[Text, Field(description="A part of the host's name.")] = "",
    media_type: Annotated[MediaTypeFilter, Field(description="A media type, as in text/html.")] = "",
    language: Annotated[Text, Field(description="A language, as in et.")] = "",
    source: SourceId | None = None,
    entity: EntityPath = "",
    term: Terms = (),
    limit: Limit = ROWS,
    offset: Offset = 0,
) -> DocumentList:
    """List the documents that match all that is given, in the order of their URLs."""
    where = DocumentFilter(
        host=host,
        media_type=media_type,
        language=language,
        text=q,
        source_id=source,
        entity=parse_entity(entity) if entity else None,
        terms=tuple(map(parse_term, term)),
    )
    rows, total = house.catalogue.documents(where, Page(limit=limit, offset=offset))
    return DocumentList(total=total, documents=rows)


def get_document(house: House, *, document_id: DocumentId) -> DocumentDetails:
    """Return a document with the entities that it mentions, its versions, parts and tables, and what its sources say."""
    row = house.catalogue.document(document_id)
    outline = house.catalogue.outline(document_id)
    return DocumentDetails(
        document=row,
        names=outline.names,
        versions=house.catalogue.versions(row.url) if row.versions else (),
        sources=house.catalogue.claims_on([document_id]).get(document_id, ()),
        parts=outline.parts,
        tables=outline.tables,
    )


def get_annotations(house: House, *, document_id: DocumentId) -> Reading:
    """Return the text of a document with its parts and tables, and all that is understood of it, by facet.

    It is not found before it was read.
    """
    return with_plain_facets(house.reading(document_id))

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
from rehi.model.document import Reading
from rehi.model.entity import EntityKey
from rehi.model.listing import DocumentFilter, DocumentRow, NameOnPage, Page
from rehi.model.version import Version
from rehi.operations.parameters import (
    LONGEST_TEXT,
    LONGEST_URL,
    ROWS,
    HostName,
    Id,
    Limit,
    MediaType,
    Offset,
    SourceId,
    Text,
)

DocumentId = Annotated[Id, Field(description="The number of a document.")]
EntityPath = Annotated[str, Field(max_length=LONGEST_TEXT, description="An entity, as in person/katrin-paio.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentList:
    """A page of documents, and how many match in all."""

    total: int
    documents: Sequence[DocumentRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDetails:
    """A document with its names and versions, and what its sources say of it."""

    document: DocumentRow
    names: Sequence[NameOnPage]
    versions: Sequence[Version]
    sources: Sequence[SourceClaims]


def list_documents(
    house: House,
    *,
    q: Annotated[str, Field(max_length=LONGEST_URL, description="A part of the title or the URL.")] = "",
    host: Annotated[HostName, Field(description="A part of the host's name.")] = "",
    media_type: Annotated[MediaType, Field(description="A media type, as in text/html.")] = "",
    language: Annotated[Text, Field(description="A language, as in et.")] = "",
    source: SourceId | None = None,
    entity: EntityPath = "",
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
    )
    rows, total = house.catalogue.documents(where, Page(limit=limit, offset=offset))
    return DocumentList(total=total, documents=rows)


def get_document(house: House, *, document_id: DocumentId) -> DocumentDetails:
    """Return a document with the entities that it mentions, its versions, and what its sources say of it."""
    row = house.catalogue.document(document_id)
    return DocumentDetails(
        document=row,
        names=house.catalogue.names_on(document_id),
        versions=house.catalogue.versions(row.url) if row.versions else (),
        sources=house.catalogue.claims_on(document_id),
    )


def get_annotations(house: House, *, document_id: DocumentId) -> Reading:
    """Return the text of a document, and the names in it with their places; not found before it was read."""
    return house.reading(document_id)


def parse_entity(text: str) -> EntityKey:
    """Read an entity's key from text like ``person/katrin-paio``; SettingsError if it is none."""
    kind, _, slug = text.partition("/")
    if kind not in (kinds := table("entity_kind")) or not slug:
        raise SettingsError(
            f"{text[:60]!r} is no entity; give a kind ({', '.join(kinds)}) and a name, as in person/a-b"
        )
    return EntityKey(kind, slug)

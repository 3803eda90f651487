"""Entities: people, organisations and places, found by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.model.document import NameKind
from rehi.model.entity import Entity, EntityKey
from rehi.model.listing import EntityRow, Page
from rehi.operations.parameters import LONGEST_TEXT, MAX_ROWS, ROWS, Limit, Offset, Text

EntityKind = Annotated[NameKind, Field(description="What a name stands for.")]


def find_entities(
    house: House,
    *,
    name: Annotated[Text, Field(description="The beginning of a name or of its basic form, in any case.")] = "",
    kind: EntityKind | None = None,
    limit: Limit = ROWS,
    offset: Offset = 0,
) -> Sequence[EntityRow]:
    """Find entities of which a name begins so, the most mentioned first."""
    if kind is None:
        return house.catalogue.find_entities(name, Page(limit=limit, offset=offset))
    return list(islice(_of_kind(house, name, kind), offset, offset + limit))


def get_entity(
    house: House,
    *,
    kind: EntityKind,
    slug: Annotated[str, Field(max_length=LONGEST_TEXT, description="The name as identifiers have it.")],
) -> Entity:
    """Return what all documents together say of one entity."""
    return house.catalogue.entity(EntityKey(kind, slug))


def _of_kind(house: House, name: str, kind: NameKind) -> Iterator[EntityRow]:
    """Go through the entities of one kind; the catalogue is asked for all, page by page."""
    offset = 0
    while rows := house.catalogue.find_entities(name, Page(limit=MAX_ROWS, offset=offset)):
        yield from (row for row in rows if row.key.kind is kind)
        if len(rows) < MAX_ROWS:
            return
        offset += MAX_ROWS

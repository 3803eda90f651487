"""Entities: people, organisations and places, found by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rehi.app import House
from rehi.builtin import table
from rehi.errors import NotFound
from rehi.model.entity import Entity, EntityKey
from rehi.model.listing import EntityRow, Page
from rehi.operations.parameters import ROWS, Limit, Offset, Text


def check_kind(kind: str) -> str:
    """Return the name of a kind of entities; an error as of an enumeration names those there are."""
    *others, last = map(repr, known := table("entity_kind"))
    if kind not in known:
        expected = f"{', '.join(others)} or {last}" if others else last
        raise PydanticCustomError("enum", "it is one of {expected}", {"expected": expected})
    return kind


KindName = Annotated[
    str,
    Field(description="What a name stands for.", json_schema_extra={"enum": list(table("entity_kind"))}),
    AfterValidator(check_kind),
]


def find_entities(
    house: House,
    *,
    name: Annotated[Text, Field(description="The beginning of a name or of its basic form, in any case.")] = "",
    kind: KindName | None = None,
    limit: Limit = ROWS,
    offset: Offset = 0,
) -> Sequence[EntityRow]:
    """Find entities of which a name begins so, the most mentioned first."""
    return house.catalogue.find_entities(name, Page(limit=limit, offset=offset), kind=kind or "")


def get_entity(
    house: House,
    *,
    kind: KindName,
    slug: Annotated[Text, Field(description="The name as identifiers have it.")],
) -> Entity:
    """Return what all documents together say of one entity, or of the one that it was merged into."""
    key = EntityKey(kind, slug)
    known = house.catalogue.find_candidates([key]).get(key, ())
    for entity in house.catalogue.describe_entities([candidate.id for candidate in known]):
        if entity.documents:
            return entity
    raise NotFound(f"no document mentions {key}")

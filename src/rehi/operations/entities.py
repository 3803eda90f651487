"""Entities: people, organisations and places, found by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rehi.app import House
from rehi.builtin import table
from rehi.errors import NotFound
from rehi.model.entity import Entity, EntityKey, parse_key
from rehi.model.listing import EntityRow, Page
from rehi.operations.documents import DocumentId, EntityPath, parse_entity
from rehi.operations.parameters import ROWS, Limit, Offset, Text
from rehi.pipeline.read_rules import READ_RULES


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


def merge_entities(
    house: House,
    *,
    entity: Annotated[EntityPath, Field(description="The one that is no other than the second.")],
    into: Annotated[EntityPath, Field(description="The one that stays.")],
) -> Entity:
    """Let two entities be one: whatever names the first one names the second from now on."""
    old, goal = _find(house, parse_entity(entity)), _find(house, parse_entity(into))
    house.catalogue.relink(old.id, goal.key, rules=READ_RULES)
    return _find(house, goal.key)


def split_entity(
    house: House,
    *,
    entity: Annotated[EntityPath, Field(description="The one that stands for two.")],
    documents: Annotated[
        tuple[DocumentId, ...], Field(min_length=1, description="Those that are about the other one.")
    ],
) -> Entity:
    """Let some documents, and whatever becomes of them, mention another entity of the same name, which is made."""
    old = _find(house, parse_entity(entity))
    senses = [candidate.sense for candidate in house.catalogue.find_candidates([old.key])[old.key]]
    readings = [house.catalogue.shown_reading(one).facts.id for one in documents]
    other = EntityKey(old.key.kind, old.key.slug, max(senses) + 1)
    house.catalogue.relink(old.id, other, readings=readings, rules=READ_RULES)
    return _find(house, other)


def get_entity(
    house: House,
    *,
    kind: KindName,
    slug: Annotated[
        Text, Field(description="The name as identifiers have it, and /2 for the second one of that name.")
    ],
) -> Entity:
    """Return what all documents together say of one entity, or of the one that it was merged into."""
    entity = _find(house, parse_key(kind, slug))
    if not entity.documents:
        raise NotFound(f"no document mentions {entity.key}")
    return entity


def _find(house: House, key: EntityKey) -> Entity:
    """Return the entity of a key, or the one that it was merged into; NotFound if there is none."""
    known = house.catalogue.find_candidates([key]).get(key, ())
    goals = [candidate.id for candidate in known if candidate.sense == key.sense]
    for entity in house.catalogue.describe_entities(goals):
        return entity
    raise NotFound(f"no document mentions {key}")

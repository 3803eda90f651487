"""Knowledge for descriptions: resources and entities that are given, as the catalogue would give them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rehi.graph.description import ENTITIES, RESOURCES
from rehi.model.entity import Entity
from rehi.model.work import ResourceDescription
from rehi.ports import Catalogue, GraphChange, GraphContext

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class GivenKnowledge:
    """The two questions of the port Knowledge that descriptions ask."""

    resources: Mapping[int, ResourceDescription]
    entities: Mapping[int, Entity]

    def describe_resources(self, ids: Iterable[int]) -> Sequence[ResourceDescription]:
        return [self.resources[row] for row in ids]

    def describe_entities(self, ids: Iterable[int]) -> Sequence[Entity]:
        return [self.entities[row] for row in ids]


def describe(
    base: str, *, resources: Sequence[ResourceDescription] = (), entities: Sequence[Entity] = ()
) -> list[GraphChange]:
    """Return the changes that describe all of these."""
    by_id = {resource.resource_id: resource for resource in resources}
    given = cast("Catalogue", GivenKnowledge(by_id, {entity.id: entity for entity in entities}))
    context = GraphContext(catalogue=given, base=base, note=lambda subject, error: None)
    changes = RESOURCES.describe(list(by_id), context)
    described = ENTITIES.describe([entity.id for entity in entities], context)
    return [change for many in (*changes.values(), *described.values()) for change in many]

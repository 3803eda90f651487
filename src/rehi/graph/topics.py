"""The topics that rehi brings: what the graph says of resources and of entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rehi.graph.description import describe_entities, describe_resources
from rehi.ports import GraphChange, GraphContext


class ResourceTopic:
    """Documents: their metadata, versions, mentions and what facets state, each in a graph of its own."""

    follows = ""

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Return the changes of resources' graphs."""
        return describe_resources(context.catalogue, subjects, context.base, context.note)


class EntityTopic:
    """Entities: their kinds, names and forms, all in one graph."""

    follows = ""

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Return the changes of entities' descriptions."""
        return describe_entities(context.catalogue, subjects, context.base)


RESOURCES = ResourceTopic()
ENTITIES = EntityTopic()

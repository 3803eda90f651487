"""The topic of climate: a graph for each report that was cold, beside the document's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson
from pyoxigraph import Literal, NamedNode, Triple

from rehi.model.work import ResourceDescription
from rehi.ports import GraphChange, GraphContext, ReplaceGraph

from .facet import VOCABULARY


class ClimateTopic:
    """Is told of whatever a document's own graph is told of."""

    follows = "resource"

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Say which season a report tells of; of what is no report any more, nothing."""
        return {
            resource.resource_id: [ReplaceGraph(_graph(context.base, resource.resource_id), tuple(_say(resource)))]
            for resource in context.catalogue.describe_resources(subjects)
        }


def _say(resource: ResourceDescription) -> list[Triple]:
    degrees = [orjson.loads(brief.data)["degrees"] for brief in resource.briefs if brief.name == "weather"]
    page = NamedNode(resource.url)
    return [Triple(page, NamedNode(f"{VOCABULARY}season"), Literal("winter")) for cold in degrees if cold < 0]


def _graph(base: str, resource_id: int) -> NamedNode:
    return NamedNode(f"{base}/graph/climate/{resource_id}")


TOPIC = ClimateTopic()
